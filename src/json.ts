// Reading JSON that may be damaged: the value or a problem, never an exception about its content.
import { readRegular } from './disk.js';
import { errnoOf } from './errors.js';
import { isObject, type JsonObject } from './object.js';
import type { Problem } from './schema.js';

export { isObject, type JsonObject } from './object.js';

/**
 * The JSON object in a file. A missing, empty, cut or otherwise unreadable one is a problem; a failing
 * disk (anything but ENOENT and its like) is thrown, for it says nothing about what is recorded.
 */
export function readJsonObject(
  path: string,
  where: string,
): { value: JsonObject | null; problems: Problem[]; text: string } {
  let text: string;
  try {
    text = readRegular(path).toString('utf8');
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENXIO', 'ENAMETOOLONG'].includes(errnoOf(error) ?? ''))
      throw error;
    return { value: null, problems: [{ kind: 'missing', where, detail: 'the file is not there' }], text: '' };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { value, problems: [], text };
    return { value: null, problems: [{ kind: 'invalid', where, detail: 'it holds no JSON object' }], text };
  } catch (error) {
    const detail = text === '' ? 'the file is empty' : `it is not JSON: ${(error as Error).message}`;
    return { value: null, problems: [{ kind: 'invalid', where, detail }], text };
  }
}
