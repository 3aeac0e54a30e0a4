// The SVG renderer and the finisher as child programs: real drawings, looked at pixel by pixel.
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Resvg } from '@resvg/resvg-js';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ELEMENTS } from '../../producer/render/weight.js';

const root = resolve(import.meta.dirname, '../..');
const fontFolder = join(
  dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')),
  'ttf',
);
const built = mkdtempSync(join(tmpdir(), 'preview-svg-'));

beforeAll(async () => {
  await build({
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['@resvg/resvg-js'],
    entryPoints: ['svg', 'finish'].map((name) => join(root, 'producer/renderers', `${name}.ts`)),
    outdir: join(built, 'dist/renderers'),
    outExtension: { '.js': '.cjs' },
  });
  symlinkSync(join(root, 'node_modules'), join(built, 'node_modules'), 'junction');
  mkdirSync(join(built, 'dist/fonts'));
  for (const name of [
    'DejaVuSans.ttf',
    'DejaVuSans-Bold.ttf',
    'DejaVuSansMono.ttf',
    'DejaVuSansMono-Bold.ttf',
    'DejaVuSerif.ttf',
  ]) {
    cpSync(join(fontFolder, name), join(built, 'dist/fonts', name));
  }
}, 60_000);
afterAll(() => rmSync(built, { recursive: true, force: true }));

type Ran = { code: number | null; signal: string | null; stdout: string; stderr: string };

function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((done) => {
    const file = join(built, 'dist/renderers', `${program}.cjs`);
    // Only the shipped fonts, unless a case says otherwise: the same pictures on every machine.
    const options = { cwd, env: { ...process.env, PREVIEW_SYSTEM_FONTS: '0', ...env } };
    execFile(process.execPath, [file, ...args], options, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : null) : 0;
      done({ code, signal: error?.signal ?? null, stdout, stderr });
    });
  });
}

