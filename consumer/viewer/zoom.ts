// Zoom and pan of one picture, or of several that are looked at as one: by wheel and pinch, by drag, by keys. Nothing is
// animated. A frame is an element with the class `zoom-frame`; all frames within the wrapper have one size and one view.
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface Size {
  width: number;
  height: number;
}
interface View {
  /** Screen pixels per picture pixel; null: as large as fits. */
  scale: number | null;
  /** Of the picture's middle, from the frame's middle. */
  x: number;
  y: number;
}
const FIT: View = { scale: null, x: 0, y: 0 };
const [SMALLEST, LARGEST] = [0.02, 32];
/** From this scale on pixels are shown as squares. */
const SQUARES = 2;

export interface Zoom {
  scale: number;
  isFit: boolean;
  x: number;
  y: number;
  fit(): void;
  /** One picture pixel is one screen pixel. */
  whole(): void;
  /** Fit, or 100%. */
  toggle(): void;
  /** Brings a part of the picture into the middle, as large as sensible. */
  show(box: { x: number; y: number; width: number; height: number }): void;
  /** From a point on the screen to one in the picture, in its pixels. */
  pointAt(clientX: number, clientY: number, frame: Element): { x: number; y: number };
  pointer: {
    onPointerDown(event: PointerEvent): void;
    onPointerMove(event: PointerEvent): void;
    onPointerUp(event: PointerEvent): void;
    onPointerCancel(event: PointerEvent): void;
  };
  /** Places an element of the picture's size. */
  place(element: HTMLElement | null, size?: Size): void;
}

export function useZoom(wrapper: RefObject<HTMLElement | null>, size: Size, keys: { whole: boolean }): Zoom {
  const [view, setView] = useState(FIT);
  const [room, setRoom] = useState<Size>({ width: 0, height: 0 });
  const watched = useRef<{ frame: Element; stop(): void } | null>(null);
  // After each drawing, for another mode may have other frames; what is watched already is left alone.
  useEffect(() => {
    const frame = wrapper.current!.querySelector('.zoom-frame')!;
    if (watched.current?.frame === frame) return;
    watched.current?.stop();
    const watch = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setRoom((old) => (old.width === width && old.height === height ? old : { width, height }));
    });
    watch.observe(frame);
    watched.current = { frame, stop: () => watch.disconnect() };
  });
  useEffect(() => () => watched.current?.stop(), []);

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
      return bounded({ scale: to, x: px - ((px - old.x) * to) / from, y: py - ((py - old.y) * to) / from });
    });
  const pan = (dx: number, dy: number) =>
    setView((old) => bounded({ scale: old.scale ?? fit, x: old.x + dx, y: old.y + dy }));
  const whole = () => setView(bounded({ scale: 1, x: 0, y: 0 }));

  useEffect(() => {
    const element = wrapper.current!;
    // Not by JSX: only a listener that is not passive may keep the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      const frame = (event.target as Element).closest('.zoom-frame');
      if (!frame) return;
      event.preventDefault();
      const box = frame.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
      zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), x, y);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
      const act = event.shiftKey && MOVES[event.key] ? () => pan(...MOVES[event.key]!) : byKey[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    const byKey: Record<string, () => void> = {
      '+': () => zoom(1.25),
      '=': () => zoom(1.25),
      '-': () => zoom(0.8),
      '0': () => setView(FIT),
      ...(keys.whole ? { '1': whole } : {}),
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    addEventListener('keydown', onKey);
    return () => {
      element.removeEventListener('wheel', onWheel);
      removeEventListener('keydown', onKey);
    };
  });

  const fingers = useRef(new Map<number, { x: number; y: number }>());
  const release = (event: PointerEvent) => {
    fingers.current.delete(event.pointerId);
  };
  return {
    scale,
    isFit: view.scale === null,
    x: view.x,
    y: view.y,
    fit: () => setView(FIT),
    whole,
    toggle: () => (view.scale === null ? whole() : setView(FIT)),
    show(box) {
      const wanted = Math.min(room.width / (box.width * 2), room.height / (box.height * 2));
      const to = Math.min(4, Math.max(fit, wanted));
      const [x, y] = [box.x + box.width / 2 - size.width / 2, box.y + box.height / 2 - size.height / 2];
      setView(bounded({ scale: to, x: -x * to, y: -y * to }));
    },
    pointAt(clientX, clientY, frame) {
      const box = frame.getBoundingClientRect();
      return {
        x: (clientX - box.left - box.width / 2 - view.x) / scale + size.width / 2,
        y: (clientY - box.top - box.height / 2 - view.y) / scale + size.height / 2,
      };
    },
    pointer: {
      onPointerDown(event) {
        if (event.button !== 0) return;
        (event.currentTarget as Element).setPointerCapture(event.pointerId);
        fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      },
      onPointerMove(event) {
        const held = fingers.current;
        const before = held.get(event.pointerId);
        if (!before) return;
        const now = { x: event.clientX, y: event.clientY };
        const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
        if (other) {
          const apart = (point: typeof now) => Math.hypot(point.x - other.x, point.y - other.y);
          zoom(apart(now) / Math.max(1, apart(before)));
        } else pan(now.x - before.x, now.y - before.y);
        held.set(event.pointerId, now);
      },
      onPointerUp: release,
      onPointerCancel: release,
    },
    place(element, own = size) {
      if (!element || own.width === 0) return;
      const { style } = element;
      style.width = `${own.width * scale}px`;
      style.height = `${own.height * scale}px`;
      // All lie with their top left corners on one another.
      const [left, top] = [((own.width - size.width) * scale) / 2, ((own.height - size.height) * scale) / 2];
      style.transform = `translate(${Math.round(view.x + left)}px, ${Math.round(view.y + top)}px)`;
      style.imageRendering = scale >= SQUARES ? 'pixelated' : '';
    },
  };
}

const MOVES: Record<string, [number, number]> = {
  ArrowLeft: [60, 0],
  ArrowRight: [-60, 0],
  ArrowUp: [0, 60],
  ArrowDown: [0, -60],
};
