// Two pictures of which one ends at a line.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Size, useZoom } from './zoom.js';

interface SwipeProps {
  split: number;
  setSplit(split: number): void;
  zoom: ReturnType<typeof useZoom>;
  size: Size;
  /** Draws both, the one on top cut at a column of the pictures. */
  children(cut: number): preact.ComponentChildren;
}

/** The line between both pictures, which is dragged; arrows move it. It stays where it is while the pictures zoom. */
export function Swipe({ split, setSplit, zoom, size, children }: SwipeProps) {
  const area = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    watch.observe(area.current!);
    return () => watch.disconnect();
  }, []);
  const cut = ((split - 0.5) * width - zoom.x) / zoom.scale + size.width / 2;
  const to = (event: PointerEvent) => {
    const box = area.current!.getBoundingClientRect();
    setSplit(Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)));
  };
  return (
    <>
      {children(Math.max(0, cut))}
      <div class="swipe-area" ref={area}>
        <div
          class="swipe-line"
          role="slider"
          tabIndex={0}
          aria-label="Where the older picture ends"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(split * 100)}
          data-arrows
          ref={(element) => {
            if (element) element.style.left = `${split * 100}%`;
          }}
          onPointerDown={(event) => {
            event.stopPropagation();
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={(event) => {
            if (event.currentTarget.hasPointerCapture(event.pointerId)) to(event);
          }}
          onKeyDown={(event) => {
            const by = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
            if (!by || event.shiftKey) return;
            event.preventDefault();
            event.stopPropagation();
            setSplit(Math.min(1, Math.max(0, split + by)));
          }}
        >
          <span class="swipe-handle">⇆</span>
        </div>
      </div>
    </>
  );
}