let folders = 0;
/** A folder with `files` in it, removed with everything else. */
function project(files: Record<string, string | Buffer>): string {
  const folder = join(built, `project-${++folders}`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

type Pixels = { width: number; height: number; at(x: number, y: number): string; colours(): Set<string> };

/** Decodes a PNG by drawing it at its own size. `at` gives `#rrggbb`. */
function decode(path: string): Pixels {
  const png = readFileSync(path);
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const text = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" height="${height}" image-rendering="optimizeSpeed" href="data:image/png;base64,${png.toString('base64')}"/></svg>`;
  const { pixels } = new Resvg(text, { font: { loadSystemFonts: false } }).render();
  const at = (x: number, y: number) =>
    `#${pixels.subarray((y * width + x) * 4, (y * width + x) * 4 + 3).toString('hex')}`;
  const colours = () => {
    const found = new Set<string>();
    for (let index = 0; index < width * height; index++)
      found.add(at(index % width, Math.floor(index / width)));
    return found;
  };
  return { width, height, at, colours };
}

type Report = {
  headline: string;
  facts: Record<string, number | string>;
  warnings: string[];
  labels: Record<string, string>;
  next_actions: string[];
  backend: string;
};
type Drawn = Ran & { out: string; report: Report; hero: Pixels };

/** Draws the files, in a project of their own. */
async function draw(files: Record<string, string | Buffer>, args: string[] = [], env = {}): Promise<Drawn> {
  const cwd = project(files);
  const out = join(cwd, 'out');
  const svgs = Object.keys(files).filter((name) => /\.svgz?$/.test(name));
  const ran = await run('svg', ['--out', out, ...args, '--', ...svgs], cwd, env);
  const report = existsSync(join(out, 'preview.json'))
    ? JSON.parse(readFileSync(join(out, 'preview.json'), 'utf8'))
    : undefined;
  return { ...ran, out, report, hero: (report && decode(join(out, 'render.png'))) as Pixels };
}

const NS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
const svg = (body: string, root = 'width="40" height="40"') => `<svg ${NS} ${root}>${body}</svg>`;
const RED = '<rect width="40" height="40" fill="#f00"/>';
const GREEN = '<rect width="10" height="10" fill="#0f0"/>';
const base64 = (content: string | Buffer) => Buffer.from(content).toString('base64');
const redPng = () => new Resvg(svg(RED)).render().asPng();
/** A PNG that only says how large it is. */
const claimedPng = (side: number) => {
  const png = Buffer.from(redPng());
  png.writeUInt32BE(side, 16);
  png.writeUInt32BE(side, 20);
  return png;
};
/** 10 to the power of `depth` elements. */
const useBomb = (depth: number) => {
  const level = (index: number) => `<g id="a${index}">${`<use xlink:href="#a${index - 1}"/>`.repeat(10)}</g>`;
  const levels = Array.from({ length: depth }, (_, index) => level(index + 1)).join('');
  return `<defs><g id="a0"><rect width="1" height="1"/></g>${levels}</defs><use xlink:href="#a${depth}"/>`;
};

const JPG =
  '/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAgADADASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAAAAUG/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/EABcBAQEBAQAAAAAAAAAAAAAAAAAFAwb/xAAYEQEAAwEAAAAAAAAAAAAAAAAABUKBwf/aAAwDAQACEQMRAD8Ay4DqGAoJ6giS9N4sRd86AIiuAAAAAA//2Q==';
const GIF =
  'R0lGODdhMAAgAIEAAMgeHh4eyAAAAAAAACwAAAAAMAAgAEAIawADCBxIsKDBgQASKlzIsKHCgxAjOpxIsaLFixgzatzIMKLHghwdfhwZIKTJkyhTniT5USUAlh5dwpSociZElzhz6tzJs6dOmwdlAgVZcyhBoUYFIk261GjToU+B+pxKtarVq1izat3K9WJAADs=';
const WEBP = 'UklGRiwAAABXRUJQVlA4TB8AAAAvL8AHAA8wHvdQvRXy/EcLBAJJ/tILDBDR/wlAdfYPAA==';

describe('one SVG', { timeout: 60_000 }, () => {
  it('is drawn whole, with a thumbnail and a report', async () => {
    const { code, out, report, hero } = await draw({
      'logo.svg': svg(`${RED}<text y="20">hi</text>`, 'width="1000" height="500" viewBox="0 0 40 20"'),
    });
    expect(code).toBe(0);
    expect([hero.width, hero.height, hero.at(900, 20)]).toEqual([1000, 500, '#ff0000']);
    const thumb = decode(join(out, 'thumb.png'));
    expect([thumb.width, thumb.height, thumb.at(300, 10)]).toEqual([320, 160, '#ff0000']);
    expect(report).toEqual({
      headline: 'logo.svg: 1000 × 500, 3 elements',
      facts: { files: 1, width: 1000, height: 500, elements: 3, text_elements: 1, background: 'its own' },
      labels: { 'render.png': 'logo.svg' },
      warnings: [],
      next_actions: [],
      backend: `resvg-js ${JSON.parse(readFileSync(join(root, 'node_modules/@resvg/resvg-js/package.json'), 'utf8')).version}`,
    });
  });

  it.each([
    ['an icon is drawn larger, by a whole number', 'width="24" height="24"', [], [528, 528]],
    ['a middling one as it is', 'width="600" height="300"', [], [600, 300]],
    ['a large one smaller', 'width="5000" height="2500"', [], [1280, 640]],
    ['percentages need a viewBox', 'width="50%" height="50%" viewBox="0 0 40 20"', [], [520, 260]],
    ['a viewBox alone is a size', 'viewBox="0 0 700 100"', [], [700, 100]],
    ['no size is the size of what is drawn', '', [], [520, 520]],
    ['huge', 'width="100000" height="100000" viewBox="0 0 40 40"', [], [1280, 1280]],
    ['absurd', 'width="1e30" height="1e30" viewBox="0 0 1 1"', [], [1280, 1280]],
    ['a hairline', 'width="1" height="100000" viewBox="0 0 40 40" preserveAspectRatio="none"', [], [1, 1280]],
    ['--size', 'width="5000" height="2500"', ['--size', '200'], [200, 100]],
  ])('%s', async (_, root, args, size) => {
    const { code, hero } = await draw({ 'a.svg': svg(RED, root) }, args);
    expect(code).toBe(0);
    expect([hero.width, hero.height]).toEqual(size);
    expect(hero.at(0, 0)).toBe('#ff0000');
  });

  it.each([
    ['dark on transparent: white', svg('<rect x="9" width="9" height="9"/>'), [], 'white', ['#ffffff']],
    [
      'light on transparent: a checker that shows it',
      svg('<rect x="9" width="9" height="9" fill="#fff"/>'),
      [],
      'checker',
      ['#adb2b8', '#a0a6ad'],
    ],
    ['opaque', svg(RED), [], 'its own', ['#ff0000']],
    [
      'a ground that was asked for',
      svg('<rect x="9" width="9" height="9"/>'),
      ['--background', 'rgb(0, 0, 255)'],
      'rgb(0, 0, 255)',
      ['#0000ff'],
    ],
  ])('%s', async (_, text, args, background, colours) => {
    const { report, hero } = await draw({ 'a.svg': text }, args);
    expect(report.facts.background).toBe(background);
    expect(colours).toContain(hero.at(0, 0));
    expect([...hero.colours()]).toEqual(expect.arrayContaining(colours));
  });

  it.each<[string, string | Buffer]>([
    ['a byte order mark', `\ufeff${svg(GREEN)}`],
    ['UTF-16', Buffer.from(`\ufeff<?xml version="1.0" encoding="UTF-16"?>${svg(GREEN)}`, 'utf16le')],
    [
      'Latin-1, said so',
      Buffer.from(
        `<?xml version="1.0" encoding="ISO-8859-1"?>${svg(`${GREEN}<desc>\u00e9</desc>`)}`,
        'latin1',
      ),
    ],
    ['gzip', gzipSync(svg(GREEN))],
    [
      'a prefix',
      `<s:svg xmlns:s="http://www.w3.org/2000/svg" width="40" height="40"><s:rect width="10" height="10" fill="#0f0"/></s:svg>`,
    ],
    ['entities', `<!DOCTYPE svg [<!ENTITY c "#0f0">]>${svg('<rect width="10" height="10" fill="&c;"/>')}`],
    [
      'an embedded picture',
      svg(`<image width="40" height="40" href="data:image/gif;base64,${GIF}"/>${GREEN}`),
    ],
    [
      'an embedded SVG',
      svg(`<image width="40" height="40" href="data:image/svg+xml,${encodeURIComponent(svg(GREEN))}"/>`),
    ],
    [
      'a style sheet in CDATA',
      svg('<style><![CDATA[ svg > rect { fill: #0f0 } ]]></style><rect width="10" height="10"/>'),
    ],
    ['itself in a <use>', svg(`<g id="a"><use href="#a"/>${GREEN}</g>`)],
    // resvg-js 2.6.2 aborts on each of the next four.
    ['an opacity far away', svg(`${GREEN}<g opacity=".5"><rect x="200" width="9" height="9"/></g>`)],
    [
      'a clip far away',
      svg(
        `${GREEN}<clipPath id="c"><path d="M0 0h9v9z"/></clipPath><g clip-path="url(#c)"><rect y="-500" width="9" height="9"/></g>`,
      ),
    ],
    [
      'an inner svg far away',
      svg(
        `${GREEN}<svg x="1000" width="5" height="5" overflow="hidden"><rect width="50" height="50"/></svg>`,
      ),
    ],
    [
      'far away by a matrix',
      svg(`${GREEN}<g transform="rotate(90 0 0)"><g opacity=".3"><circle cx="999" r="5"/></g></g>`),
    ],
  ])('reads %s', async (_, content) => {
    const { code, hero, report } = await draw({ 'a.svg': content });
    expect(code).toBe(0);
    expect(report.warnings).toEqual([]);
    expect(hero.at(5, 5)).toBe('#00ff00');
  });

  it.each<[string, string | Buffer]>([
    ['there is no XML element in it', ''],
    ['there is no XML element in it', 'hello'],
    ['the tag in line 2 is not well-formed XML', '<svg>\n<rect'],
    ['the comment in line 1 never ends', '<svg><!-- '],
    ['its <!DOCTYPE never ends', '<!DOCTYPE svg ['],
    ["not well-formed XML: expected 'rect' tag, not 'g' at 3:1", svg('<g>\n<rect>\n</g>')],
    ['its root element is <html>, not <svg>', '<html/>'],
    ["its root is not an <svg> in SVG's namespace", '<svg xmlns="https://www.w3.org/2000/svg"/>'],
    ['its width or height is zero', svg('', 'width="0" height="5"')],
    ['its bytes are not UTF-8 text', Buffer.from(svg('<text>\u00e9</text>'), 'latin1')],
    ['it names an unknown encoding, klingon', `<?xml version="1.0" encoding="klingon"?>${svg('')}`],
    ['its gzip data is damaged', Buffer.from([0x1f, 0x8b, 1, 2, 3])],
    ['it unpacks to more than 32 MB', gzipSync(Buffer.alloc(40e6, 32))],
    [
      'its entities expand to more than can be drawn',
      `<!DOCTYPE svg [<!ENTITY a "${'a'.repeat(1000)}">${[...'bcdefgh'].map((name, index) => `<!ENTITY ${name} "${`&${'abcdefg'[index]};`.repeat(10)}">`).join('')}]>${svg('<text>&h;</text>')}`,
    ],
    [`it has more than ${ELEMENTS} elements once every <use> and marker is drawn`, svg(useBomb(9))],
    [
      `it has more than ${ELEMENTS} elements once every <use> and marker is drawn`,
      svg(
        `<marker id="m">${'<path d="M0 0"/>'.repeat(1000)}</marker><path marker-mid="url(#m)" d="M0 0${'h1v1'.repeat(999)}"/>`,
      ),
    ],
  ])('that cannot be drawn is an error in words: %s', async (reason, content) => {
    const { code, stderr, out } = await draw({ 'x.svg': content });
    expect([code, stderr]).toEqual([1, `x.svg: ${reason}\n`]);
    expect(existsSync(out)).toBe(false);
  });

  it('is stopped when it takes too much memory', async () => {
    const pattern =
      '<pattern id="p" width="30000" height="30000" patternUnits="userSpaceOnUse"><rect width="30000" height="30000"/></pattern>';
    const { signal, stderr } = await draw(
      { 'x.svg': svg(`${pattern}<rect width="40" height="40" fill="url(#p)"/>`) },
      [],
      { PREVIEW_RENDER_MEMORY_MB: '150' },
    );
    expect(signal).toBe('SIGKILL');
    expect(stderr).toBe('x.svg: drawing it takes more than 150 MB of memory\n');
  });

  it('that is missing or a folder is an error in words', async () => {
    const cwd = project({ 'folder/x': '' });
    expect((await run('svg', ['--out', 'out', '--', 'nope.svg', 'folder'], cwd)).stderr).toBe(
      'folder: not a regular file\nnope.svg: there is no such file\n',
    );
  });
});

describe('what is not quite the file is said', { timeout: 60_000 }, () => {
  const image = (href: string) => svg(`<image width="40" height="40" href="${href}"/>`);
  it.each<[string, string]>([
    ['external_reference: p.png is outside of the file and was left out (a.svg)', image('p.png')],
    [
      'external_reference: p.png is outside of the file and was left out (a.svg)',
      svg('<image width="40" height="40" xlink:href="&#x70;.png"/>'),
    ],
    [
      'external_reference: p.png is outside of the file and was left out (a.svg)',
      `<svg ${NS} xmlns:q="http://www.w3.org/1999/xlink"><image width="40" height="40" q:href="p.png"/></svg>`,
    ],
    [
      'external_reference: p.png is outside of the file and was left out (a.svg)',
      `<!DOCTYPE svg [<!ENTITY i "<image width='40' height='40' href='p.png'/>">]>${svg('&i;')}`,
    ],
    [
      'external_reference: p.png is outside of the file and was left out (a.svg)',
      svg('<filter id="f"><feImage href="p.png"/></filter><rect width="40" height="40" filter="url(#f)"/>'),
    ],
    [
      'external_reference: file:///p.png is outside of the file and was left out (a.svg)',
      image('file:///p.png'),
    ],
    [
      'external_reference: http://localhost/p.png is outside of the file and was left out (a.svg)',
      image('http://localhost/p.png'),
    ],
    [
      'external_reference: &x; is outside of the file and was left out (a.svg)',
      `<!DOCTYPE svg [<!ENTITY x SYSTEM "p.png">]>${svg('<text>&x;</text>')}`,
    ],
    [
      'external_reference: p.css is outside of the file and was left out (a.svg)',
      svg('<style>@import "p.css";</style>'),
    ],
    [
      'external_reference: p.css is outside of the file and was left out (a.svg)',
      `<?xml-stylesheet href="p.css"?>${svg('')}`,
    ],
    [
      'image_left_out: an embedded picture of 20000 × 20000 pixels is too large and was left out (a.svg)',
      image(`data:image/png;base64,${base64(claimedPng(20000))}`),
    ],
    [
      'image_left_out: an embedded WebP picture was left out: resvg does not read WebP (a.svg)',
      image(`data:image/webp;base64,${WEBP}`),
    ],
    [
      'image_left_out: an embedded image/png cannot be read and was left out (a.svg)',
      image('data:image/png;base64,AAAA'),
    ],
    [
      `image_left_out: an embedded SVG was left out: it has more than ${ELEMENTS} elements once every <use> and marker is drawn (a.svg)`,
      image(`data:text/plain;base64,${base64(svg(useBomb(9)))}`),
    ],
    ['nothing_drawn: nothing in it can be seen (a.svg)', svg('')],
    [
      'namespace_added: its root has no xmlns="http://www.w3.org/2000/svg", without which browsers show no picture (a.svg)',
      '<svg/>',
    ],
    [
      'not_drawn: 1 <foreignObject>, 1 <script>: resvg draws no HTML, scripts or motion (a.svg)',
      svg('<foreignObject/><script>throw 1</script>'),
    ],
  ])('%s', async (warning, text) => {
    const { code, report, hero } = await draw({
      'a.svg': text,
      'p.png': redPng(),
      'p.css': 'rect{fill:red}',
    });
    expect(code).toBe(0);
    expect(report.warnings).toContain(warning);
    expect(report.next_actions.length).toBeGreaterThan(0);
    expect([...hero.colours()]).not.toContain('#ff0000');
  });

  const text = (attributes: string, words = 'iiii') => svg(`<text y="20" ${attributes}>${words}</text>`);
  it.each<[string, string[]]>([
    [text(''), []],
    [text('font-family="sans-serif"'), []],
    [text('style="font-family: system-ui, Foo"'), []],
    [text(`font-family="'dejavu sans mono', Foo"`), []],
    [
      text('font-family="Comic Sans MS"'),
      ['font_replaced: "Comic Sans MS" is not on this machine; DejaVu Sans was drawn instead (a.svg)'],
    ],
    [
      text(`style="font-family:'Foo', &quot;Bar&quot;, monospace"`),
      ['font_replaced: "Foo", "Bar" are not on this machine; DejaVu Sans Mono was drawn instead (a.svg)'],
    ],
    [
      svg('<style>text{font:700 12px/1.2 Georgia}</style><text y="9">a</text>'),
      ['font_replaced: "Georgia" is not on this machine; DejaVu Serif was drawn instead (a.svg)'],
    ],
    [svg('<style>@font-face{font-family:Foo}</style><text y="9">a</text>'), []],
    [svg('<style>p{font-family:Foo}</style>'), []],
    [
      text('', '\u4e2d&#x6587; \u0439'),
      ['glyphs_missing: no font on this machine has \u4e2d \u6587 (a.svg)'],
    ],
    [
      text('font-style="italic"'),
      ['font_style_replaced: italic text was drawn upright: the shipped fonts have no italic (a.svg)'],
    ],
  ])('fonts: %s', async (content, warnings) => {
    const { report } = await draw({ 'a.svg': content });
    expect(report.warnings.filter((warning) => !warning.startsWith('nothing_drawn'))).toEqual(warnings);
  });

  it('the family that is named is the family that is drawn', async () => {
    const wide = async (attributes: string) => {
      const { hero } = await draw({ 'a.svg': text(`font-size="10" ${attributes}`) });
      let right = 0;
      for (let y = 0; y < hero.height; y++)
        for (let x = right; x < hero.width; x++) if (hero.at(x, y) !== '#ffffff') right = x;
      return right;
    };
    const [sans, mono, replaced, shorthand] = await Promise.all([
      wide('font-family="sans-serif"'),
      wide('font-family="DejaVu Sans Mono"'),
      wide('font-family="Consolas"'),
      wide('style="font: 10px monospace"'),
    ]);
    expect(mono).toBeGreaterThan(sans * 1.5);
    expect([replaced, shorthand]).toEqual([mono, mono]);
  });

  it("this machine's fonts are used where a family or a character asks for them", async () => {
    const home = project({});
    mkdirSync(join(home, 'fonts'), { recursive: true });
    cpSync(join(fontFolder, 'DejaVuMathTeXGyre.ttf'), join(home, 'fonts/math.ttf'));
    writeFileSync(join(home, 'fonts/damaged.ttf'), Buffer.alloc(40, 7));
    const files = { 'a.svg': text('font-family="DejaVu Math TeX Gyre"') };
    expect(
      (await draw(files, [], { PREVIEW_SYSTEM_FONTS: '1', XDG_DATA_HOME: home })).report.warnings,
    ).toEqual([]);
    expect((await draw(files)).report.warnings).toHaveLength(1);
  });

  it('warnings are few, whatever there is to say', async () => {
    const { report } = await draw({
      'a.svg': svg(
        Array.from({ length: 30 }, (_, index) => `<text font-family="Foo ${index}">a</text>`).join(''),
      ),
    });
    expect(report.warnings).toHaveLength(20);
    expect(report.warnings.at(-1)).toBe('more_warnings: 11 more are not listed');
  });
});

describe('several SVGs', { timeout: 60_000 }, () => {
  it('are drawn on a sheet and each by itself, and a broken one is shown as such', async () => {
    const { code, hero, out, report } = await draw({
      'b/Icon.svg': svg('<rect width="40" height="40" fill="#00f"/>'),
      'a/icon.svg': svg(RED),
      'c.svg': '<svg',
      'd <&> \u4e2d.svg': svg(''),
    });
    expect(code).toBe(0);
    expect(report.facts).toEqual({ files: 4, not_shown: 0, unreadable: 1, elements: 5, text_elements: 0 });
    expect(report.headline).toBe('4 SVG files, 5 elements; 1 cannot be drawn');
    expect(report.labels).toEqual({
      'views/01-icon.png': 'a/icon.svg',
      'views/02-icon.png': 'b/Icon.svg',
      'views/04-d.png': 'd <&> \u4e2d.svg',
    });
    expect(report.warnings).toEqual([
      'svg_unreadable: c.svg: the tag in line 1 is not well-formed XML',
      'nothing_drawn: nothing in it can be seen (d <&> \u4e2d.svg)',
    ]);
    expect(hero.width).toBe(1280);
    // Cells by path: red and blue in the first row, the broken one's pale red in the second.
    expect([hero.at(332, 250), hero.at(950, 250), hero.at(100, 560)]).toEqual([
      '#ff0000',
      '#0000ff',
      '#fcf3f2',
    ]);
    for (const name of Object.keys(report.labels)) expect(existsSync(join(out, name))).toBe(true);
    expect(decode(join(out, 'thumb.png')).width).toBe(320);
  });

  it('keep their places when one changes, and say how many are not shown', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 14 }, (_, index) => [`n${10 + index}.svg`, svg(RED)]),
    );
    const before = await draw(files);
    const after = await draw({ ...files, 'n12.svg': svg(`${RED}${GREEN}`) });
    expect(before.report.facts.not_shown).toBe(2);
    expect(before.report.headline).toContain('only the first 12 are shown');
    expect(Object.keys(before.report.labels)).toHaveLength(8);
    const changed = { left: 9999, right: 0, top: 9999, bottom: 0 };
    for (let y = 0; y < before.hero.height; y++) {
      for (let x = 0; x < before.hero.width; x++) {
        if (before.hero.at(x, y) === after.hero.at(x, y)) continue;
        changed.left = Math.min(changed.left, x);
        changed.right = Math.max(changed.right, x);
        changed.top = Math.min(changed.top, y);
        changed.bottom = Math.max(changed.bottom, y);
      }
    }
    // The third of four cells in the first row.
    expect(changed.left).toBeGreaterThan(652);
    expect(changed.right).toBeLessThan(942);
    expect(changed.bottom).toBeLessThan(242);
  });

  it('that are all broken are an error', async () => {
    const { code, stderr, out } = await draw({ 'a.svg': '', 'b.svg': '<svg' });
    expect([code, stderr]).toEqual([
      1,
      'a.svg: there is no XML element in it\nb.svg: the tag in line 1 is not well-formed XML\n',
    ]);
    expect(existsSync(out)).toBe(false);
  });
});

