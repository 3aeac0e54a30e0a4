// Loads the script of a part, once, with the style sheet of all parts; in an export both are in the page already.
import type { PartOf } from './parts.js';
import type { ScriptName } from './shownas.js';

/** Rejects where the script cannot be had; asked again, it tries again. */
export function loadPart<Name extends ScriptName>(name: Name): Promise<PartOf<Name>> {
  const here = globalThis.previewParts?.[name];
  if (here) return Promise.resolve(here);
  if (!document.querySelector('link[href="part.css"]')) {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = 'part.css';
    document.head.append(link);
  }
  return new Promise((done, failed) => {
    const script = document.createElement('script');
    script.src = `part-${name}.js`;
    const end = () => {
      script.remove();
      const part = globalThis.previewParts?.[name];
      if (part) done(part);
      else failed(new Error(`The part of the page that shows this (${name}) could not be loaded.`));
    };
    script.addEventListener('load', end);
    script.addEventListener('error', end);
    document.head.append(script);
  });
}
