"""Draws a .blend file inside Blender, started by blender.cjs. Its one argument is JSON: source, out, tmp, size,
samples, seconds, frame, show. What the scene lacks and a picture needs is added, and every addition is said."""

import json
import math
import os
import sys

import bpy
from mathutils import Vector

ask = json.loads(sys.argv[sys.argv.index("--") + 1])
out = ask["out"]
scene = bpy.context.scene
warnings, labels = [], {}
TURN_FRAMES, TURN_FPS = 48, 12
# More edges than these would fill the picture, and take long.
MOST_FACES = 100_000


def refuse(why):
    print(why, file=sys.stderr)
    sys.stderr.flush()
    # An exception would do, but its traceback would hide the sentence.
    os._exit(1)


# A file that Blender cannot read leaves its start-up scene in place, which must never pass for the user's.
if not bpy.data.filepath or os.path.realpath(bpy.data.filepath) != os.path.realpath(ask["source"]):
    refuse(f"Blender {bpy.app.version_string} could not open {ask['source']}")


def shown():
    """The objects that a render shows and that have faces, as they stand after their modifiers."""
    graph = bpy.context.evaluated_depsgraph_get()
    for instance in graph.object_instances:
        item = instance.object
        original = instance.parent.original if instance.is_instance else item.original
        if item.type in {"MESH", "CURVE", "SURFACE", "FONT", "META"} and not original.hide_render:
            yield item, instance.matrix_world.copy()


def corners():
    """The corners of the boxes around everything that is shown; of very many, of the one box around all."""
    points = [matrix @ Vector(corner) for item, matrix in shown() for corner in item.bound_box]
    if len(points) > 4000:
        ends = [(min(p[axis] for p in points), max(p[axis] for p in points)) for axis in range(3)]
        points = [Vector((x, y, z)) for x in ends[0] for y in ends[1] for z in ends[2]]
    return points or [Vector((0, 0, 0))]


def middle_of(points):
    low, high = (Vector(limit(p[axis] for p in points) for axis in range(3)) for limit in (min, max))
    return (low + high) / 2


def count():
    vertices = faces = 0
    for item, _ in shown():
        mesh = item.to_mesh()
        if mesh:
            vertices += len(mesh.vertices)
            faces += len(mesh.polygons)
            item.to_mesh_clear()
    return vertices, faces


def add_camera(name):
    camera = bpy.data.objects.new(name, bpy.data.cameras.new(name))
    scene.collection.objects.link(camera)
    return camera


def aim(camera, azimuths, elevation):
    """Turns a camera of ours to the middle of the scene, so far away that from each azimuth all of it is seen."""
    points = corners()
    middle = middle_of(points)
    render = scene.render
    wide = math.tan(camera.data.angle / 2)
    share = render.resolution_y / render.resolution_x
    x_half, y_half = (wide, wide * share) if share < 1 else (wide / share, wide)
    places = []
    for azimuth in azimuths:
        a, e = math.radians(azimuth), math.radians(elevation)
        direction = Vector((math.sin(a) * math.cos(e), -math.cos(a) * math.cos(e), math.sin(e)))
        turn = direction.to_track_quat("Z", "Y")
        seen = [turn.inverted() @ (point - middle) for point in points]
        away = max(p.z + max(abs(p.x) / x_half, abs(p.y) / y_half) for p in seen)
        places.append((direction, turn.to_euler(), away))
    away = max(max(place[2] for place in places), 1e-3) * 1.08
    camera.data.clip_start, camera.data.clip_end = away / 1000, away * 10
    return [(middle + direction * away, turn) for direction, turn, _ in places]


def stand(camera, place):
    camera.location, camera.rotation_euler = place


def glows(material):
    nodes = material.node_tree.nodes if material and material.use_nodes and material.node_tree else []
    for node in nodes:
        if node.type == "EMISSION":
            return True
        if node.type == "BSDF_PRINCIPLED":
            colour, strength = node.inputs["Emission"], node.inputs["Emission Strength"]
            lit = colour.is_linked or max(colour.default_value[:3]) > 0
            if lit and (strength.is_linked or strength.default_value > 0):
                return True
    return False


