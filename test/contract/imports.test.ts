// The import table of the house, and what follows from "the consumer never writes in a session" (I6).
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { REPOSITORY } from '../helpers/cli.js';

interface Source {
  path: string;
  text: string;
  tree: ts.SourceFile;
  imports: { name: string; typeOnly: boolean }[];
}

/** All TypeScript files below a folder of the repository, parsed. */
function sources(folder: string): Source[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|mts|mjs|js)$/.test(name) && !name.includes('node_modules'))
    .map((name) => parse(join(folder, name)));
}

function parse(path: string): Source {
  const text = readFileSync(join(REPOSITORY, path), 'utf8');
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const imports: Source['imports'] = [];
  walk(tree, (node) => {
    const from =
      (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier
        ? node.moduleSpecifier
        : importCall(node);
    if (from && ts.isStringLiteral(from)) imports.push({ name: from.text, typeOnly: isTypeOnly(node) });
  });
  return { path, text, tree, imports };
}

function importCall(node: ts.Node): ts.Node | undefined {
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  const called =
    ts.isCallExpression(node) &&
    (node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText() === 'require');
  return called ? node.arguments[0] : undefined;
}

/** True where nothing of the import is left when the program runs. */
function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node))
    return (
      node.isTypeOnly ||
      allTypes(node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : [])
    );
  if (!ts.isImportDeclaration(node) || !node.importClause) return false;
  const { importClause } = node;
  const named =
    importClause.namedBindings && ts.isNamedImports(importClause.namedBindings)
      ? importClause.namedBindings.elements
      : [];
  return importClause.isTypeOnly || (!importClause.name && allTypes(named));
}
const allTypes = (elements: readonly { isTypeOnly: boolean }[]) =>
  elements.length > 0 && elements.every((element) => element.isTypeOnly);

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** The repository's file that a relative import names. */
function target(from: string, name: string): string | null {
  if (!name.startsWith('.')) return null;
  return relative(REPOSITORY, resolve(REPOSITORY, dirname(from), name)).replace(/\.js$/, '.ts');
}

const src = sources('src');
const producer = sources('producer');
const consumer = sources('consumer');
const all = [...src, ...producer, ...consumer];

/** Imports of our own files that lie outside the allowed folders. */
const strays = (files: Source[], allowed: string[]) =>
  files.flatMap(({ path, imports }) =>
    imports.flatMap(({ name }) => {
      const to = target(path, name);
      return to === null || allowed.some((folder) => to.startsWith(`${folder}/`))
        ? []
        : [`${path} imports ${to}`];
    }),
  );

