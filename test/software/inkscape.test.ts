// The recipe `inkscape` on an example that Inkscape ships, and on what only Inkscape draws.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith, look, withPrograms } from './program.js';

const CAR = '/usr/share/inkscape/examples/car.svgz';

withPrograms('inkscape', { inkscape: 'inkscape' }, () => {
  test('every SVG by Inkscape itself, on white; a flowed text, which browsers do not know, is there', async () => {
    const project = join(temporary(), 'project');
    // SVG 1.2's flowRoot was never adopted: Inkscape wrote it for years, and draws it still.
    const flowed =
      '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><flowRoot font-size="40"><flowRegion><rect x="10" y="10" width="180" height="80"/></flowRegion><flowPara>Flow</flowPara></flowRoot></svg>';
    write(project, {
      'flow.svg': flowed,
      ...(existsSync(CAR) ? { 'more/car.svgz': readFileSync(CAR) } : {}),
    });
    const { result, manifest, facts, of, file } = await captureWith(project, 'inkscape');
    expect(result).toMatchObject({ status: 'ok', warnings: [] });
    expect(manifest['generator'].backend).toMatch(/^Inkscape 1/);
    const hero = look(file(of('hero')[0]!));
    expect([hero.width, hero.height]).toEqual([1280, 640]);
    expect([...hero.pixels.subarray(0, 4)]).toEqual([255, 255, 255, 255]);
    expect(hero.inked).toBeGreaterThan(0.02);
    expect(of('hero')).toMatchObject([{ label: 'flow.svg' }]);
    const width = facts['drawn_width'] ?? facts['flow.drawn_width'];
    expect(width).toBeGreaterThan(50);
    expect(width).toBeLessThan(180);
    if (!existsSync(CAR)) return;
    expect(of('gallery')).toMatchObject([{ label: 'more/car.svgz' }]);
    expect(look(file(of('gallery')[0]!)).colours).toBeGreaterThan(200);
  });
});
