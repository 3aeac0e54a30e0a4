// `preview run` changes nothing of what it runs: forty awkward commands, each bare and recorded, byte for byte.
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { seen, underRun } from '../helpers/bare.js';
import { done, previews } from '../helpers/cli.js';
import { makeProject, temporary, write } from '../helpers/project.js';

const tmp = temporary();
const project = makeProject();
write(project, {
  'input.bin': Buffer.from(Array.from({ length: 100_000 }, (_, n) => (n * 7919) % 256)),
  'no-shebang': 'echo from a script without a first line\n',
  'bad-shebang': '#!/no/such/interpreter\n',
  'plain.txt': 'not a program\n',
  'sub/marker': 'here\n',
  'loop.sh': '#!/bin/sh\nfor i in 1 2 3; do echo "line $i"; echo "warn $i" >&2; done\n',
});
for (const name of ['no-shebang', 'bad-shebang', 'loop.sh']) chmodSync(join(project, name), 0o755);
symlinkSync('dangling-nowhere', join(project, 'dangling'));
mkdirSync(join(project, 'empty'));

const sh = (script: string, ...args: string[]) => ['sh', '-c', script, 'sh', ...args];
const node = (script: string) => [process.execPath, '-e', script];

/** Name, argv, and whether our own line on stderr is expected (a shell says its own there). */
const AWKWARD: [name: string, argv: string[], options?: { stdin?: string; says?: boolean }][] = [
  ['nothing printed', ['true']],
  ['E03 a plain failure', ['false']],
  ['both streams', sh('echo out; echo err >&2')],
  ['no newline at the end', ['printf', 'no newline']],
  ['an empty line', ['echo', '']],
  [
    'B05 arguments with spaces, nothing, newlines, emoji and a leading dash',
    ['printf', '%s|', 'a b', '', 'x\ny', '-z', '🚀', "'", '"', '\\', '$HOME', '`id`', '*'],
  ],
  ['E15 no shell takes an argument apart', ['echo', 'a" & echo X & "', ';', '|', '$(id)']],
  ['a thousand arguments', ['printf', '%s,', ...Array.from({ length: 1000 }, (_, n) => `argument ${n}`)]],
  ['an argument of 100 kB', ['printf', '%s', 'x'.repeat(100_000)]],
  ['B03 NUL, lone 0xFF, U+2028', ['printf', 'a\\0b\\377c\\342\\200\\250d\\n']],
  [
    'B03 a megabyte of bytes that are no text',
    node(
      "process.stdout.write(require('crypto').createHash('shake256',{outputLength:1<<20}).update('seed').digest())",
    ),
  ],
  [
    'B02 half a character, a pause, the other half',
    sh("printf '\\360\\237'; sleep 0.3; printf '\\232\\200\\n'"),
  ],
  ['B02 a megabyte of CJK text', node("process.stdout.write('日本語と漢字'.repeat(58255))")],
  [
    'E12 carriage returns and the alternate screen',
    ['printf', '10%%\\r20%%\\r100%%\\n\\033[?1049hmenu\\033[?1049l\\033[31mred\\033[0m\\n'],
  ],
  [
    'G11 what acts on a terminal',
    [
      'printf',
      '\\033]52;c;aGk=\\007\\033]8;;http://x\\033\\\\link\\033]8;;\\033\\\\\\033[2J\\342\\200\\256\\n',
    ],
  ],
  [
    'E12 no terminal is pretended',
    sh('test -t 0 || echo no in; test -t 1 || echo no out; test -t 2 || echo no err'),
  ],
  [
    '/dev/stdout and /dev/stderr opened by name',
    sh('echo a >/dev/stdout; echo b >/dev/stderr; echo c >/proc/self/fd/1'),
  ],
  ['E06 stdin whole', ['cat'], { stdin: 'input.bin' }],
  ['E06 stdin not read', ['true'], { stdin: 'input.bin' }],
  ['E06 stdin read in part', ['head', '-c', '10'], { stdin: 'input.bin' }],
  ['E06 stdin at its end', ['cat']],
  ['E07 a million lines', ['seq', '1', '1000000']],
  ['output on stderr alone, much of it', sh('seq 1 100000 >&2')],
  ['E09 600 MB', sh('yes 0123456789abcdef0123456789abcdef | head -c 600000000')],
  ['yes, and a reader that leaves', ['bash', '-c', 'yes | head -n 3; echo $PIPESTATUS']],
  ['E03 kill -9', sh('kill -9 $$')],
  ['E03 kill -TERM', sh('kill -TERM $$')],
  ['E03 exit 137, which is no signal', sh('exit 137')],
  ['kill -SEGV', sh('kill -SEGV $$')],
  ['kill -PIPE', sh('kill -PIPE $$')],
  ['exit 255', sh('exit 255')],
  ['127: not found', ['no-such-command-anywhere'], { says: true }],
  ['127: a path to nothing', ['./dangling'], { says: true }],
  ['126: not executable', ['./plain.txt'], { says: true }],
  ['126: a folder', ['./sub'], { says: true }],
  ['a script without a first line', ['./no-shebang']],
  ['a program of the project', ['./loop.sh']],
  ['a missing directory', sh('cd no/such/folder && echo there')],
  ['E01 a daemon left behind', sh('sleep 3 >/dev/null 2>&1 & echo hi')],
  ['E13 what looks like options of ours', ['echo', '--json', '--help', '--', '-f', '--label', '--timeout=1']],
  [
    'its own pipes and processes',
    ['bash', '-c', 'diff <(seq 1 5) <(seq 1 6) | tee /dev/stderr; exit $PIPESTATUS'],
  ],
  ['a full-screen program without a terminal', ['tput', '-T', 'xterm', 'smcup']],
  ['a program in a session of its own', ['setsid', '-w', 'sh', '-c', 'echo apart; exit 5']],
  ['files descriptors beyond the three', sh('echo x >&3', '')],
  ['the environment but for where to record', sh('env | grep -v "^PREVIEW_\\|^_=\\|^D=" | sort')],
  ['a limit of file size', ['bash', '-c', 'ulimit -f 1; echo x > /dev/null; seq 1 10']],
];

describe('E forty awkward commands: output and exit code are those of the bare command', () => {
  test.each(AWKWARD)('%s', async (_name, argv, { stdin, says } = {}) => {
    const bare = await seen(argv, { cwd: project, tmp, stdin });
    const under = await seen(underRun(argv), { cwd: project, tmp, stdin });
    expect(says ? { ...under, stderr: bare.stderr } : under).toEqual(bare);
  });

  test('E there are at least forty, each is recorded as a step of its own, and the session is whole', async () => {
    expect(AWKWARD.length).toBeGreaterThanOrEqual(40);
    const { ok, steps, problems } = await done(previews(project, ['verify', '--json']));
    expect({ ok, problems }).toEqual({ ok: true, problems: [] });
    expect(steps).toBe(AWKWARD.length);
  });

  test('nothing of ours is left in the folder for temporary files', async () => {
    const folder = temporary();
    const argv = underRun(['echo', 'hi']);
    await seen(argv, { cwd: project, tmp, env: { TMPDIR: folder } });
    expect(readdirSync(folder)).toEqual([]);
    // Nor is one needed.
    writeFileSync(join(folder, 'file'), '');
    const { code } = await seen(argv, { cwd: project, tmp, env: { TMPDIR: join(folder, 'file') } });
    expect(code).toBe(0);
  });
});
