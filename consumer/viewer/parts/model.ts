// A model that can be turned: glTF, STL and OBJ.
import { registerPart } from '../parts.js';
import { button, el, toggle } from '../show/dom.js';
import { MODEL_BYTES, readModel } from '../show/modelfile.js';
import { modelView } from '../show/modelview.js';
import { partOf, type Scene } from '../show/part.js';
import { count, length } from '../show/words.js';

/** An arrow key turns by so much. */
const TURN = Math.PI / 18;
const SIDES: Record<string, [number, number, number]> = {
  Fit: [1, 0.75, 1.4],
  Front: [0, 0, 1],
  Right: [1, 0, 0],
  Top: [0, 1, 0.0001],
};

registerPart('model', partOf('model', MODEL_BYTES, show));

async function show({ root, bytes, input, signal, onTheme, onCamera }: Scene): Promise<void> {
  const model = await readModel(input.file.media_type, bytes);
  if (signal.aborted) return;
  const view = modelView(model, input.theme);
  signal.addEventListener('abort', () => view.close(), { once: true });
  onTheme(view.retheme);
  void view.sized.then(() => onCamera(view));

  const unit = model.unit === '' ? ' units' : ` ${model.unit}`;
  const size = `${view.size.toArray().map(length).join(' × ')}${unit}`;
  const said = [size, count(view.triangles, 'triangle')];
  if (model.animations > 0) said.push(`${count(model.animations, 'animation')}, not played`);
  const { canvas } = view;
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `Model, ${said.join(', ')}. Arrow keys turn it, plus and minus zoom.`);
  const lost = el('p', { class: 'part-note', role: 'alert', hidden: true });
  lost.append('The browser has taken away what this was drawn with. Show it again to go on.');
  canvas.addEventListener('webglcontextlost', () => (lost.hidden = false), { signal });
  canvas.addEventListener('webglcontextrestored', () => (lost.hidden = true), { signal });
  canvas.addEventListener(
    'keydown',
    (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const keys: Record<string, () => void> = {
        ArrowLeft: () => view.turn(-TURN, 0),
        ArrowRight: () => view.turn(TURN, 0),
        ArrowUp: () => view.turn(0, TURN),
        ArrowDown: () => view.turn(0, -TURN),
        '+': () => view.zoom(0.85),
        '=': () => view.zoom(0.85),
        '-': () => view.zoom(1 / 0.85),
        '0': () => view.from(...SIDES['Fit']!),
      };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      event.stopPropagation();
      act();
    },
    { signal },
  );
  root.append(
    el('div', { class: 'model-stage' }, canvas, lost),
    el(
      'div',
      { class: 'part-bar' },
      el('span', { class: 'part-said' }, said.join(', ')),
      ...(view.hasEdges ? [toggle('Edges', true, signal, view.edges)] : []),
      ...Object.entries(SIDES).map(([name, side]) => button(name, signal, () => view.from(...side))),
    ),
  );
}
