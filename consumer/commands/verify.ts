// `previews verify [REF]`: proves that what was recorded is what is there.
import { join, relative } from 'node:path';
import { painter, printJson, progress, say } from '../../src/cli.js';
import { runCommand, text } from '../../src/command.js';
import { EXIT, PreviewError } from '../../src/errors.js';
import { looseBundles, verifyAny, verifyAnyBundle } from '../../src/recording.js';
import { isOwnRoot, sessionsOf } from '../../src/ref.js';
import { neutralise } from '../../src/text.js';
import type { Verdict, VerifyOptions } from '../../src/verify.js';
import { refCommand, refOf } from '../place.js';

export function main(argv: string[]): Promise<number> {
  return runCommand('previews', argv, (done) =>
    refCommand('verify', 'Check every step and file of a session against its recorded hashes.')
      .option('--head <sha256:…>', 'a head hash kept elsewhere: the history must contain it', text)
      .action((ref: string | undefined, options) => {
        if (options.head !== undefined && !/^sha256:[0-9a-f]{64}$/.test(options.head)) {
          throw new PreviewError(
            'usage',
            `${JSON.stringify(options.head)} is no head hash`,
            'expected sha256: and 64 hex digits, as trajectory_sha256 of a session.json',
          );
        }
        let state = 'verifying';
        const finish = progress(() => state);
        const verdict = verdictOf(ref, options, {
          head: options.head,
          onProgress: (at, total) => {
            state = `verifying bundle ${at + 1} of ${total}`;
          },
        });
        finish();
        if (options.json) printJson(verdict);
        else report(verdict);
        done(verdict.ok ? EXIT.done : EXIT.corrupt);
      }),
  );
}

function verdictOf(ref: string | undefined, options: { root?: string }, how: VerifyOptions): Verdict {
  const found = refOf(ref, options);
  if (found.kind === 'bundle') return verifyAnyBundle(found.bundle);
  if (found.kind !== 'root') return verifyAny(found.session, how);
  const all: Verdict = { ok: true, steps: 0, bundles: 0, pending: 0, problems: [] };
  let seen = how.head === undefined;
  for (const name of sessionsOf(found.root)) {
    const { problems, notes, ...counts } = verifyAny(join(found.root, name), how);
    // One of the root's sessions must hold the head hash, not each.
    const own = problems.filter((problem) => problem.kind !== 'head_hash');
    seen ||= own.length === problems.length;
    all.steps += counts.steps;
    all.bundles += counts.bundles;
    all.pending += counts.pending;
    all.problems.push(...own.map((problem) => ({ ...problem, where: `${name}/${problem.where}` })));
    if (notes) all.notes = [...(all.notes ?? []), ...notes];
  }
  if (!seen)
    all.problems.push({
      kind: 'head_hash',
      where: found.root,
      detail: `no step of any session has the hash ${how.head}`,
    });
  if (!isOwnRoot(found.root)) addBundles(found.root, all);
  all.ok = all.problems.length === 0;
  return all;
}

/** A root of CLI-Anything's also holds bundles that no session names. */
function addBundles(root: string, all: Verdict): void {
  for (const bundle of looseBundles(root)) {
    const { problems, notes } = verifyAnyBundle(bundle);
    const where = relative(root, bundle);
    all.bundles++;
    all.problems.push(...problems.map((problem) => ({ ...problem, where: `${where}/${problem.where}` })));
    all.notes = [...(all.notes ?? []), ...(notes ?? [])];
  }
}

function report({ ok, steps, bundles, pending, problems, notes = [] }: Verdict): void {
  const paint = painter();
  const counts = `${steps} steps, ${bundles} bundles${pending ? ', the last line is still to be written (not a problem)' : ''}`;
  say(
    ok
      ? `${paint('green', notes.length > 0 ? 'nothing wrong found' : 'whole')}  ${counts}`
      : `${paint('red', 'altered or damaged')}  ${counts}, ${problems.length} problems`,
  );
  for (const { kind, where, detail } of problems)
    say(`  ${paint('bold', kind)}  ${neutralise(where)}: ${neutralise(detail)}`);
  for (const { kind, where, detail } of notes)
    say(`  ${paint('dim', 'note:')} ${kind}  ${neutralise(where)}: ${neutralise(detail)}`);
}
