// Notes over the websocket of `previews watch`: told with the snapshot, taken from one page and told to all.
import { readdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NOTE_LIMITS, type Note } from '../../src/notes.js';
import { STREAM_LIMITS } from '../../src/stream.js';
import { done, previews } from '../helpers/cli.js';
import { recordSession, snapshot, temporary } from '../helpers/project.js';
import { openPage, type Page, watching } from '../helpers/server.js';

const told = (page: Page): Note[] =>
  page.messages.flatMap((message) => (message.type === 'notes' ? message.notes : []));
const texts = (page: Page) => told(page).map(({ text }) => text);
const input = (more: object = {}) => ({
  type: 'note',
  note: {
    step_index: 1,
    artifact: null,
    box: null,
    text: 'look',
    verdict: null,
    replies_to: null,
    deleted: false,
    ...more,
  },
});

async function watched(steps = 2) {
  const { root, dir } = await recordSession(steps);
  const HOME = temporary();
  const say = (...args: string[]) => done(previews(dirname(root), ['note', ...args, '--json'], { HOME }));
  return { root, dir, say, open: async () => watching([root]) };
}

describe('notes over the websocket', () => {
  test('are told behind the snapshot; one from a page is kept beside the root and told to every page once', async () => {
    const { root, dir, say, open } = await watched();
    await say('step-0001', 'before', '--author', 'ada');
    const before = snapshot(dir);
    const server = await open();
    const [one, two] = [await openPage(server), await openPage(server)];
    await one.until(() => texts(one).length === 1, 'the first note');
    const answer = await one.ask(
      input({
        step_index: 2,
        text: 'too dark --token abcdefgh12345',
        box: { x: 1, y: 1, width: 2, height: 2 },
        verdict: 'reject',
      }),
    );
    expect(answer).toMatchObject({
      type: 'noted',
      note: {
        id: 'note-0002',
        author: userInfo().username,
        step_id: 'step-0002',
        artifact: 'render.png',
        verdict: 'reject',
        text: 'too dark --token ***',
      },
    });
    for (const page of [one, two]) {
      await page.until(() => texts(page).length === 2, 'the new note');
      expect(told(page)[1]).toEqual(answer.note);
      expect(page.snapshots()).toHaveLength(1);
    }
    const listed = await done(previews(dirname(root), ['notes', '--json']));
    expect(listed['notes'].map(({ id }: Note) => id)).toEqual(['note-0002', 'note-0001']);
    // One that another process writes is told too, and a page that comes later is told all.
    await say('step-0001', 'from the terminal');
    await two.until(() => texts(two).length === 3, 'the note of the terminal');
    const late = await openPage(server);
    await late.until(() => texts(late).length === 3, 'all notes');
    expect(snapshot(dir)).toEqual(before);
  });

  test('what names nothing, says nothing or too much is refused, and the page goes on', async () => {
    const { root, open } = await watched();
    const page = await openPage(await open());
    const refused = async (more: object) => (await page.ask(input(more))).code;
    expect(await refused({ step_index: 9 })).toBe('not_found');
    expect(await refused({ text: '  ' })).toBe('usage');
    expect(await refused({ artifact: '../session.json' })).toBe('not_found');
    expect(await refused({ box: { x: 0, y: 0, width: 999, height: 1 } })).toBe('usage');
    expect(await refused({ replies_to: 'note-0001' })).toBe('not_found');
    page.socket.send(JSON.stringify({ ...input({ text: 'x'.repeat(NOTE_LIMITS.text + 1) }), id: 77 }));
    await page.until(
      () => page.messages.some((each) => each.type === 'refused' && each.id === null),
      'a refusal',
    );
    expect(readdirSync(dirname(root))).not.toContain('.preview-notes');
    // The largest that may be said fits into a message, however it is escaped.
    const most = await page.ask(input({ text: '\u0001'.repeat(NOTE_LIMITS.text) }));
    expect(most).toMatchObject({ type: 'noted', note: { id: 'note-0001' } });
    expect(page.closed()).toBeNull();
  });

  test('I10 a page is told the newest 500, in messages that keep their size', async () => {
    const { say, open } = await watched();
    const { note, path } = await say('step-0001', 'x');
    for (let n = 2; n <= STREAM_LIMITS.notes + 20; n++)
      writeFileSync(
        join(dirname(path), `note-${String(n).padStart(4, '0')}.json`),
        JSON.stringify({ ...note, text: `${n} ${'y'.repeat(3000)}` }),
      );
    const page = await openPage(await open());
    await page.until(() => told(page).length >= STREAM_LIMITS.notes, 'the notes');
    expect(told(page).map(({ id }) => Number(id.slice(5)))).toEqual(
      Array.from({ length: STREAM_LIMITS.notes }, (_, n) => n + 21),
    );
    expect(page.largest()).toBeLessThanOrEqual(STREAM_LIMITS.messageBytes);
    expect(page.messages.filter(({ type }) => type === 'notes').length).toBeGreaterThan(4);
  });
});