it.each([
  ['svg', ['--out', 'x'], 'svg: expected --out DIR and at least one SVG file after --\n'],
  [
    'svg',
    ['--out', 'x', '--size', 'big', '--', 'a.svg'],
    'svg: --size must be a whole number of pixels from 16 to 4096, not "big"\n',
  ],
  [
    'svg',
    ['--out', 'x', '--background', 'nocolour', '--', 'a.svg'],
    'svg: --background must be "checker" or an opaque CSS colour, not "nocolour"\n',
  ],
  ['finish', ['--in', 'x'], 'finish: expected --in PICTURE and --out DIR\n'],
])('wrong usage of %s exits with 2', { timeout: 60_000 }, async (program, args, message) => {
  const { code, stderr } = await run(program, args, built);
  expect([code, stderr]).toEqual([2, message]);
});

describe('finishing a picture', { timeout: 60_000 }, () => {
  async function finish(content: string | Buffer, args: string[] = []) {
    const cwd = project({ picture: content });
    const { code, stdout } = await run('finish', ['--in', 'picture', '--out', 'out', ...args], cwd);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\{.*\}\n$/);
    return { out: join(cwd, 'out'), cwd, said: JSON.parse(stdout) };
  }
  const drawn = (width: number, height: number) =>
    new Resvg(svg(RED, `width="${width}" height="${height}" viewBox="0 0 40 ${(40 * height) / width}"`))
      .render()
      .asPng();

  it.each<[string, () => string | Buffer, object, [number, number]]>([
    ['a small PNG', () => drawn(100, 50), { width: 100, height: 50, scaled: false, thumb: true }, [100, 50]],
    ['a PNG', () => drawn(1280, 640), { width: 1280, height: 640, scaled: false, thumb: true }, [320, 160]],
    [
      'a GIF',
      () => Buffer.from(GIF, 'base64'),
      { width: 48, height: 32, scaled: false, thumb: true },
      [48, 32],
    ],
    [
      'a turned JPEG',
      () => Buffer.from(JPG, 'base64'),
      { width: 32, height: 48, scaled: false, thumb: true },
      [32, 48],
    ],
    [
      'an SVG',
      () => svg(RED, 'width="400" height="200" viewBox="0 0 40 20"'),
      { width: 400, height: 200, scaled: false, thumb: true },
      [320, 160],
    ],
  ])('%s gets a thumbnail', async (_, content, expected, size) => {
    const { said, out } = await finish(content());
    expect(said).toMatchObject(expected);
    const thumb = decode(join(out, 'thumb.png'));
    expect([thumb.width, thumb.height]).toEqual(size);
    expect(existsSync(join(out, 'scaled.png'))).toBe(false);
  });

  it('a turned JPEG is shown upright', async () => {
    const { out } = await finish(Buffer.from(JPG, 'base64'));
    const thumb = decode(join(out, 'thumb.png'));
    const isBlue = (x: number, y: number) => Number.parseInt(thumb.at(x, y).slice(5), 16) > 128;
    // The blue corner, top left in the file, is turned to the top right.
    expect([isBlue(4, 4), isBlue(28, 4), isBlue(4, 44), isBlue(28, 44)]).toEqual([false, true, false, false]);
  });

  it('one that is too large is made smaller, and stays transparent', async () => {
    const wide = new Resvg(
      svg(
        '<rect width="20" height="40" fill="#f00" opacity=".5"/>',
        'width="3000" height="1500" viewBox="0 0 40 20"',
      ),
    )
      .render()
      .asPng();
    const { out, said } = await finish(wide);
    expect(said).toMatchObject({ width: 3000, height: 1500, scaled: true, thumb: true });
    expect(said.glance).toMatchObject({ width: 1280, height: 640 });
    const png = readFileSync(join(out, 'scaled.png'));
    expect([png.readUInt32BE(16), png.readUInt32BE(20), png[25]]).toEqual([1280, 640, 6]);
    const scaled = new Resvg(
      svg(`<image width="40" height="20" href="data:image/png;base64,${base64(png)}"/>`),
    ).render().pixels;
    // Multiplied by alpha, as resvg has it.
    expect([...scaled.subarray(0, 4)]).toEqual([128, 0, 0, 128]);
    expect(decode(join(out, 'thumb.png')).at(10, 10)).toBe('#ff7f7f');
  });

  it.each<[string, () => string | Buffer, number]>([
    ['resvg does not read WEBP', () => Buffer.from(WEBP, 'base64'), 48],
    ['20000 × 20000 is more than the 50 megapixels that are decoded', () => claimedPng(20000), 20000],
    ['the file is empty', () => '', 0],
    ['it is no picture that can be read', () => 'hello', 0],
    ['it is damaged', () => claimedPng(100).subarray(0, 60), 100],
    ['the tag in line 1 is not well-formed XML', () => '<svg', 0],
  ])('is left out with a reason: %s', async (reason, content, width) => {
    const { said, out } = await finish(content());
    expect(said).toMatchObject({ width, scaled: false, thumb: false, reason });
    expect(existsSync(out)).toBe(false);
  });

  it('does not read a file of more than 64 MB', async () => {
    const cwd = project({ picture: '' });
    truncateSync(join(cwd, 'picture'), 65 * 1024 * 1024);
    const { stdout } = await run('finish', ['--in', 'picture', '--out', 'out'], cwd);
    expect(JSON.parse(stdout).reason).toBe('65 MB, more than the 64 MB that are read');
  });
});
