// Which folders the watcher watches, and whose change it takes for a hint.
import { describe, expect, test } from 'vitest';
import { reachOf } from '../../producer/watch/reach.js';

const reach = (sources: string[] | undefined, exclude?: string[]) =>
  reachOf('/project', sources, exclude, '/project/.preview');

describe('folders', () => {
  test.each<[string[] | undefined, string[], string[]]>([
    [['rover.scad'], [''], ['parts', 'rover']],
    [
      ['parts/**/*.scad'],
      ['', 'parts', 'parts/a/b'],
      ['other', 'parts/.git', 'parts/node_modules/x', 'parts/.hidden'],
    ],
    [['*.svg'], [''], ['a']],
    [['a/*/c/*.svg'], ['', 'a', 'a/b', 'a/b/c'], ['a/b/c/d', 'b']],
    [['parts'], ['', 'parts', 'parts/deep/er'], ['part']],
    [
      ['a/b/*.txt', 'c'],
      ['a', 'a/b', 'c/d'],
      ['a/c', 'a/b/c'],
    ],
    [['.github/**'], ['.github', '.github/workflows'], ['.git']],
    [['**/.hidden/*'], ['a/.hidden'], ['.preview']],
    [['**/*.svg', '!old/**'], ['new'], ['.preview', '.preview/session_001', 'a/.preview']],
    [undefined, ['a', '.github', 'a/b'], ['.git', 'node_modules', 'a/node_modules', '.preview']],
  ])('of %j', (sources, within, without) => {
    const { folder } = reach(sources);
    expect([...within, ...without].filter(folder)).toEqual(within);
  });

  test('excluded ones are left out', () => {
    const { folder } = reach(undefined, ['build', 'out/**']);
    expect(['build', 'build/x', 'out/x', 'src'].filter(folder)).toEqual(['src']);
  });
});

describe('files', () => {
  test.each<[string[] | undefined, string[], string[]]>([
    [['rover.scad'], ['rover.scad', 'preview.config.json'], ['rover.log', 'parts/rover.scad']],
    [['parts/**/*.scad'], ['parts/a.scad', 'parts/b/c.scad'], ['a.scad', 'parts/a.stl']],
    [['parts'], ['parts/a/b'], ['part/a', 'a']],
    [['part[1].scad'], ['part1.scad'], ['part2.scad']],
    [undefined, ['a', '.a', 'b/c'], ['.preview/session_001/session.json']],
  ])('of %j', (sources, within, without) => {
    const { file } = reach(sources);
    expect([...within, ...without].filter(file)).toEqual(within);
  });
});
