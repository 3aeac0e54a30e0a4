#!/usr/bin/env node
// A small editor of SVG scenes by commands, one element a line. The demo's "agent" works with it.
//   scene FILE new WIDTH HEIGHT
//   scene FILE add TAG ID [name=value …] [-- TEXT]     behind what is there
//   scene FILE set ID name=value …
//   scene FILE remove ID
import { readFileSync, writeFileSync } from 'node:fs';

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const attributes = (pairs) =>
  pairs
    .map((pair) => pair.split(/=(.*)/s))
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('');

const [file, verb, ...args] = process.argv.slice(2);
const lines = () => readFileSync(file, 'utf8').split('\n');
const lineOf = (all, id) => {
  const at = all.findIndex((line) => line.includes(` id="${id}"`));
  if (at < 0) throw new Error(`${file} has no element ${id}`);
  return at;
};

const VERBS = {
  new: ([width, height]) => [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    '</svg>',
    '',
  ],
  add: ([tag, id, ...rest]) => {
    const cut = rest.indexOf('--');
    const pairs = cut < 0 ? rest : rest.slice(0, cut);
    const text = cut < 0 ? '' : escaped(rest.slice(cut + 1).join(' '));
    const all = lines();
    all.splice(all.indexOf('</svg>'), 0, `  <${tag} id="${id}"${attributes(pairs)}>${text}</${tag}>`);
    return all;
  },
  set: ([id, ...pairs]) => {
    const all = lines();
    const at = lineOf(all, id);
    for (const pair of pairs) {
      const [name, value] = pair.split(/=(.*)/s);
      const known = new RegExp(` ${name}="[^"]*"`);
      const given = ` ${name}="${escaped(value)}"`;
      all[at] = known.test(all[at])
        ? all[at].replace(known, given)
        : all[at].replace(` id="${id}"`, ` id="${id}"${given}`);
    }
    return all;
  },
  remove: ([id]) => {
    const all = lines();
    all.splice(lineOf(all, id), 1);
    return all;
  },
};

const act = VERBS[verb];
if (!file || !act) {
  console.error('usage: scene FILE new|add|set|remove …');
  process.exitCode = 2;
} else {
  writeFileSync(file, act(args).join('\n'));
}
