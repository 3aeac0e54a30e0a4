// What the page does, whichever way it came: the same cases run with a server behind it and with an exported file.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { type Open, type pageTest, SCREENS, type View } from '../helpers/page.js';
import { HOSTILE, STEPS } from '../helpers/recorded.js';

// What runs in the page; these tests are compiled without a browser's types.
declare const document: any, location: any, innerWidth: number, getComputedStyle: any, navigator: any;

export interface Way {
  name: 'live' | 'exported';
  /** Opens the page of what `recordKinds` has recorded. */
  open: Open;
  test: ReturnType<typeof pageTest>;
}

const SESSION = 'session_001';
const at = (index: number, query = '') => `#/${SESSION}/step-${String(index).padStart(4, '0')}${query}`;

export const list = (page: Page) => page.getByRole('listbox', { name: /^Steps/ });
export const details = (page: Page) => page.getByRole('complementary');
export const stage = (page: Page) => page.getByRole('main');
const tab = (page: Page, name: string) => page.getByRole('tab', { name });
const searchField = (page: Page) => page.getByRole('searchbox', { name: /^Search/ });

/** The row of a step: the newest is the first. */
const row = (page: Page, index: number) =>
  list(page).locator(`[role=option][aria-posinset="${STEPS.newest - index + 1}"]`);

/** Waits until the step is the one that is shown, in the list's place and beside it. */
export async function shows(page: Page, index: number): Promise<void> {
  const name = `step-${String(index).padStart(4, '0')}`;
  await details(page).getByRole('heading', { name }).waitFor();
  await page.waitForFunction(
    (wanted) => document.querySelector('[role=slider]')?.getAttribute('aria-valuenow') === String(wanted),
    index,
  );
}
/** Waits until the stage holds a picture that is loaded. */
export const pictured = (page: Page) =>
  page.waitForFunction(() =>
    [...document.querySelectorAll('main img')].some(
      ({ complete, naturalWidth, clientWidth }: any) => complete && naturalWidth > 0 && clientWidth > 100,
    ),
  );
/** Waits until nothing of the page is loading any more. */
const settled = (page: Page) =>
  page.waitForFunction(
    () =>
      !document.querySelector('main [aria-busy=true]') &&
      !/Loading/.test(document.querySelector('main')?.textContent ?? '') &&
      [...document.querySelectorAll('main img')].every(({ complete }: any) => complete),
  );
/** The width of the picture on the stage, in pixels of the screen. */
const width = (page: Page) =>
  page.evaluate(() =>
    Math.max(...[...document.querySelectorAll('main img')].map((img: any) => img.clientWidth)),
  );
const hashOf = (page: Page) => page.evaluate(() => location.hash);

/** What axe finds that is serious or worse. */
async function serious(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const found = await page.evaluate(() => (globalThis as any).axe.run({ resultTypes: ['violations'] }));
  return found.violations
    .filter(({ impact }: any) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }: any) => `${id}: ${nodes.map(({ html }: any) => html.slice(0, 160)).join(' | ')}`);
}

