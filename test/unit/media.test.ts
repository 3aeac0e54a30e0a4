// What a file is: content beats name.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { detectMedia } from '../../src/media.js';
import { png, svg, temporary, write } from '../helpers/project.js';

const latin = (text: string) => Buffer.from(text, 'latin1');
const dir = temporary();
const check = (content: string | Buffer, name: string) => {
  write(dir, { file: content });
  return detectMedia(join(dir, 'file'), name);
};
const gif = latin('GIF89a\x05\x00\x03\x00\x80\x00\x00');
const webp = Buffer.concat([
  latin('RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x04\x80\x00\x00'),
  Buffer.alloc(16),
]);

describe('content beats name', () => {
  test.each([
    [
      'a PNG called .jpg',
      png(7, 5),
      'photo.jpg',
      { media_type: 'image/png', kind: 'image', ext: 'png', width: 7, height: 5 },
    ],
    [
      'a PNG without extension',
      png(3, 2),
      'photo',
      { media_type: 'image/png', ext: 'png', width: 3, height: 2 },
    ],
    ['a GIF called .png', gif, 'x.png', { media_type: 'image/gif', ext: 'gif', width: 5, height: 3 }],
    ['a WebP called .png', webp, 'x.png', { media_type: 'image/webp', ext: 'webp' }],
    [
      'an MP4 called .avi',
      latin('\0\0\0\x18ftypmp42\0\0\0\0'),
      'x.avi',
      { media_type: 'video/mp4', kind: 'clip', ext: 'mp4' },
    ],
    [
      'an SVG called .txt',
      svg(),
      'x.txt',
      { media_type: 'image/svg+xml', ext: 'svg', width: 32, height: 24 },
    ],
    [
      'an SVG behind a prologue',
      `\ufeff<?xml version="1.0"?>\n<!-- a --><!DOCTYPE svg>\n${svg()}`,
      'x',
      { media_type: 'image/svg+xml', ext: 'svg' },
    ],
    ['a text called .png', 'no picture at all', 'x.png', { media_type: 'text/plain', kind: 'text' }],
    ['a text called .svg', 'no picture at all', 'x.svg', { media_type: 'text/plain', kind: 'text' }],
    [
      'an HTML page with an svg in it called .html',
      `<html><body>${svg()}</body></html>`,
      'x.html',
      { media_type: 'text/html', kind: 'text' },
    ],
    [
      'binary called .txt',
      Buffer.from([1, 2, 0, 3]),
      'x.bin',
      { media_type: 'application/octet-stream', kind: 'capture', ext: 'bin' },
    ],
    ['a GLB', latin('glTF\x02\0\0\0'), 'x', { media_type: 'model/gltf-binary', kind: 'model', ext: 'glb' }],
    ['a PDF', latin('%PDF-1.7'), 'x', { media_type: 'application/pdf', ext: 'pdf' }],
  ])('%s', (_name, content, name, expected) => expect(check(content, name)).toMatchObject(expected));
});

describe('the name decides where content cannot', () => {
  test.each([
    ['{"a":1}', 'x.json', 'application/json', 'json', 'json'],
    ['solid cube', 'x.stl', 'model/stl', 'model', 'stl'],
    ['# x', 'README.MD', 'text/markdown', 'text', 'md'],
    ['a,b', 'x.csv', 'text/csv', 'text', 'csv'],
    ['--- a', 'x.patch', 'text/x-diff', 'text', 'patch'],
    ['PK\x03\x04rest', 'part.3mf', 'model/3mf', 'model', '3mf'],
    ['PK\x03\x04rest', 'x.dat', 'application/zip', 'capture', 'zip'],
    ['fn main() {}', 'main.rs', 'text/plain', 'text', 'rs'],
    ['x', 'strange.a-b', 'text/plain', 'text', 'txt'],
    ['x', 'long.abcdefghijkl', 'text/plain', 'text', 'txt'],
    ['', 'empty', 'text/plain', 'text', 'txt'],
  ])('%j called %s', (content, name, media_type, kind, ext) =>
    expect(check(latin(content), name)).toMatchObject({ media_type, kind, ext }),
  );
});

test('a cut or hostile header gives a picture without its size', () => {
  for (const content of [
    png().subarray(0, 12),
    latin('GIF8'),
    latin('\xff\xd8\xff'),
    latin('\x89PNG\r\n\x1a\n\xff\xff\xff\xff'),
  ]) {
    const media = check(content, 'x.png');
    expect(media.kind).toBe('image');
    expect(media.width).toBeUndefined();
  }
});

test('a text called .png gets no picture extension', () => {
  const { ext, media_type } = check('no picture', 'x.png');
  expect([ext, media_type]).toEqual(['txt', 'text/plain']);
});
