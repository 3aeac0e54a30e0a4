// The recipe `graphviz` on a graph of our own and on what is wrong with one.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith, look, withPrograms } from './program.js';

withPrograms('graphviz', { graphviz: 'dot' }, () => {
  test('every graph is drawn, counted and kept as SVG', async () => {
    const project = join(temporary(), 'project');
    write(project, {
      'main.dot': 'digraph { rankdir=LR; subgraph cluster_a { page -> server }; server -> store; alone }',
      'more/tree.gv': 'graph { layout=neato; a -- b; a -- c }',
    });
    const { result, manifest, facts, of, file } = await captureWith(project, 'graphviz');
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(manifest['generator'].backend).toMatch(/graphviz version/);
    expect(facts).toEqual({
      ...{ 'main.nodes': 4, 'main.edges': 2, 'main.components': 2, 'main.clusters': 1 },
      ...{ 'tree.nodes': 3, 'tree.edges': 2, 'tree.components': 1, 'tree.clusters': 0 },
    });
    expect(of('hero')).toMatchObject([{ label: 'main.dot', kind: 'image' }]);
    expect(of('gallery')).toMatchObject([{ label: 'more/tree.gv' }]);
    expect(of('render-output').map(({ media_type }) => media_type)).toEqual([
      'image/svg+xml',
      'image/svg+xml',
    ]);
    const { width, height, inked, reach } = look(file(of('hero')[0]!));
    expect(width).toBeGreaterThan(height);
    expect(inked).toBeGreaterThan(0.005);
    expect(Math.min(reach.x, reach.y)).toBeGreaterThan(0.7);
    // neato was asked for in the file itself: with dot, `a` would stand above `b` and `c`, and the picture be wide.
    const tree = look(file(of('gallery')[0]!));
    expect(tree.inked).toBeGreaterThan(0.005);
    expect((await captureWith(project, 'graphviz')).result['cached']).toBe(true);
  });

  test('what dot complains of is a warning; one graph that is none leaves the others their pictures', async () => {
    const project = join(temporary(), 'project');
    write(project, { 'a.dot': 'digraph { a [image="none.png"] }', 'b.dot': 'digraph { a -- b }' });
    const { result, of } = await captureWith(project, 'graphviz');
    expect(result['status']).toBe('partial');
    expect(result['warnings']).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          /^renderer_failed: b\.dot: dot ended with exit code 1: .*syntax error in line 1/,
        ),
        expect.stringMatching(/^graphviz_warned: No such file .*none\.png/),
      ]),
    );
    expect(of('hero')).toMatchObject([{ label: 'a.dot' }]);
  });
});
