// One fact over the steps, as a line; a click goes to the step.
import { useEffect, useState } from 'preact/hooks';
import type { Series } from '../../src/stream.js';
import type { State } from './state.js';
import { factText, visible } from './words.js';

const [WIDTH, HEIGHT, EDGE] = [260, 72, 4];

export function FactSeries({ state, fact }: { state: State; fact: string }) {
  const [points, setPoints] = useState<Series | string>('…');
  const total = state.total.value;
  useEffect(() => {
    let gone = false;
    state.source.series(fact).then(
      (found) => {
        if (!gone) setPoints(found);
      },
      (error: Error) => {
        if (!gone) setPoints(error.message);
      },
    );
    return () => {
      gone = true;
    };
  }, [fact, total, state.session.value?.key]);
  if (typeof points === 'string') return <p class="dim small">{points}</p>;
  if (points.length < 2) return <p class="dim small">Only one step has a number here.</p>;
  const values = points.map(([, value]) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [first, last] = [points[0]![0], points.at(-1)![0]];
  const x = (index: number) => EDGE + ((index - first) / Math.max(1, last - first)) * (WIDTH - 2 * EDGE);
  const y = (value: number) =>
    high === low ? HEIGHT / 2 : HEIGHT - EDGE - ((value - low) / (high - low)) * (HEIGHT - 2 * EDGE);
  // Between two steps a fact keeps its value: the line has corners.
  const path = points
    .map(([index, value], at) => (at === 0 ? `M${x(index)} ${y(value)}` : `H${x(index)}V${y(value)}`))
    .join('');
  const selected = state.selected.value;
  const held = points.findLast(([index]) => index <= selected);
  const to = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * WIDTH;
    const index = first + ((share - EDGE) / (WIDTH - 2 * EDGE)) * (last - first);
    const nearest = points.reduce((a, b) => (Math.abs(b[0] - index) < Math.abs(a[0] - index) ? b : a));
    state.select(nearest[0]);
  };
  return (
    <div class="series">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the slider and the arrow keys go to steps too */}
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${visible(fact)} over the steps, from ${factText(low)} to ${factText(high)}`}
        onClick={to}
      >
        <path class="series-line" d={path} />
        {held ? (
          <circle
            class="series-here"
            cx={Math.min(WIDTH - EDGE, Math.max(EDGE, x(selected)))}
            cy={y(held[1])}
            r="3.5"
          />
        ) : null}
      </svg>
      <p class="dim small series-ends">
        <span>{factText(low)} least</span>
        <span>{factText(high)} most</span>
      </p>
    </div>
  );
}
