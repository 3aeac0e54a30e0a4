#!/usr/bin/env node
// A small editor of OpenSCAD designs by commands. The demo's "agent" works with it.
//   scad FILE set NAME=VALUE …        a parameter at the top, new or changed
//   scad FILE part NAME -- BODY       a module and its place in the assembly, new or changed
//   scad FILE remove NAME
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const EMPTY = '// parameters\n\n// parts\n\n// assembly\n';

const [file, verb, ...args] = process.argv.slice(2);
const section = (text, name) => {
  const [, body = ''] = new RegExp(`// ${name}\\n([^]*?)(?=\\n// |$)`).exec(text) ?? [];
  return body.split('\n').filter(Boolean);
};
const put = (lines, begins, line) => {
  const at = lines.findIndex((each) => each.startsWith(begins));
  if (at < 0) lines.push(line);
  else lines[at] = line;
};

const VERBS = {
  set: (design, pairs) => {
    for (const pair of pairs) {
      const [name, value] = pair.split(/=(.*)/s);
      put(design.parameters, `${name} = `, `${name} = ${value};`);
    }
  },
  part: (design, [name, , ...body]) => {
    put(design.parts, `module ${name}(`, `module ${name}() { ${body.join(' ')} }`);
    put(design.assembly, `${name}();`, `${name}();`);
  },
  remove: (design, [name]) => {
    design.parts = design.parts.filter((line) => !line.startsWith(`module ${name}(`));
    design.assembly = design.assembly.filter((line) => line !== `${name}();`);
  },
};

if (!file || !Object.hasOwn(VERBS, verb ?? '')) {
  console.error('usage: scad FILE set|part|remove …');
  process.exitCode = 2;
} else {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : EMPTY;
  const design = Object.fromEntries(
    ['parameters', 'parts', 'assembly'].map((name) => [name, section(text, name)]),
  );
  VERBS[verb](design, args);
  const sections = Object.entries(design).map(([name, lines]) => [`// ${name}`, ...lines, ''].join('\n'));
  writeFileSync(file, sections.join('\n'));
}
