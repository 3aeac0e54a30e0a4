// A desk lamp in Blender, in nine edits, each a few lines of Blender's own Python.

/** What each edit is called, and the lines that it runs. */
const EDITS = [
  [
    'A desk, a wall, a window',
    "scene.render.engine = 'CYCLES'; scene.cycles.samples = 64; scene.render.resolution_x, scene.render.resolution_y = 960, 720",
    'for item in list(bpy.data.objects): bpy.data.objects.remove(item)',
    "bpy.ops.mesh.primitive_plane_add(size=14); bpy.context.object.name = 'Desk'",
    "bpy.ops.mesh.primitive_plane_add(size=14, location=(0, 4, 0), rotation=(1.5708, 0, 0)); bpy.context.object.name = 'Wall'",
    "bpy.ops.object.light_add(type='AREA', location=(-4, -4, 6), rotation=(0.75, 0, -0.8)); bpy.context.object.name = 'Window'; bpy.context.object.data.energy = 600; bpy.context.object.data.size = 4",
    'bpy.ops.object.camera_add(location=(0.6, -9, 3.4), rotation=(1.36, 0, 0.03)); scene.camera = bpy.context.object',
  ],
  [
    'The foot',
    "bpy.ops.mesh.primitive_cylinder_add(radius=0.8, depth=0.18, location=(0.6, 1, 0.09), vertices=64); bpy.context.object.name = 'Foot'",
    "bevel = bpy.context.object.modifiers.new('Bevel', 'BEVEL'); bevel.width, bevel.segments = 0.06, 4",
  ],
  [
    'The arms',
    "bpy.ops.mesh.primitive_cylinder_add(radius=0.06, depth=2.2, location=(0.95, 1, 1.2), rotation=(0, 0.33, 0)); bpy.context.object.name = 'Lower arm'",
    "bpy.ops.mesh.primitive_cylinder_add(radius=0.06, depth=2.2, location=(0.42, 1, 2.85), rotation=(0, -0.96, 0)); bpy.context.object.name = 'Upper arm'",
    "bpy.ops.mesh.primitive_uv_sphere_add(radius=0.13, location=(1.31, 1, 2.24)); bpy.context.object.name = 'Joint'",
  ],
  [
    'The shade',
    "bpy.ops.mesh.primitive_cone_add(radius1=0.75, radius2=0.22, depth=0.9, end_fill_type='NOTHING', vertices=64, location=(-0.62, 1, 3.2), rotation=(0, 0.5, 0)); bpy.context.object.name = 'Shade'",
    "bpy.context.object.modifiers.new('Solidify', 'SOLIDIFY').thickness = 0.04; bpy.ops.object.shade_smooth()",
  ],
  [
    'Colours',
    "def paint(names, colour, rough=0.5, metal=0): material = bpy.data.materials.new(names[0]); material.use_nodes = True; inputs = material.node_tree.nodes['Principled BSDF'].inputs; inputs['Base Color'].default_value = (*colour, 1); inputs['Roughness'].default_value = rough; inputs['Metallic'].default_value = metal; [bpy.data.objects[name].data.materials.append(material) for name in names]",
    "paint(['Desk'], (0.3, 0.13, 0.05), 0.35); paint(['Wall'], (0.35, 0.5, 0.52), 0.9)",
    "paint(['Foot', 'Shade'], (0.75, 0.08, 0.04), 0.3); paint(['Lower arm', 'Upper arm', 'Joint'], (0.8, 0.75, 0.65), 0.25, 1)",
  ],
  [
    'A bulb',
    "bpy.ops.mesh.primitive_uv_sphere_add(radius=0.2, location=(-0.68, 1, 3.05)); bpy.context.object.name = 'Bulb'",
    "glow = bpy.data.materials.new('Glow'); glow.use_nodes = True; inputs = glow.node_tree.nodes['Principled BSDF'].inputs; inputs['Emission'].default_value = (1, 0.75, 0.4, 1); inputs['Emission Strength'].default_value = 20; bpy.context.object.data.materials.append(glow)",
    "bpy.ops.object.light_add(type='POINT', location=(-0.8, 1, 2.8)); bpy.context.object.name = 'Lamp'; bpy.context.object.data.energy = 180; bpy.context.object.data.color = (1, 0.75, 0.45); bpy.context.object.data.shadow_soft_size = 0.2",
  ],
  [
    'Books',
    'colours = [(0.05, 0.15, 0.4), (0.6, 0.35, 0.05), (0.1, 0.3, 0.12)]',
    'for n, colour in enumerate(colours): bpy.ops.mesh.primitive_cube_add(size=1, location=(-1.5 + 0.06 * n, 1.2, 0.14 + 0.26 * n), rotation=(0, 0, 0.2 * n - 0.2)); book = bpy.context.object; book.name = f"Book {n + 1}"; book.scale = (1.9, 1.3, 0.25); cover = bpy.data.materials.new(book.name); cover.use_nodes = True; cover.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*colour, 1); book.data.materials.append(cover)',
  ],
  [
    'Night',
    "bpy.data.objects['Window'].data.energy = 25; bpy.data.objects['Window'].data.color = (0.45, 0.6, 1)",
    "scene.world.node_tree.nodes['Background'].inputs['Strength'].default_value = 0.1",
  ],
  [
    'Closer',
    'scene.camera.location = (-1.4, -6.6, 2.4); scene.camera.rotation_euler = (1.5, 0, -0.17)',
    "bpy.data.objects['Lamp'].data.energy = 260",
  ],
];

const HEAD = 'import bpy; scene = bpy.context.scene';
const SAVE = 'bpy.ops.wm.save_mainfile()';
const codeOf = (lines, save) => [HEAD, ...lines, save].join('\n');

export const title = 'A desk lamp in Blender, one edit at a time';
export const needs = [
  { program: 'blender', debian: 'blender' },
  { program: 'Xvfb', debian: 'xvfb' },
];
export const recipe = 'blender';

export const steps = ({ folder, run }) =>
  EDITS.map(([label, ...lines], n) => {
    const first = n === 0;
    const file = `${folder}/desk.blend`;
    const open = first ? ['--factory-startup'] : ['desk.blend'];
    const save = first ? `bpy.ops.wm.save_as_mainfile(filepath=${JSON.stringify(file)})` : SAVE;
    const argv = (code) => ['--background', ...open, '--python-exit-code', '1', '--python-expr', code];
    return {
      label,
      command: `blender ${[...open, '--python-expr', `'${codeOf(lines, SAVE)}'`].join(' ')}`,
      act: () => run('blender', argv(codeOf(lines, save))),
    };
  });