def world_is_bright():
    world = scene.world
    if not world:
        return False
    if not (world.use_nodes and world.node_tree):
        return max(world.color) > 0.2
    for node in world.node_tree.nodes:
        if node.type in {"TEX_ENVIRONMENT", "TEX_SKY"}:
            return True
        if node.type == "BACKGROUND":
            colour, strength = node.inputs["Color"], node.inputs["Strength"]
            if colour.is_linked or max(colour.default_value[:3]) * strength.default_value > 0.2:
                return True
    return False


def is_lit():
    lights = [item for item in scene.objects if item.type == "LIGHT" and not item.hide_render and item.data.energy > 0]
    materials = (slot.material for item in scene.objects if not item.hide_render for slot in item.material_slots)
    return bool(lights) or world_is_bright() or any(glows(material) for material in materials)


def complete():
    """What a picture needs and the scene lacks."""
    if scene.camera is None:
        own = next((item for item in scene.objects if item.type == "CAMERA"), None)
        scene.camera = own or add_camera("Preview camera")
        if own:
            warnings.append(f"added_camera: no camera of the scene is active; seen by its camera {own.name}")
        else:
            stand(scene.camera, aim(scene.camera, [35], 25)[0])
            warnings.append("added_camera: the scene has no camera; seen by one that takes in all of it")
    if scene.render.engine != "BLENDER_WORKBENCH" and not is_lit():
        sun = bpy.data.objects.new("Preview sun", bpy.data.lights.new("Preview sun", "SUN"))
        sun.data.energy = 3
        sun.rotation_euler = (math.radians(50), 0, math.radians(20))
        scene.collection.objects.link(sun)
        warnings.append("added_light: nothing in the scene gives light; lit by a sun")


def set_size(longest):
    render = scene.render
    x, y = render.resolution_x * render.pixel_aspect_x, render.resolution_y * render.pixel_aspect_y
    share = longest / max(x, y)
    # Even, for video.
    render.resolution_x, render.resolution_y = (max(16, round(side * share / 2) * 2) for side in (x, y))
    render.pixel_aspect_x = render.pixel_aspect_y = 1
    render.resolution_percentage = 100


def set_engine():
    """The scene's own engine, with few samples."""
    engine = scene.render.engine
    if engine == "CYCLES":
        scene.cycles.device = "CPU"
        scene.cycles.samples = min(scene.cycles.samples, ask["samples"])
        scene.cycles.time_limit = ask["seconds"]
        # Debian builds Blender without a denoiser, and then a scene that asks for one is not drawn at all.
        scene.cycles.use_denoising = False
        return f"Cycles, at most {scene.cycles.samples} samples, not denoised"
    if engine == "BLENDER_EEVEE":
        scene.eevee.taa_render_samples = min(scene.eevee.taa_render_samples, ask["samples"])
        return f"Eevee, {scene.eevee.taa_render_samples} samples"
    if engine != "BLENDER_WORKBENCH":
        scene.render.engine = "BLENDER_WORKBENCH"
        warnings.append(f"added_engine: this Blender has no engine {engine}; drawn by Workbench")
    return "Workbench"


def draw(name, label, **still):
    scene.render.filepath = os.path.join(out, name)
    image = scene.render.image_settings
    image.file_format, image.color_depth, image.compression = "PNG", "8", 80
    image.color_mode = "RGBA" if scene.render.film_transparent else "RGB"
    bpy.ops.render.render(write_still=True, **still)
    labels[name] = label


def workbench():
    """Blender's solid view, by the same camera."""
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.use_compositing = scene.render.use_sequencer = False
    shading = scene.display.shading
    shading.type, shading.light, shading.color_type = "SOLID", "STUDIO", "MATERIAL"
    shading.show_cavity = shading.show_object_outline = True


def wires():
    """Every edge as a thin rod: a render has no wireframe view as the window has."""
    points = corners()
    thick = max((point - middle_of(points)).length for point in points) / 400
    for item in scene.objects:
        if item.type == "MESH" and not item.hide_render:
            rods = item.modifiers.new("Preview wires", "WIREFRAME")
            rods.thickness, rods.use_even_offset = thick / max(max(item.matrix_world.to_scale()), 1e-6), False
    shading = scene.display.shading
    shading.light, shading.color_type, shading.single_color = "FLAT", "SINGLE", (0.85, 0.9, 1)
    shading.show_cavity = shading.show_object_outline = False


