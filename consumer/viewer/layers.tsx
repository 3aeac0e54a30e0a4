// What lies on compared pictures: whose they are, a changed region's frame, the changed pixels.
import { useEffect, useRef } from 'preact/hooks';
import type { Comparison } from '../../src/compare/pixels.js';
import type { ShownStep } from '../../src/stream.js';
import { drawMask } from './pixels.js';
import type { Size, useZoom } from './zoom.js';

export interface Side {
  url: string;
  step: ShownStep;
}

export function Tag({ side, right }: { side: Side; right?: boolean }) {
  return <span class={`tag${right ? ' right' : ''}`}>{side.step.step_id}</span>;
}

export function Box({
  box,
  zoom,
  size,
}: {
  box: { x: number; y: number; width: number; height: number };
  zoom: ReturnType<typeof useZoom>;
  size: Size;
}) {
  return (
    <span
      class="region"
      ref={(element) => {
        if (!element) return;
        const { scale } = zoom;
        element.style.width = `${box.width * scale + 6}px`;
        element.style.height = `${box.height * scale + 6}px`;
        const x = (box.x + box.width / 2 - size.width / 2) * scale + zoom.x;
        const y = (box.y + box.height / 2 - size.height / 2) * scale + zoom.y;
        element.style.transform = `translate(${x}px, ${y}px)`;
      }}
    />
  );
}

export function Mask({
  comparison,
  place,
  accent,
}: {
  comparison: Comparison;
  place(element: HTMLElement | null): void;
  accent: string;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    drawMask(
      canvas.current!,
      comparison,
      getComputedStyle(canvas.current!).getPropertyValue('--mark').trim(),
    );
  }, [comparison, accent]);
  return (
    <canvas
      class="mask"
      ref={(element) => {
        canvas.current = element;
        place(element);
      }}
    />
  );
}
