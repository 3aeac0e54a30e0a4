// The page with a server behind it: what it does in any case, and what it does while the recording goes on.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { browserPages, pageTest, type Watching, watching } from '../helpers/page.js';
import { temporary } from '../helpers/project.js';
import { addStep, anotherSession, newSession, recordKinds } from '../helpers/recorded.js';
import { details, list, pageCases, pictured, shows } from './cases.js';

const pages = browserPages();
const test = pageTest(pages);
let kinds: Watching;

beforeAll(async () => {
  const root = join(temporary(), '.preview');
  await recordKinds(root);
  kinds = await watching(root);
});
afterAll(() => kinds?.stop());

pageCases({
  name: 'live',
  test,
  open: (hash = '', view) => pages.open(kinds.url + hash, view),
});

/** A server that ends with the test, however that comes out. */
async function stopped(begun: Promise<Watching>): Promise<Watching> {
  const server = await begun;
  onTestFinished(() => server.stop());
  return server;
}

/** A root with a session of `count` steps, watched. */
async function growing(count: number) {
  const root = join(temporary(), '.preview');
  const session = await newSession(root);
  for (let n = 1; n <= count; n++) await addStep(session, n);
  return { root, session, server: await stopped(watching(root)) };
}

test('H04 new steps are followed, and counted for who looks elsewhere', async () => {
  const { session, server } = await growing(3);
  const page = await pages.open(server.url);
  await shows(page, 3);
  await addStep(session, 4);
  await shows(page, 4);
  await page.keyboard.press('ArrowLeft');
  await shows(page, 3);
  await addStep(session, 5);
  await addStep(session, 6);
  await page.getByText('2 new').first().waitFor();
  await shows(page, 3);
  await page.keyboard.press('End');
  await shows(page, 6);
  expect(await page.getByText('2 new').count()).toBe(0);
  await addStep(session, 7);
  await shows(page, 7);
  await pictured(page);
});

test('H04 a page whose server was killed says so, and catches up by itself with another', async () => {
  const { root, session, server } = await growing(2);
  const token = 't'.repeat(40);
  await server.stop();
  const first = await stopped(watching(root, '--token', token));
  const page = await pages.open(first.url);
  pages.forgive(page, /ERR_CONNECTION_REFUSED|WebSocket/);
  await shows(page, 2);
  first.child.kill('SIGKILL');
  await first.child.done;
  await page
    .getByText(/offline/i)
    .first()
    .waitFor();
  await addStep(session, 3);
  await stopped(watching(root, '--token', token, '--port', String(first.port)));
  await shows(page, 3);
  await page
    .getByText(/^\W*live$/)
    .first()
    .waitFor();
  expect(await list(page).getByRole('option').count()).toBe(3);
});

test('a clip that plays is not thrown away by new steps', async () => {
  const root = join(temporary(), '.preview');
  const watched = await stopped(watching(await recordKinds(root)));
  const page = await pages.open(watched.url);
  await shows(page, 12);
  await page.keyboard.press('ArrowLeft');
  await shows(page, 11);
  const sound = page.locator('main audio');
  await sound.evaluate((element: any) => {
    (globalThis as any).kept = element;
    element.loop = true;
    return element.play();
  });
  await addStep(await newSession(root), 13);
  await page.getByText('1 new').first().waitFor();
  expect(
    await page.evaluate(() => {
      const { kept } = globalThis as any;
      return kept.isConnected && !kept.paused;
    }),
  ).toBe(true);
});

test('other sessions of the root are in a menu, the newest first', async () => {
  const { root, server } = await growing(2);
  const page = await pages.open(server.url);
  await shows(page, 2);
  await addStep(await anotherSession(root), 30);
  await page.getByRole('button', { name: /rover/ }).click();
  const items = page.getByRole('menuitemradio');
  await expect.poll(() => items.count()).toBe(2);
  expect(await items.first().textContent()).toContain('session_002');
  await items.first().click();
  await shows(page, 1);
  await details(page).getByText('disc --number 30').first().waitFor();
  await page.goBack();
  await shows(page, 2);
});

test('a link to a session that is not there says so, and leaves the page as it is', async () => {
  const { session, server } = await growing(3);
  const page = await pages.open(server.url);
  await shows(page, 3);
  await page.evaluate(() => {
    (globalThis as any).location.hash = '#/session_099/step-0001';
  });
  await page.getByText('There is no session session_099 here.').waitFor();
  await page
    .getByText(/^\W*live$/)
    .first()
    .waitFor();
  await addStep(session, 4);
  await shows(page, 4);
  await pictured(page);
});

test('a session whose folder is removed says so, and keeps what was seen', async () => {
  const { session, server } = await growing(2);
  const page = await pages.open(server.url);
  await shows(page, 2);
  rmSync(session.dir, { recursive: true, force: true });
  await page
    .getByText(/The session has a problem/)
    .first()
    .waitFor();
  expect(await list(page).getByRole('option').count()).toBe(2);
});

test('Escape ends a search at once; Enter leads to the hit and leaves the field', async () => {
  const { server } = await growing(3);
  const page = await pages.open(server.url);
  await shows(page, 3);
  await page.keyboard.press('/');
  await page.keyboard.type('zzzz');
  await page.keyboard.press('Escape');
  await expect.poll(() => list(page).getByRole('option').count()).toBe(3);
  await page.keyboard.press('/');
  await page.keyboard.type('disc');
  await page.getByText('3 hits').waitFor();
  await page.keyboard.press('Enter');
  await shows(page, 2);
  await page.keyboard.press('ArrowLeft');
  await shows(page, 1);
});

test('a text has lines of a text, and a note keeps its width beside it', async () => {
  const page = await pages.open(`${kinds.url}#/session_001/step-0003`);
  await shows(page, 3);
  const note = details(page).locator('.note-text');
  const width = () => note.evaluate((element: any) => element.clientWidth);
  const before = await width();
  await page.keyboard.press('ArrowRight');
  await page.evaluate(() => {
    (globalThis as any).location.hash = '#/session_001/step-0010?tab=terminal';
  });
  const line = page.locator('main .lines .row').first();
  await line.waitFor();
  expect(await line.evaluate((element: any) => element.offsetHeight)).toBeLessThan(30);
  await page.evaluate(() => {
    (globalThis as any).location.hash = '#/session_001/step-0003';
  });
  await shows(page, 3);
  expect(await width()).toBe(before);
});
