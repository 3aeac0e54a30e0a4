// What a project without a config is taken for: the table below, asked from the top.
import type { Config } from '../src/config.js';
import { listSources } from '../src/files.js';
import { builtinRecipe } from './config.js';

/** Which files make a project one for a recipe. `software` is what the head calls it. */
const TABLE: readonly { recipe: string; software: string; sources: string[]; reason: string }[] = [
  { recipe: 'openscad', software: 'openscad', sources: ['**/*.scad'], reason: 'OpenSCAD files' },
  { recipe: 'blender', software: 'blender', sources: ['**/*.blend'], reason: 'Blender files' },
  {
    recipe: 'freecad',
    software: 'freecad',
    sources: ['**/*.{FCStd,fcstd,step,stp,iges,igs,STEP,STP,IGES,IGS}'],
    reason: 'FreeCAD, STEP or IGES files',
  },
  { recipe: 'svg', software: 'svg', sources: ['**/*.svg', '**/*.svgz'], reason: 'SVG files' },
  {
    recipe: 'mesh',
    software: 'mesh',
    sources: ['**/*.{stl,obj,glb,gltf,ply}'],
    reason: 'mesh files',
  },
];

export interface Detected {
  recipe: string;
  software: string;
  /** What was found, in words: `3 SVG files`. */
  found: string;
}

/** Looks at the files of a project. With none that a recipe draws: `files`, which shows what commands produce. */
export async function detect(project: string, previewRoot: string): Promise<Detected> {
  for (const { recipe, software, sources, reason } of TABLE) {
    const { files } = await listSources(project, { sources, previewRoot });
    if (files.length > 0)
      return {
        recipe,
        software,
        found: `${files.length} ${files.length === 1 ? reason.replace(/s$/, '') : reason}`,
      };
  }
  return {
    recipe: 'files',
    software: 'files',
    found: 'no files that a built-in recipe draws; `files` shows what commands produce',
  };
}

/** The config that `init` writes for it. */
export function configFor(detected: Detected, schema: string): Config {
  const full = `${detected.recipe}-full`;
  return {
    $schema: schema,
    software: detected.software,
    default_recipe: 'quick',
    recipes: {
      quick: { description: `What \`${detected.recipe}\` draws`, uses: detected.recipe },
      ...(builtinRecipe(full) ? { full: { description: `What \`${full}\` draws`, uses: full } } : {}),
    },
  };
}
