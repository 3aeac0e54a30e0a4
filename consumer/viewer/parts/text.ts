// Text and logs, with the colours that a terminal would have given them.
import { registerPart } from '../parts.js';
import { partOf } from '../show/part.js';
import { showText } from '../show/textview.js';

registerPart(
  'text',
  partOf('text', 100e6, ({ root, bytes, signal }) => showText(root, bytes, signal, { coloured: true })),
);
