// What is asked of a page once it stands there: whether it is wider than its window, and what a screen reader would miss.
import type { Page } from 'playwright-core';
import { named } from '../names.js';

export type Overflow = { width: number; by: string } | null;

// These run in the page, whose types this program does not have: they are texts.
const NAME = `const name = (element) => element.tagName.toLowerCase() + (element.id ? '#' + element.id : element.classList.length ? '.' + element.classList[0] : '');`;

const OVERFLOW = `(() => { ${NAME}
  const width = document.documentElement.scrollWidth;
  if (width <= innerWidth + 1) return null;
  let widest = null, right = innerWidth;
  for (const element of document.body.querySelectorAll('*')) {
    const edge = element.getBoundingClientRect().right;
    if (edge > right + 0.5) { right = edge; widest = element; }
  }
  return { width, by: widest ? name(widest) : '' };
})()`;

const LACKS = `(() => { ${NAME}
  const all = (selector) => [...document.querySelectorAll(selector)];
  const text = (element) => (element.getAttribute('aria-label') || element.textContent || element.title || '').trim()
    || [...element.querySelectorAll('img[alt]')].map((image) => image.alt).join('').trim()
    || (element.getAttribute('aria-labelledby') ? 'named' : '');
  return {
    alt: all('img:not([alt]):not([role=presentation]):not([aria-hidden=true])').map(name),
    label: all('input:not([type=hidden]):not([type=submit]):not([type=button]):not([type=reset]):not([type=image]),select,textarea')
      .filter((field) => !field.labels?.length && !field.getAttribute('aria-label') && !field.getAttribute('aria-labelledby') && !field.title).map(name),
    name: all('a[href],button').filter((element) => text(element) === '').map(name),
    lang: !document.documentElement.lang,
    title: document.title.trim() === '',
  };
})()`;

/** How wide the page is where that is more than its window, and which element reaches furthest. */
export const overflowOf = (page: Page): Promise<Overflow> => page.evaluate(OVERFLOW);

/** What people who do not see the page would miss, as warnings. */
export async function lacksOf(page: Page): Promise<string[]> {
  const { alt, label, name, lang, title } = await page.evaluate<{
    alt: string[];
    label: string[];
    name: string[];
    lang: boolean;
    title: boolean;
  }>(LACKS);
  const said = (elements: string[], lack: string) =>
    elements.length > 0
      ? [`accessibility: ${elements.length} without ${lack} (${named([...new Set(elements)])})`]
      : [];
  return [
    ...said(alt, 'alternative text'),
    ...said(label, 'a label'),
    ...said(name, 'words to name them'),
    ...(lang ? ['accessibility: the page does not say its language (lang)'] : []),
    ...(title ? ['accessibility: the page has no title'] : []),
  ];
}
