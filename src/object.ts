// What a parsed JSON value is. Alone in a file, since the page needs it too and reads no files.

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
