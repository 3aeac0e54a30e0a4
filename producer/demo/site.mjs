#!/usr/bin/env node
// A small editor of a web page by commands. The web demo's "agent" works with it. It keeps index.html (a part of the page
// a line), style.css (a rule a line) and app.js in the folder it is run in.
//   site new TITLE
//   site part ID -- HTML           a section of the page, at its end or in place of the one of that name
//   site style SELECTOR -- RULE    a rule of the style sheet, at its end or in place of the one of that selector
//   site script -- CODE            all of the script
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const [verb, ...args] = process.argv.slice(2);
const cut = args.indexOf('--');
const [name] = args;
const text = args.slice(cut + 1).join(' ');

/** Puts `line` in place of the one that begins with `start`, else before `end`. */
function put(lines, start, line, end) {
  const at = lines.findIndex((each) => each.startsWith(start));
  if (at >= 0) lines[at] = line;
  else lines.splice(lines.indexOf(end), 0, line);
  return lines.join('\n');
}
const linesOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '').split('\n');

const VERBS = {
  new: () => {
    const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${args.join(' ')}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="style.css">`;
    writeFileSync(
      'index.html',
      `<!doctype html>\n<html lang="en">\n<head>${head}</head>\n<body>\n<h1>${args.join(' ')}</h1>\n<main>\n</main>\n<script src="app.js"></script>\n</body>\n</html>\n`,
    );
    writeFileSync('style.css', '');
    writeFileSync('app.js', '');
  },
  part: () =>
    writeFileSync(
      'index.html',
      put(
        linesOf('index.html'),
        `<section id="${name}"`,
        `<section id="${name}">${text}</section>`,
        '</main>',
      ),
    ),
  style: () => writeFileSync('style.css', put(linesOf('style.css'), `${name} {`, `${name} { ${text} }`, '')),
  script: () => writeFileSync('app.js', `${text}\n`),
};

if (!Object.hasOwn(VERBS, verb)) throw new Error(`there is no ${verb}: new, part, style or script`);
VERBS[verb]();