def turntable():
    """A clip of one turn around everything, by a camera of ours, in the solid view."""
    set_size(640)
    camera = add_camera("Turntable camera")
    scene.camera = camera
    places = aim(camera, [35 + 360 * n / TURN_FRAMES for n in range(TURN_FRAMES)], 20)
    names = [f"turn-{n:03}.png" for n in range(TURN_FRAMES)]
    for name, place in zip(names, places):
        stand(camera, place)
        scene.render.filepath = os.path.join(ask["tmp"], name)
        bpy.ops.render.render(write_still=True)
    clip = bpy.data.scenes.new("Preview clip")
    strip = clip.sequence_editor_create().sequences.new_image("turn", os.path.join(ask["tmp"], names[0]), 1, 1)
    for name in names[1:]:
        strip.elements.append(name)
    render = clip.render
    render.resolution_x, render.resolution_y = scene.render.resolution_x, scene.render.resolution_y
    render.resolution_percentage, render.fps, clip.frame_end = 100, TURN_FPS, TURN_FRAMES
    # The pictures have been through the view transform already.
    clip.view_settings.view_transform = "Standard"
    render.image_settings.file_format = "FFMPEG"
    render.ffmpeg.format, render.ffmpeg.codec, render.ffmpeg.constant_rate_factor = "MPEG4", "H264", "MEDIUM"
    render.filepath = os.path.join(out, "turntable.mp4")
    bpy.ops.render.render(animation=True, scene=clip.name)
    labels["turntable.mp4"] = "Once around everything, by a camera of the preview and Workbench"


facts = {
    "objects": len(scene.objects),
    "frames": f"{scene.frame_start}–{scene.frame_end}",
    "engine": scene.render.engine.replace("BLENDER_", "").capitalize(),
}
scene.render.use_multiview = False
scene.frame_set(scene.frame_current)
facts["vertices"], facts["faces"] = count()
for image in bpy.data.images:
    lost = image.source == "FILE" and not image.packed_file and not os.path.exists(bpy.path.abspath(image.filepath))
    if lost and image.users and len(warnings) < 5:
        warnings.append(f"blender: the file of the picture {image.name} is not there: {image.filepath}")
if bpy.app.autoexec_fail:
    warnings.append("scripts_off: scripts and drivers in the file were not run")

now = scene.frame_current
set_size(ask["size"])
by = set_engine()
complete()
facts["camera"] = scene.camera.name
draw("render.png", f"Frame {now} by {by}")
show = ask["show"]
if "frame" in show:
    other = int(ask["frame"]) if ask["frame"] != "" else (scene.frame_start + scene.frame_end) // 2
    if other != now and any(item.animation_data for item in bpy.data.objects):
        scene.frame_set(other)
        draw(f"views/frame-{other:04}.png", f"Frame {other} by {by}")
        scene.frame_set(now)
if any(view in show for view in ("solid", "wireframe", "turntable")):
    workbench()
if "solid" in show:
    draw("views/solid.png", "Solid, by Workbench")
own = scene.camera
size = (scene.render.resolution_x, scene.render.resolution_y)
if "turntable" in show:
    turntable()
if "wireframe" in show and facts["faces"] <= MOST_FACES:
    scene.camera = own
    scene.render.resolution_x, scene.render.resolution_y = size
    wires()
    draw("views/wireframe.png", "Wireframe: every edge as a rod, by Workbench")
elif "wireframe" in show:
    warnings.append(f"left_out: a wireframe of {facts['faces']} faces would show nothing")
with open(os.path.join(out, "preview.json"), "w") as file:
    json.dump(
        {
            "headline": f"{os.path.basename(ask['source'])}: {facts['objects']} objects, {facts['faces']} faces",
            "facts": facts,
            "warnings": warnings,
            "labels": labels,
            "backend": f"Blender {bpy.app.version_string}",
        },
        file,
    )
