// The recipes `notebook` and `notebook-full`, with Jupyter's nbconvert and Chromium.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporary, write } from '../helpers/project.js';
import { captureWith, look, withPrograms } from './program.js';

const programs = {
  'jupyter-nbconvert': 'jupyter-nbconvert',
  chromium: 'chromium',
  'poppler-utils': 'pdftoppm',
};
const code = (source: string, execution_count: number | null, outputs: object[] = []) => ({
  ...{ cell_type: 'code', id: `c${source.length}`, metadata: {}, source, execution_count, outputs },
});
const notebook = (...cells: object[]) =>
  JSON.stringify({
    cells,
    metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } },
    ...{ nbformat: 4, nbformat_minor: 5 },
  });

withPrograms('notebook', programs, () => {
  test('as it is saved: its pages, its errors, and the cells that have not been run', async () => {
    const project = join(temporary(), 'project');
    const error = {
      output_type: 'error',
      ename: 'ZeroDivisionError',
      evalue: 'division by zero',
      traceback: ['it broke'],
    };
    write(project, {
      'study.ipynb': notebook(
        { cell_type: 'markdown', id: 'm', metadata: {}, source: '# Study\nof $x^2$' },
        code('6 * 7', 1, [
          { output_type: 'execute_result', execution_count: 1, data: { 'text/plain': '42' }, metadata: {} },
        ]),
        code('1 / 0', 2, [error]),
        code('print("later")', null),
      ),
    });
    const { result, summary, facts, of, file } = await captureWith(project, 'notebook');
    expect(summary['headline']).toBe('study.ipynb: 4 cells, 1 error, as saved');
    expect(facts).toMatchObject({
      cells: 4,
      code_cells: 3,
      executed_cells: 2,
      errors: 1,
      outputs: 'as saved',
      pages: 1,
    });
    expect(result['warnings']).toEqual([
      'left_out: study.ipynb: formulas stand as they are written; typesetting them needs the network',
      'cell_error: study.ipynb: cell 3: ZeroDivisionError: division by zero',
      'not_executed: study.ipynb: 1 of 3 code cells have not been run',
    ]);
    expect(look(file(of('hero')[0]!)).inked).toBeGreaterThan(0.01);
    const text = readFileSync(
      file(of('render-output').find(({ media_type }) => media_type === 'text/plain')!),
      'utf8',
    );
    for (const words of ['Study', '42', 'it broke']) expect(text).toContain(words);
  });
});

withPrograms(
  'notebook-full',
  { ...programs, 'python3-ipykernel': '/usr/lib/python3/dist-packages/ipykernel_launcher.py' },
  () => {
    test('is run anew for the picture, and the file stays as it is', async () => {
      const project = join(temporary(), 'project');
      const saved = notebook(code('print(6 * 7 * 1000)', null), code('nonsense', null));
      write(project, { 'a.ipynb': saved });
      const { result, facts, of, file } = await captureWith(project, 'notebook-full', {
        env: { HOME: project },
      });
      expect(facts).toMatchObject({ executed_cells: 2, errors: 1, outputs: 'executed for this picture' });
      expect(result['warnings']).toEqual([expect.stringMatching(/^cell_error: a\.ipynb: cell 2: NameError/)]);
      const text = readFileSync(
        file(of('render-output').find(({ media_type }) => media_type === 'text/plain')!),
        'utf8',
      );
      expect(text).toContain('42000');
      expect(readFileSync(join(project, 'a.ipynb'), 'utf8')).toBe(saved);
    });
  },
);
