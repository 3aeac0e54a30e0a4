// An OBJ with its materials, copied so that VTK draws them: it takes the ambient colour (Ka), which most programs write
// as a white that means nothing, for light of its own, and the picture becomes white.
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/** The copy's path in `folder`; null where the OBJ names no material file that lies beside it. */
export function withoutAmbient(obj: string, folder: string): string | null {
  const [, name] = /^mtllib\s+(.+?)\s*$/m.exec(readFileSync(obj, 'utf8')) ?? [];
  const materials = name ? beside(obj, name) : null;
  if (!materials) return null;
  mkdirSync(folder, { recursive: true });
  const text = readFileSync(materials, 'utf8');
  writeFileSync(join(folder, basename(materials)), text.replace(/^\s*Ka\s.*$/gm, 'Ka 0 0 0'));
  for (const [, texture] of text.matchAll(/^\s*map_\w+\s+(?:-\w+\s+\S+\s+)*(.+?)\s*$/gm)) {
    const file = beside(obj, texture!);
    const copy = join(folder, texture!);
    if (!file || existsSync(copy)) continue;
    mkdirSync(dirname(copy), { recursive: true });
    symlinkSync(resolve(file), copy);
  }
  const copy = join(folder, basename(obj));
  copyFileSync(obj, copy);
  return copy;
}

/** A file that a mesh names, in its own folder or below (I9). */
function beside(mesh: string, name: string): string | null {
  const file = join(dirname(mesh), name);
  const outside = relative(dirname(mesh), file).split(sep)[0] === '..';
  return !outside && existsSync(file) ? file : null;
}
