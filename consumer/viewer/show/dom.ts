// Elements made by calls, never by HTML: what is recorded gets into the page as text nodes only, and the page's policy
// (style-src 'self') allows no style attributes.

type Attributes = Record<string, string | number | boolean | undefined>;

/** An element with attributes (true: present, false or undefined: absent) and children. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  element.append(...children);
  return element;
}

/** A button that says what it does. */
export function button(label: string, signal: AbortSignal, act: () => void): HTMLButtonElement {
  const made = el('button', { type: 'button', class: 'part-button' }, label);
  made.addEventListener('click', act, { signal });
  return made;
}

/** A button that is pressed or not; `act` is told which, and called once at first. */
export function toggle(
  label: string,
  pressed: boolean,
  signal: AbortSignal,
  act: (pressed: boolean) => void,
): HTMLButtonElement {
  const made = button(label, signal, () => show(made.getAttribute('aria-pressed') !== 'true'));
  const show = (now: boolean) => {
    made.setAttribute('aria-pressed', String(now));
    act(now);
  };
  show(pressed);
  return made;
}

/** Keys by which what has the focus is scrolled: the page, which has other uses for them, is not told. */
const SCROLLING = ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', ' '];

/** A place that scrolls, reached by keyboard and named. Keys in `used` have another use in the part itself. */
export function scroller(label: string, signal: AbortSignal, used: readonly string[] = []): HTMLDivElement {
  const made = el('div', { class: 'part-scroll', role: 'region', 'aria-label': label, tabindex: 0 });
  made.addEventListener(
    'keydown',
    (event) => {
      const isKept = SCROLLING.includes(event.key) && !used.includes(event.key);
      if (event.target === made && isKept) event.stopPropagation();
    },
    { signal },
  );
  return made;
}