describe('the import table', () => {
  test.each([
    ['src', src, ['src'], 25, 60],
    ['producer', producer, ['src', 'producer'], 20, 60],
    ['consumer', consumer, ['src', 'consumer'], 6, 20],
  ] as const)('%s imports only what it may', (_name, files, allowed, minimumFiles, minimumImports) => {
    expect(files.length).toBeGreaterThanOrEqual(minimumFiles);
    expect(files.flatMap(({ imports }) => imports).length).toBeGreaterThanOrEqual(minimumImports);
    expect(strays([...files], [...allowed])).toEqual([]);
  });

  test('the check itself finds what is forbidden, however it is written', () => {
    for (const line of [
      "import { x } from '../producer/x.js';",
      "export * from '../consumer/x.js';",
      "const x = await import('../test/x.js');",
      "type X = import('../producer/x.js').X;",
      "require('../producer/x.js');",
    ]) {
      const tree = ts.createSourceFile('src/made.ts', line, ts.ScriptTarget.ES2022, true);
      const imports: Source['imports'] = [];
      walk(tree, (node) => {
        const from =
          (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier
            ? node.moduleSpecifier
            : importCall(node);
        if (from && ts.isStringLiteral(from)) imports.push({ name: from.text, typeOnly: false });
      });
      expect(strays([{ path: 'src/made.ts', text: line, tree, imports }], ['src']), line).toHaveLength(1);
    }
  });
});

/** Calls by which a file system changes. `open` and its like only with a flag other than reading. */
const WRITING =
  /^(write|writev|writeFile|appendFile|mkdir|mkdtemp|rename|rm|rmdir|unlink|chmod|fchmod|lchmod|chown|fchown|lchown|symlink|link|truncate|ftruncate|utimes|futimes|lutimes|copyFile|cp)(Sync)?$|^createWriteStream$/;
const WRITING_PACKAGES = ['write-file-atomic', 'proper-lockfile'];

/** The writing calls in a file: names imported from node:fs, or called on what was imported from it. */
function writingCalls({ tree, imports, path }: Source): string[] {
  const found: string[] = imports
    .filter(({ name, typeOnly }) => !typeOnly && WRITING_PACKAGES.includes(name))
    .map(({ name }) => `${path} imports ${name}`);
  const fromFs = new Set<string>();
  const namespaces = new Set<string>();
  walk(tree, (node) => {
    if (
      ts.isImportDeclaration(node) &&
      ts.isStringLiteral(node.moduleSpecifier) &&
      /^(node:)?fs(\/promises)?$/.test(node.moduleSpecifier.text)
    ) {
      const clause = node.importClause;
      if (clause?.name) namespaces.add(clause.name.text);
      const bindings = clause?.namedBindings;
      if (bindings && ts.isNamespaceImport(bindings)) namespaces.add(bindings.name.text);
      if (bindings && ts.isNamedImports(bindings)) {
        for (const element of bindings.elements) {
          const original = (element.propertyName ?? element.name).text;
          if (original === 'promises') namespaces.add(element.name.text);
          if (WRITING.test(original)) found.push(`${path} imports ${original}`);
          fromFs.add(element.name.text);
        }
      }
    }
  });
  walk(tree, (node) => {
    if (!ts.isCallExpression(node)) return;
    const callee = node.expression;
    const name = ts.isPropertyAccessExpression(callee)
      ? callee.name.text
      : ts.isIdentifier(callee)
        ? callee.text
        : '';
    const base = ts.isPropertyAccessExpression(callee) ? callee.expression.getText() : '';
    const onFs = ts.isIdentifier(callee) ? fromFs.has(name) : namespaces.has(base.split('.')[0]!);
    if (onFs && WRITING.test(name)) found.push(`${path} calls ${name}`);
    const flag = node.arguments[1];
    if (onFs && /^open(Sync)?$/.test(name) && flag && flag.getText() !== "'r'")
      found.push(`${path} opens with ${flag.getText()}`);
  });
  return [...new Set(found)];
}

/** Files of src that the consumer's programs pull in when they run, with one way to each. */
function reached(): Map<string, string[]> {
  const byPath = new Map(all.map((file) => [file.path, file]));
  const ways = new Map<string, string[]>();
  const visit = (path: string, way: string[]) => {
    if (ways.has(path)) return;
    ways.set(path, way);
    for (const { name, typeOnly } of byPath.get(path)?.imports ?? []) {
      const to = target(path, name);
      if (to !== null && !typeOnly) visit(to, [...way, to]);
    }
  };
  for (const { path } of consumer) if (!path.startsWith('consumer/viewer/')) visit(path, [path]);
  return ways;
}

/**
 * Modules that the consumer reaches, or has, although they hold a writing call, and why that is no danger to a session.
 * Anything that is not here fails.
 */
const EXPLAINED: Record<string, string> = {
  'consumer/comparing/cache.ts':
    "writes in the user's cache alone; stepindex.ts refuses one that lies in a recording",
  'consumer/exporting/output.ts':
    'writes a file or below a new folder that the user named, and refuses one in the session',
  'consumer/exporting/timelapse/scratch.ts':
    'writes into a folder that it has just made among the temporary files, and removes it',
  'consumer/noting/append.ts':
    "adds a file to the folder of notes beside the root, or in the user's data, and refuses one in a recording",
  'src/cli.ts': 'writeSync goes to the file descriptors 1 and 2 only: what a command prints',
  'src/disk.ts':
    "layout.ts takes readPointer from it; its writing functions are called by the producer's modules, and by noting/append.ts",
  'src/trajectory.ts':
    'healing lies beside reading; healTail and openTrajectory are called by commit.ts alone',
};

describe('I6 the consumer never writes in a session', () => {
  test('no file under consumer/ has a writing file-system call, but for one that is explained', () => {
    expect(consumer.length).toBeGreaterThanOrEqual(6);
    expect(consumer.filter(({ path }) => !(path in EXPLAINED)).flatMap(writingCalls)).toEqual([]);
  });

  test('nor has what it reaches of src, but for modules that are explained', () => {
    const ways = reached();
    const paths = [...ways.keys()].filter((path) => path.startsWith('src/'));
    expect(paths.length).toBeGreaterThanOrEqual(10);
    const writing = src.filter(
      ({ path }) =>
        ways.has(path) &&
        !(path in EXPLAINED) &&
        writingCalls(src.find((file) => file.path === path)!).length > 0,
    );
    expect(
      writing.map((file) => `${ways.get(file.path)!.join(' → ')}: ${writingCalls(file).join(', ')}`),
    ).toEqual([]);
  });

  test('neither the lock, the commit, the session nor the bundle is reached', () => {
    const ways = reached();
    for (const path of [
      'src/lock.ts',
      'src/commit.ts',
      'src/session.ts',
      'src/publish.ts',
      'src/bundle.ts',
      'src/repair.ts',
    ])
      expect(ways.get(path)?.join(' → ')).toBeUndefined();
  });

  test('the explained modules are there, are reached, and do write: else the list is out of date', () => {
    const ways = reached();
    for (const path of Object.keys(EXPLAINED)) {
      const file = all.find((source) => source.path === path);
      expect(file && ways.has(path) && writingCalls(file).length > 0, path).toBe(true);
    }
  });

  test('the check itself finds writing calls', () => {
    const finds = (text: string) => {
      const tree = ts.createSourceFile('consumer/made.ts', text, ts.ScriptTarget.ES2022, true);
      const imports = text.includes('write-file-atomic')
        ? [{ name: 'write-file-atomic', typeOnly: false }]
        : [];
      return writingCalls({ path: 'consumer/made.ts', text, tree, imports }).length > 0;
    };
    for (const text of [
      "import { writeFileSync } from 'node:fs';",
      "import { rm as gone } from 'node:fs/promises'; gone('x');",
      "import * as fs from 'fs'; fs.mkdirSync('x');",
      "import { promises } from 'node:fs'; promises.unlink('x');",
      "import { openSync } from 'node:fs'; openSync('x', 'w');",
      "import { openSync, constants } from 'node:fs'; openSync('x', constants.O_RDWR);",
      "import fs from 'node:fs'; fs.promises.rename('a', 'b');",
      "import write from 'write-file-atomic';",
    ])
      expect(finds(text), text).toBe(true);
    for (const text of [
      "import { openSync } from 'node:fs'; openSync('x', 'r');",
      "import { readFileSync } from 'node:fs'; readFileSync('x');",
      "console.write('x')",
      "socket.write('x')",
    ])
      expect(finds(text), text).toBe(false);
  });

  test('the built commands hold nothing of the lock', () => {
    const commands = join(REPOSITORY, 'dist/commands');
    const built = readdirSync(commands).filter((name) => name.startsWith('previews-'));
    expect(built.length).toBeGreaterThanOrEqual(5);
    const texts = built.map((name) => [name, readFileSync(join(commands, name), 'utf8')] as const);
    expect(
      texts.filter(([, text]) => /lockfilePath|ELOCKED|write-file-atomic/.test(text)).map(([name]) => name),
    ).toEqual([]);
    expect(readFileSync(join(commands, 'preview-capture.cjs'), 'utf8')).toMatch(/lockfilePath/);
  });
});

describe('house rules that a program can check', () => {
  test('process.exit appears in the two cli.ts alone', () => {
    const calls = all.filter(({ tree }) => {
      let found = false;
      walk(tree, (node) => {
        if (ts.isPropertyAccessExpression(node) && node.getText() === 'process.exit') found = true;
      });
      return found;
    });
    expect(all.length).toBeGreaterThan(50);
    expect(
      calls.map(({ path }) => path).filter((path) => !['producer/cli.ts', 'consumer/cli.ts'].includes(path)),
    ).toEqual([]);
  });

  test('no default exports', () => {
    const files = all.filter(({ path }) => path.endsWith('.ts'));
    expect(files.length).toBeGreaterThan(50);
    const defaults = files.filter(({ tree }) =>
      tree.statements.some(
        (node) =>
          ts.isExportAssignment(node) ||
          (ts.canHaveModifiers(node) &&
            ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword)),
      ),
    );
    expect(defaults.map(({ path }) => path)).toEqual([]);
  });

  test('no class but PreviewError', () => {
    const classes = all.flatMap(({ tree, path }) => {
      const names: string[] = [];
      walk(tree, (node) => {
        if (ts.isClassDeclaration(node) || ts.isClassExpression(node))
          names.push(`${path}: ${node.name?.text}`);
      });
      return names;
    });
    expect(classes).toEqual(['src/errors.ts: PreviewError']);
  });
});
