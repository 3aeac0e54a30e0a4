// A picture that zooms and pans: by wheel and pinch, by drag, by keys. Nothing is animated.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownFile } from '../../src/stream.js';

interface View {
  /** Screen pixels per picture pixel; null: as large as fits. */
  scale: number | null;
  x: number;
  y: number;
}
const FIT: View = { scale: null, x: 0, y: 0 };
const [SMALLEST, LARGEST] = [0.02, 32];
/** From this scale on pixels are shown as squares. */
const SQUARES = 2;

export function Picture({
  url,
  file,
  alt,
  small,
}: {
  url: string;
  file: ShownFile;
  alt: string;
  small: string | null;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const image = useRef<HTMLImageElement>(null);
  const [view, setView] = useState(FIT);
  const [size, setSize] = useState({ width: file.width ?? 0, height: file.height ?? 0 });
  const [room, setRoom] = useState({ width: 0, height: 0 });
  const [broken, setBroken] = useState(false);

  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setRoom({ width, height });
    });
    watch.observe(frame.current!);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    setBroken(false);
    setSize({ width: file.width ?? 0, height: file.height ?? 0 });
  }, [url]);

  const fit =
    size.width > 0 && room.width > 0 ? Math.min(1, room.width / size.width, room.height / size.height) : 1;
  const scale = view.scale ?? fit;
  const bounded = (next: View): View => {
    if (next.scale === null) return FIT;
    const spare = (length: number, space: number) => Math.max(0, (length * next.scale! - space) / 2 + 40);
    const [x, y] = [spare(size.width, room.width), spare(size.height, room.height)];
    return { ...next, x: Math.min(x, Math.max(-x, next.x)), y: Math.min(y, Math.max(-y, next.y)) };
  };
  /** Zooms so that the point (from the middle of the frame) stays where it is. */
  const zoom = (by: number, px = 0, py = 0) =>
    setView((old) => {
      const from = old.scale ?? fit;
      const to = Math.min(LARGEST, Math.max(SMALLEST, from * by));
      const ratio = to / from;
      return bounded({ scale: to, x: px - (px - old.x) * ratio, y: py - (py - old.y) * ratio });
    });
  const pan = (dx: number, dy: number) =>
    setView((old) => bounded({ scale: old.scale ?? fit, x: old.x + dx, y: old.y + dy }));

  useEffect(() => {
    const element = frame.current!;
    // Not by JSX: only a listener that is not passive may keep the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = element.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
      zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), x, y);
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
      const by: Record<string, () => void> = {
        '+': () => zoom(1.25),
        '=': () => zoom(1.25),
        '-': () => zoom(0.8),
        '0': () => setView(FIT),
        '1': () => setView(bounded({ scale: 1, x: 0, y: 0 })),
      };
      const moves: Record<string, [number, number]> = {
        ArrowLeft: [60, 0],
        ArrowRight: [-60, 0],
        ArrowUp: [0, 60],
        ArrowDown: [0, -60],
      };
      const act = event.shiftKey && moves[event.key] ? () => pan(...moves[event.key]!) : by[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });

  const drag = useRef<{ id: number; x: number; y: number } | null>(null);
  const fingers = useRef(new Map<number, { x: number; y: number }>());
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    frame.current!.setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    drag.current = { id: event.pointerId, x: event.clientX, y: event.clientY };
  };
  const onPointerMove = (event: PointerEvent) => {
    const held = fingers.current;
    const before = held.get(event.pointerId);
    if (!before) return;
    if (held.size === 2) {
      const other = [...held].find(([id]) => id !== event.pointerId)![1];
      const apart = (point: { x: number; y: number }) => Math.hypot(point.x - other.x, point.y - other.y);
      zoom(apart({ x: event.clientX, y: event.clientY }) / Math.max(1, apart(before)));
    } else pan(event.clientX - before.x, event.clientY - before.y);
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };
  const onPointerUp = (event: PointerEvent) => {
    fingers.current.delete(event.pointerId);
    drag.current = null;
  };

  const shown = size.width > 0 ? { width: size.width * scale, height: size.height * scale } : null;
  useEffect(() => {
    const style = image.current?.style;
    if (!style) return;
    style.width = shown ? `${shown.width}px` : '';
    style.height = shown ? `${shown.height}px` : '';
    style.transform = `translate(${Math.round(view.x)}px, ${Math.round(view.y)}px)`;
    style.imageRendering = scale >= SQUARES ? 'pixelated' : '';
  });
  return (
    <div class="picture">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys do the same, listed in help */}
      <div
        ref={frame}
        class={`picture-frame${view.scale === null ? '' : ' zoomed'}`}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={onPointerUp}
        onDblClick={() => setView(view.scale === null ? bounded({ scale: 1, x: 0, y: 0 }) : FIT)}
      >
        {broken ? (
          <p class="empty">This picture cannot be shown. It is listed under Files.</p>
        ) : (
          <img
            ref={image}
            src={url}
            alt={alt}
            draggable={false}
            decoding="async"
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
              if (naturalWidth > 0) setSize({ width: naturalWidth, height: naturalHeight });
            }}
            onError={() => setBroken(true)}
          />
        )}
      </div>
      <div class="picture-bar">
        <span class="spread">{small}</span>
        <span>{size.width > 0 ? `${size.width} × ${size.height}` : ''}</span>
        <button
          type="button"
          class="plain"
          onClick={() => setView(view.scale === null ? bounded({ scale: 1, x: 0, y: 0 }) : FIT)}
          title="fit (0) or 100% (1)"
        >
          {Math.round(scale * 100)}%
        </button>
      </div>
    </div>
  );
}
