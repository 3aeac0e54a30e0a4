// What a project without a config is taken for: the table below, asked from the top.
import picomatch from 'picomatch';
import type { Config } from '../src/config.js';
import { listSources } from '../src/files.js';
import { builtinRecipe } from './config.js';

interface Row {
  recipe: string;
  /** What the head calls it. */
  software: string;
  /** Which files make a project one for the recipe. */
  sources: string[];
  reason: string;
  /** Not where there are such files: what is listed last is often only what a command produced beside pictures. */
  unless?: string[];
}

const PICTURES = ['**/*.{png,jpg,jpeg,webp,gif}'];
const OFFICE = '**/*.{odt,ods,odp,odg,fodt,fods,fodp,doc,docx,xls,xlsx,ppt,pptx,rtf}';

/** A source that is worked on comes before what it is made of or made into: a film project before films, a page before SVG. */
const TABLE: readonly Row[] = [
  { recipe: 'openscad', software: 'openscad', sources: ['**/*.scad'], reason: 'OpenSCAD files' },
  { recipe: 'blender', software: 'blender', sources: ['**/*.blend'], reason: 'Blender files' },
  {
    recipe: 'freecad',
    software: 'freecad',
    sources: ['**/*.{FCStd,fcstd,step,stp,iges,igs,STEP,STP,IGES,IGS}'],
    reason: 'FreeCAD, STEP or IGES files',
  },
  { recipe: 'mlt', software: 'mlt', sources: ['**/*.{mlt,kdenlive}'], reason: 'MLT projects' },
  { recipe: 'latex', software: 'latex', sources: ['**/*.tex'], reason: 'LaTeX files' },
  { recipe: 'notebook', software: 'jupyter', sources: ['**/*.ipynb'], reason: 'notebooks' },
  { recipe: 'graphviz', software: 'graphviz', sources: ['**/*.{dot,gv}'], reason: 'graphs' },
  { recipe: 'web', software: 'web', sources: ['**/index.html'], reason: 'web pages' },
  { recipe: 'svg', software: 'svg', sources: ['**/*.svg', '**/*.svgz'], reason: 'SVG files' },
  {
    recipe: 'mesh',
    software: 'mesh',
    sources: ['**/*.{stl,obj,glb,gltf,ply}'],
    reason: 'mesh files',
  },
  { recipe: 'office', software: 'libreoffice', sources: [OFFICE], reason: 'office documents' },
  {
    recipe: 'video',
    software: 'ffmpeg',
    sources: ['**/*.{mp4,mov,mkv,webm}'],
    reason: 'films',
    unless: PICTURES,
  },
  {
    recipe: 'audio',
    software: 'ffmpeg',
    sources: ['**/*.{wav,flac,mp3,ogg}'],
    reason: 'sounds',
    unless: PICTURES,
  },
  { recipe: 'pdf', software: 'poppler', sources: ['**/*.pdf'], reason: 'PDFs', unless: PICTURES },
];

export interface Detected {
  recipe: string;
  software: string;
  /** What was found, in words: `3 SVG files`. */
  found: string;
}

/** Looks at the files of a project. With none that a recipe draws: `files`, which shows what commands produce. */
export async function detect(project: string, previewRoot: string): Promise<Detected> {
  // The tree is walked once, whatever it is.
  const globs = [...new Set(TABLE.flatMap(({ sources, unless = [] }) => [...sources, ...unless]))];
  const { files: all } = await listSources(project, { sources: globs, previewRoot });
  const look = (sources: string[]) => {
    const matches = picomatch(sources);
    return all.filter((path) => matches(path));
  };
  for (const { recipe, software, sources, reason, unless } of TABLE) {
    const files = look(sources);
    if (files.length > 0 && !(unless && look(unless).length > 0))
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
