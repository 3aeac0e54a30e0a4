// JSON as text, for now whole.
import { registerPart } from '../parts.js';

registerPart('json', {
  mount(element, { file, source, onProblem }) {
    const pre = document.createElement('pre');
    element.append(pre);
    source.bytes(file).then(
      (bytes) => {
        pre.textContent = new TextDecoder().decode(bytes);
      },
      (error: Error) => onProblem(error.message),
    );
    return { unmount: () => pre.remove() };
  },
});
