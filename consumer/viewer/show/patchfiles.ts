// What a patch says of each file, counted and paired for drawing. Pure.
import { parsePatch, type StructuredPatchHunk } from 'diff';

export interface PatchLine {
  kind: 'same' | 'added' | 'removed' | 'hunk' | 'note';
  /** Line numbers before and after. */
  old: number | null;
  new: number | null;
  text: string;
  /** The part that differs from the line it is paired with: from and to. */
  differs?: [from: number, to: number];
}

export interface PatchFile {
  name: string;
  /** Where it was before, where that is another name. */
  from: string | null;
  /** `new`, `deleted`, `renamed`, `copied`, `binary`, `mode 100644 → 100755` */
  marks: string[];
  added: number;
  removed: number;
  lines: PatchLine[];
}

/** Throws where the text is no patch, as the parser says it. */
export function patchFiles(text: string): PatchFile[] {
  const isGit = /^diff --git /m.test(text);
  return parsePatch(text)
    .map((patch) => {
      const [old, now] = [nameOf(patch.oldFileName, isGit), nameOf(patch.newFileName, isGit)];
      const lines = patch.hunks.flatMap(linesOf);
      const marks: string[] = [];
      if (patch.isCreate || old === null) marks.push('new');
      if (patch.isDelete || now === null) marks.push('deleted');
      if (patch.isRename) marks.push('renamed');
      if (patch.isCopy) marks.push('copied');
      if (patch.isBinary) marks.push('binary');
      if (patch.oldMode && patch.newMode && patch.oldMode !== patch.newMode)
        marks.push(`mode ${patch.oldMode} → ${patch.newMode}`);
      const name = now ?? old ?? 'a file without a name';
      return {
        name,
        from: old !== null && old !== name ? old : null,
        marks,
        added: lines.filter(({ kind }) => kind === 'added').length,
        removed: lines.filter(({ kind }) => kind === 'removed').length,
        lines,
      };
    })
    .filter(
      ({ lines, marks, name }) => lines.length > 0 || marks.length > 0 || name !== 'a file without a name',
    );
}

/** Null: the file is not there on that side. */
function nameOf(name: string | undefined, isGit: boolean): string | null {
  if (name === '/dev/null') return null;
  return name === undefined ? 'a file without a name' : isGit ? name.replace(/^[ab]\//, '') : name;
}

/** The lines of a hunk with its header, what differs in them marked. */
export function linesOf(hunk: StructuredPatchHunk): PatchLine[] {
  let { oldStart: old, newStart: now } = hunk;
  // The parser counts on from an empty side; a header names the line before it.
  const span = (start: number, lines: number) =>
    lines === 1 ? `${start}` : `${lines === 0 ? start - 1 : start},${lines}`;
  const header = `@@ -${span(old, hunk.oldLines)} +${span(now, hunk.newLines)} @@`;
  const made: PatchLine[] = [{ kind: 'hunk', old: null, new: null, text: header }];
  for (const line of hunk.lines) {
    const text = line.slice(1);
    if (line[0] === '+') made.push({ kind: 'added', old: null, new: now++, text });
    else if (line[0] === '-') made.push({ kind: 'removed', old: old++, new: null, text });
    else if (line[0] === '\\') made.push({ kind: 'note', old: null, new: null, text: text.trim() });
    else made.push({ kind: 'same', old: old++, new: now++, text });
  }
  for (const [removed, added] of pairs(made)) if (removed && added) markDifference(removed, added);
  return made;
}

/** Lines beside each other: what is the same twice, what was removed beside what was added in its place. */
export function pairs(lines: readonly PatchLine[]): [left: PatchLine | null, right: PatchLine | null][] {
  const made: [PatchLine | null, PatchLine | null][] = [];
  let removed: PatchLine[] = [];
  let added: PatchLine[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      made.push([removed[at] ?? null, added[at] ?? null]);
    removed = [];
    added = [];
  };
  for (const [at, line] of lines.entries()) {
    if (line.kind === 'removed') {
      if (added.length > 0) flush();
      removed.push(line);
    } else if (line.kind === 'added') added.push(line);
    // "No newline at end of file" between both sides is no end of what belongs together.
    else if (line.kind === 'note' && lines[at - 1]?.kind === 'removed' && lines[at + 1]?.kind === 'added')
      removed.push(line);
    else {
      flush();
      made.push(line.kind === 'note' && lines[at - 1]?.kind === 'added' ? [null, line] : [line, line]);
    }
  }
  flush();
  return made;
}

/** What lies between the common start and the common end, where enough is common. */
function markDifference(one: PatchLine, two: PatchLine): void {
  if (one === two || one.kind === 'note' || two.kind === 'note') return;
  const [a, b] = [one.text, two.text];
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start++;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  if ((start + end) * 3 < Math.max(a.length, b.length)) return;
  one.differs = [start, a.length - end];
  two.differs = [start, b.length - end];
}
