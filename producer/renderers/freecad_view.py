"""Draws a document inside FreeCAD, by its own 3D view, started by freecad.cjs. PREVIEW_ASK is JSON: source, out, tmp,
views, width, height. Pictures go to tmp, larger than asked and without a ground; facts to out."""

import json
import os
import sys
import zipfile

import FreeCAD as App
import FreeCADGui as Gui

ask = json.loads(os.environ["PREVIEW_ASK"])
VIEWS = {
    "iso": "viewIsometric",
    "front": "viewFront",
    "right": "viewRight",
    "back": "viewRear",
    "left": "viewLeft",
    "top": "viewTop",
    "bottom": "viewBottom",
}


def end(code, text=""):
    sys.stdout.flush()
    # FreeCAD takes sys.stderr for its report view.
    os.write(2, f"{text}\n".encode() if text else b"")
    # FreeCAD's own way out asks about unsaved documents and closes windows one by one.
    os._exit(code)


def opened(path):
    if path.lower().endswith(".fcstd"):
        return App.openDocument(path)
    document = App.newDocument("Preview")
    if path.lower().endswith((".brep", ".brp")):
        import Part

        Part.insert(path, document.Name)
    else:
        import ImportGui

        ImportGui.insert(path, document.Name)
    return document


def choose_visible(document):
    """Shows what nothing else is made of. A document written without FreeCAD's window has everything hidden."""
    for item in document.Objects:
        inside = item.getParentGeoFeatureGroup()
        if item.ViewObject is None or item.TypeId in {"App::Origin", "App::Plane", "App::Line"}:
            continue
        if inside and inside.TypeId == "PartDesign::Body":
            item.ViewObject.Visibility = inside.Tip == item
        else:
            item.ViewObject.Visibility = not any(hasattr(user, "Shape") for user in item.InList)


def has_no_looks(path):
    return zipfile.is_zipfile(path) and "GuiDocument.xml" not in zipfile.ZipFile(path).namelist()


def is_shown(item):
    """Visible, with all that it lies in; what a body is made of is not shown beside it."""
    while item:
        if item.ViewObject is None or not item.ViewObject.Visibility:
            return False
        parent = item.getParentGeoFeatureGroup() or item.getParentGroup()
        if parent and parent.TypeId == "PartDesign::Body":
            item = parent
            if parent.Tip is None:
                return False
            continue
        item = parent
    return True


def shapes(document):
    import Part

    found = []
    for item in document.Objects:
        inside = item.getParentGeoFeatureGroup()
        if inside and inside.TypeId == "PartDesign::Body":
            continue
        if not is_shown(item) or item.TypeId in {"App::Part", "App::DocumentObjectGroup"}:
            continue
        shape = Part.getShape(item)
        if shape.isNull() or not shape.Faces:
            continue
        # A shape knows its own place, not that of the part which it lies in.
        if inside and hasattr(item, "getGlobalPlacement"):
            shape = shape.copy()
            shape.Placement = item.getGlobalPlacement()
        found.append(shape)
    return found


def tidy(value):
    return float(f"{value:.6g}")


def facts_of(document, found):
    facts = {"objects": len(document.Objects), "solids": sum(len(s.Solids) for s in found)}
    facts["faces"] = sum(len(s.Faces) for s in found)
    if found:
        box = App.BoundBox()
        for shape in found:
            # Boxes of curved faces are loose unless they are computed on their surfaces.
            box.add(shape.optimalBoundingBox(False) if hasattr(shape, "optimalBoundingBox") else shape.BoundBox)
        sides = (box.XLength, box.YLength, box.ZLength)
        facts["bounding_box"] = " × ".join(f"{tidy(side):g}" for side in sides) + " mm"
    if facts["solids"]:
        facts["volume_mm3"] = tidy(sum(solid.Volume for shape in found for solid in shape.Solids))
    return facts


def main():
    Gui.showMainWindow()
    path = ask["source"]
    document = opened(path)
    if document is None or not document.Objects:
        end(1, f"FreeCAD found nothing in {os.path.basename(path)}")
    warnings = []
    if has_no_looks(path):
        choose_visible(document)
        warnings.append("visibility_chosen: the document says nothing of what is visible; shown is what nothing else is made of")
    Gui.setActiveDocument(document.Name)
    view = Gui.getDocument(document.Name).activeView()
    view.setAnimationEnabled(False)
    for name in ask["views"]:
        getattr(view, VIEWS[name])()
        view.fitAll()
        view.saveImage(os.path.join(ask["tmp"], f"{name}.png"), ask["width"], ask["height"], "Transparent")
    found = shapes(document)
    if not found:
        warnings.append("nothing_shown: no visible object of the document has faces")
    # Files without objects' errors are the rule; what FreeCAD marks as broken a person would see in its tree.
    broken = [item.Label for item in document.Objects if "Invalid" in item.State]
    warnings += [f"freecad: {label} is marked as invalid" for label in broken[:5]]
    version = ".".join(App.Version()[:3])
    with open(os.path.join(ask["tmp"], "facts.json"), "w") as file:
        json.dump({"facts": facts_of(document, found), "warnings": warnings, "backend": f"FreeCAD {version}"}, file)
    end(0)


try:
    main()
except BaseException as error:  # noqa: B902 an error must end FreeCAD too, or it waits for input.
    end(1, f"FreeCAD could not draw {os.path.basename(ask['source'])}: {error}")
