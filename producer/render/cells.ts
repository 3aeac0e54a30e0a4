// What a notebook (nbformat 4) says of its cells.
import { failure } from './programs.js';

export type Cells = {
  all: number;
  code: number;
  executed: number;
  /** `cell 3: ZeroDivisionError: division by zero` */
  errors: string[];
  /** Whether its texts have TeX formulas. */
  formulas: boolean;
};

type Cell = {
  cell_type?: string;
  source?: string | string[];
  execution_count?: number | null;
  outputs?: { output_type?: string; ename?: string; evalue?: string }[];
};

const textOf = (source: Cell['source']) => (Array.isArray(source) ? source.join('') : (source ?? ''));

/** Throws a `Failure` where it is no notebook. */
export function cellsOf(json: string, path: string): Cells {
  let cells: Cell[];
  try {
    cells = (JSON.parse(json) as { cells: Cell[] }).cells ?? [];
  } catch {
    // SyntaxError: nbconvert would have said so; it is not guessed at.
    throw failure(`${path} is no notebook`);
  }
  // One that is empty has nothing to run.
  const code = cells.filter((cell) => cell.cell_type === 'code' && textOf(cell.source).trim() !== '');
  return {
    all: cells.length,
    code: code.length,
    executed: code.filter((cell) => cell.execution_count != null).length,
    errors: cells.flatMap((cell, n) =>
      (cell.outputs ?? [])
        .filter(({ output_type }) => output_type === 'error')
        .map(({ ename, evalue }) => `cell ${n + 1}: ${ename}: ${evalue}`),
    ),
    formulas: cells.some(
      (cell) => cell.cell_type === 'markdown' && /\$[^$\s][^$]*\$|\\\(|\\begin\{/.test(textOf(cell.source)),
    ),
  };
}