export function pageCases({ name, open, test }: Way): void {
  describe(`the page, ${name}`, () => {
    test('shows the newest step first, with its picture, command and facts', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      await pictured(page);
      await details(page).getByText('disc --number 12').first().waitFor();
      await details(page).getByText('radius').waitFor();
      expect(await list(page).getByRole('option', { selected: true }).textContent()).toContain('0012');
    });

    test('a click in the list shows that step, and facts tell their change', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      await row(page, STEPS.changed).click();
      await shows(page, STEPS.changed);
      // The facts come with the step's detail, a moment after the step itself.
      const facts = () => details(page).textContent();
      await expect.poll(facts, { timeout: 20_000 }).toMatch(/disc\s*2\s*\+1/);
      await expect.poll(facts).toMatch(/colour\s*green\s*was red/);
    });

    test('failed, killed, partial and lost steps say so in words, in the list and beside it', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      for (const [index, words] of [
        [STEPS.failed, /exit 3/],
        [STEPS.killed, /SIGKILL/],
        [STEPS.partial, /partial/],
        [STEPS.lost, /lost/],
      ] as const) {
        expect(await row(page, index).textContent()).toMatch(words);
        await row(page, index).click();
        await shows(page, index);
      }
      expect(await stage(page).textContent()).toMatch(/lost|nothing of/i);
      await page.goto(new URL(at(STEPS.failed), page.url()).href);
      await shows(page, STEPS.failed);
      expect(await details(page).textContent()).toMatch(/3/);
      await details(page).getByText('render_failed: there was nothing to draw').waitFor();
    });

    test('a step without a picture says so', async () => {
      const page = await open(at(STEPS.none));
      await shows(page, STEPS.none);
      await stage(page)
        .getByText(/no picture/i)
        .first()
        .waitFor();
    });

    test('G08 hostile texts are shown as texts: nothing of them runs, hides or reorders', async () => {
      const page = await open(at(STEPS.hostile));
      await shows(page, STEPS.hostile);
      await pictured(page);
      await details(page).getByText(HOSTILE.note.split('\n')[1]!).waitFor();
      // The last that comes of a step: its warnings, with its detail.
      await details(page).getByRole('heading', { name: 'Warnings' }).waitFor();
      const words = (await details(page).textContent()) ?? '';
      expect(words).toContain('</script><img src=x onerror="document.title=1">');
      expect(words).toContain(HOSTILE.label);
      expect(words.split(HOSTILE.fact).length).toBeGreaterThanOrEqual(4);
      expect(words).toContain('🎈');
      // Escapes and marks of direction become signs.
      const all = await page.evaluate(() => document.body.textContent ?? '');
      expect(all).not.toMatch(/[\u001b\u202a-\u202e\u2066-\u2069]/);
      expect(await page.title()).not.toBe('1');
      expect(await page.locator('img[src=x], svg[onload], main b').count()).toBe(0);
      // However long a word is, nothing grows out of its place.
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      for (const name of ['Files', 'Raw', 'Changes', 'Terminal']) {
        await tab(page, name).click();
        await page.getByRole('tabpanel').waitFor();
      }
      expect(await page.title()).not.toBe('1');
    });

    test('G07 a recorded page is shown without its scripts, in an origin of its own', async () => {
      const page = await open(at(STEPS.page));
      await shows(page, STEPS.page);
      const frame = stage(page).locator('iframe');
      await frame.waitFor();
      expect(await frame.getAttribute('sandbox')).toBe('');
      await page.frameLocator('iframe').getByText('Recorded page').waitFor();
      expect(await page.title()).not.toBe('taken');
      expect(await page.frameLocator('iframe').locator('body').getAttribute('data-ran')).toBeNull();
    });

    test('tabs show the patch, the output, the files and what was recorded', async () => {
      const page = await open(at(STEPS.patch));
      await shows(page, STEPS.patch);
      await tab(page, 'Changes').click();
      await stage(page).getByText('colour green').first().waitFor();
      await tab(page, 'Terminal').click();
      await stage(page).getByText('disc 10').first().waitFor();
      await tab(page, 'Files').click();
      await stage(page).getByText('artifacts/changes.diff').first().waitFor();
      expect(await stage(page).getByRole('link', { name: 'download' }).count()).toBeGreaterThanOrEqual(3);
      await tab(page, 'Raw').click();
      await stage(page).getByText('"step_id": "step-0010"').first().waitFor();
      expect(await hashOf(page)).toContain('tab=raw');
      await tab(page, 'Preview').click();
      await pictured(page);
    });

    test('the gallery shows what else there is, and a link leads to it', async () => {
      const page = await open(at(STEPS.partial));
      await shows(page, STEPS.partial);
      await stage(page).getByRole('button', { name: 'From the right' }).click();
      await page.waitForFunction(() => location.hash.includes('a='));
      const link = await hashOf(page);
      const other = await open(link);
      await shows(other, STEPS.partial);
      await pictured(other);
      expect(
        await stage(other).getByRole('button', { name: 'From the right' }).getAttribute('aria-pressed'),
      ).toBe('true');
    });

    test('a picture zooms by wheel, keys and buttons, pans, and fits again', async () => {
      const page = await open(at(STEPS.newest), { width: 1000, height: 700 });
      await shows(page, STEPS.newest);
      await pictured(page);
      const fit = await width(page);
      expect(fit).toBeLessThan(640);
      await page.keyboard.press('1');
      await expect.poll(() => width(page)).toBe(640);
      const box = (await stage(page).locator('img').first().boundingBox())!;
      await page.mouse.move(500, 330);
      await page.mouse.wheel(0, -400);
      await expect.poll(() => width(page)).toBeGreaterThan(700);
      const before = (await stage(page).locator('img').first().boundingBox())!;
      await page.mouse.down();
      await page.mouse.move(440, 290, { steps: 3 });
      await page.mouse.up();
      await expect
        .poll(async () => Math.round((await stage(page).locator('img').first().boundingBox())!.x - before.x))
        .toBe(-60);
      await page.keyboard.press('0');
      await expect.poll(() => width(page)).toBe(fit);
      expect(box.width).toBe(640);
    });

    test('links lead to a step, and Back and Forward go between steps', async () => {
      const page = await open(at(STEPS.changed));
      await shows(page, STEPS.changed);
      await row(page, STEPS.partial).click();
      await shows(page, STEPS.partial);
      await row(page, STEPS.patch).click();
      await shows(page, STEPS.patch);
      expect(await hashOf(page)).toBe(at(STEPS.patch));
      await page.goBack();
      await shows(page, STEPS.partial);
      await page.goBack();
      await shows(page, STEPS.changed);
      await page.goForward();
      await shows(page, STEPS.partial);
    });

    test('y copies a link that leads back to this step, also while the newest is followed', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      await page.keyboard.press('y');
      await expect
        .poll(() => page.evaluate(() => navigator.clipboard.readText().catch(() => '')))
        .toContain(at(STEPS.newest));
    });

    test('a search finds commands and facts, counts them, and leads from one to the next', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      await page.keyboard.press('/');
      await page.keyboard.type('green');
      // Facts of steps 2 and 12 say so, and nothing else.
      await expect.poll(() => list(page).getByRole('option').count()).toBe(2);
      await searchField(page).press('Enter');
      await shows(page, STEPS.changed);
      await searchField(page).press('Shift+Enter');
      await shows(page, STEPS.newest);
      await searchField(page).fill('no such words');
      await expect.poll(() => list(page).getByRole('option').count()).toBe(0);
      await searchField(page).fill('');
      await expect.poll(() => list(page).getByRole('option').count()).toBeGreaterThan(5);
    });

    test('keys go from step to step, to the ends, and through the tabs', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      for (const [key, index] of [
        ['ArrowLeft', 11],
        ['j', 10],
        ['k', 11],
        ['ArrowRight', 12],
        ['Home', 1],
        ['End', 12],
      ] as const) {
        await page.keyboard.press(key);
        await shows(page, index);
      }
      const chosen = () => page.getByRole('tab', { selected: true }).textContent();
      const before = await chosen();
      await page.keyboard.press(']');
      expect(await chosen()).not.toBe(before);
      await page.keyboard.press('[');
      expect(await chosen()).toBe(before);
    });

    test('all can be done without a mouse', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      // From control to control, each of which shows that it has the focus.
      const reached = new Set<string>();
      for (let press = 0; press < 40; press++) {
        await page.keyboard.press('Tab');
        const focus = await page.evaluate(() => {
          const element = document.activeElement;
          const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
          const parent = getComputedStyle(element.parentElement ?? element);
          const seen =
            (outlineStyle !== 'none' && outlineWidth !== '0px') ||
            boxShadow !== 'none' ||
            parent.borderColor !== 'rgb(0, 0, 0)';
          return { role: element.getAttribute('role') ?? element.localName, seen };
        });
        expect(focus.seen, focus.role).toBe(true);
        reached.add(focus.role);
      }
      for (const role of ['input', 'button', 'listbox', 'tab', 'slider'])
        expect([...reached]).toContain(role);
      await list(page).focus();
      await page.keyboard.press('ArrowDown');
      await shows(page, STEPS.sound);
      await page.keyboard.press('ArrowDown');
      await shows(page, STEPS.patch);
      await tab(page, 'Preview').focus();
      for (let press = 0; press < 6; press++) {
        if ((await tab(page, 'Changes').getAttribute('aria-selected')) === 'true') break;
        await page.keyboard.press('ArrowRight');
      }
      expect(await tab(page, 'Changes').getAttribute('aria-selected')).toBe('true');
      await page.getByRole('slider').focus();
      await page.keyboard.press('ArrowLeft');
      await shows(page, STEPS.lost);
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page
        .getByRole('dialog')
        .waitFor({ state: 'detached' })
        .catch(() => {});
      expect(await page.locator('dialog[open]').count()).toBe(0);
    });

    test('the theme turns by key, and is remembered', async () => {
      const page = await open('', { theme: 'light' });
      await shows(page, STEPS.newest);
      const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(await theme()).toBe('light');
      const light = await ground();
      await page.keyboard.press('t');
      await expect.poll(theme).toBe('dark');
      expect(await ground()).not.toBe(light);
      await page.reload();
      await shows(page, STEPS.newest);
      expect(await theme()).toBe('dark');
    });

    test('Verify says that a step is what was recorded', async () => {
      const page = await open(at(STEPS.changed));
      await shows(page, STEPS.changed);
      const button = details(page).getByRole('button', { name: 'Verify' });
      if (name === 'live' || (await button.count()) > 0) await button.click();
      await details(page)
        .getByText(/✓ verified/i)
        .waitFor();
    });

    test('it plays from the first step to the newest', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      await page.getByRole('combobox', { name: /speed|steps per second/i }).selectOption('8');
      await page.getByRole('button', { name: 'Play' }).click();
      await shows(page, STEPS.changed);
      await shows(page, STEPS.newest);
      await page.getByRole('button', { name: 'Play' }).waitFor();
    });

    test('scrubbing the filmstrip shows what is under the pointer', async () => {
      const page = await open();
      await shows(page, STEPS.newest);
      const box = (await page.getByRole('slider').boundingBox())!;
      await page.mouse.move(box.x + 2, box.y + box.height / 2);
      await page.mouse.down();
      await shows(page, STEPS.first);
      await page.mouse.move(box.x + box.width * (1.5 / 12), box.y + box.height / 2);
      await shows(page, STEPS.changed);
      await page.mouse.up();
    });

    test('at 360 px it is shown one column at a time, and nothing is cut off', async () => {
      const page = await open(at(STEPS.partial), { width: 360, height: 740, touch: true });
      await pictured(page);
      for (const [view, seen] of [
        ['Steps', list(page)],
        [/Facts|Details/, details(page)],
        ['Picture', stage(page)],
      ] as const) {
        await page.getByRole('button', { name: view, exact: typeof view === 'string' }).click();
        await seen.waitFor({ state: 'visible' });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
      }
    });

    for (const theme of ['dark', 'light'] as const)
      test(`axe finds nothing serious, ${theme}`, async () => {
        const page = await open(at(STEPS.partial), { theme });
        await shows(page, STEPS.partial);
        await pictured(page);
        for (const each of ['Preview', 'Compare', 'Terminal', 'Changes', 'Files', 'Raw']) {
          await tab(page, each).click();
          await page.getByRole('tabpanel').waitFor();
          expect(await serious(page), each).toEqual([]);
        }
        await page.keyboard.press('?');
        await page.getByRole('dialog').waitFor();
        expect(await serious(page), 'help').toEqual([]);
      });

    test('each main state in both themes and at 360 px, to be looked at', async () => {
      mkdirSync(SCREENS, { recursive: true });
      for (const [size, view] of Object.entries<View>({
        wide: { width: 1440, height: 900 },
        narrow: { width: 360, height: 740, touch: true },
      }))
        for (const theme of ['dark', 'light'] as const) {
          const page = await open(at(STEPS.newest), { ...view, theme });
          const shot = (state: string) =>
            page.screenshot({ path: join(SCREENS, `${name}-${state}-${size}-${theme}.png`) });
          await pictured(page);
          await shot('picture');
          for (const [state, hash] of [
            ['gallery', at(STEPS.partial)],
            ['hostile', at(STEPS.hostile)],
            ['failed', at(STEPS.failed)],
            ['lost', at(STEPS.lost)],
            ['sound', at(STEPS.sound)],
            ['page', at(STEPS.page)],
            ['files', at(STEPS.patch, '?tab=files')],
            ['changes', at(STEPS.changed, '?tab=changes')],
            ['patch', at(STEPS.patch, '?tab=changes')],
            ['terminal', at(STEPS.patch, '?tab=terminal')],
            ['raw', at(STEPS.patch, '?tab=raw')],
            ['compare', at(STEPS.newest, '?tab=compare')],
          ] as const) {
            await page.evaluate((to) => {
              location.hash = to;
            }, hash);
            await page.waitForFunction((to) => location.hash === to, hash);
            await settled(page);
            await shot(state);
          }
          if (size === 'narrow')
            for (const [state, view] of [
              ['steps', 'Steps'],
              ['details', /Facts|Details/],
            ] as const) {
              await page.getByRole('button', { name: view, exact: typeof view === 'string' }).click();
              await shot(state);
            }
          await page.keyboard.press('?');
          await page.getByRole('dialog').waitFor();
          await shot('help');
        }
    });
  });
}
