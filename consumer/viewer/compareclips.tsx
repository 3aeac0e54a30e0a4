// Two clips side by side with one time code: play, pause, seek and rate of one are the other's.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownFile } from '../../src/stream.js';

interface Side {
  file: ShownFile;
  url: string;
  name: string;
}

const RATES = [0.25, 0.5, 1, 2, 4];
/** What `,` and `.` go by: browsers do not tell how long a frame of a clip is, and 25 a second is what most here have. */
const FRAME_S = 0.04;
/** Players that are further apart than this are brought together. */
const APART_S = 0.1;

/** `12.04`, `1:02.40` */
function timeCode(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const rest = (seconds - minutes * 60).toFixed(2);
  return minutes > 0 ? `${minutes}:${rest.padStart(5, '0')}` : rest;
}

export function CompareClips({ before, after }: { before: Side; after: Side }) {
  const players = useRef<[HTMLMediaElement | null, HTMLMediaElement | null]>([null, null]);
  const [lengths, setLengths] = useState<[number, number]>([0, 0]);
  const [time, showTime] = useState(0);
  /** Keys come faster than the page is drawn. */
  const now = useRef(0);
  const setTime = (to: number) => {
    now.current = to;
    showTime(to);
  };
  const [playing, setPlaying] = useState(false);
  const [rate, setRate] = useState(1);
  const [broken, setBroken] = useState(false);
  const length = Math.max(...lengths);
  const both = () => players.current.filter((player) => player !== null);
  /** The longer one says what time it is. */
  const leader = () => players.current[lengths[0] > lengths[1] ? 0 : 1];

  const seek = (to: number) => {
    const at = Math.min(length, Math.max(0, to));
    setTime(at);
    for (const player of both()) player.currentTime = Math.min(at, player.duration || 0);
  };
  const pause = () => {
    for (const player of both()) player.pause();
    setPlaying(false);
  };
  const play = () => {
    const from = now.current >= length - 0.01 ? 0 : now.current;
    seek(from);
    setPlaying(true);
    // One that is over stays on its last picture.
    for (const player of both()) if (from < player.duration) player.play().catch(pause);
  };
  const step = (by: number) => {
    pause();
    seek(Math.round((now.current + by) / FRAME_S) * FRAME_S);
  };
  const chooseRate = (to: number) => {
    setRate(to);
    for (const player of both()) player.playbackRate = to;
  };
  /** What is done to one player by other ways than this page's (media keys) is done to both. */
  const follow = (which: 0 | 1) => ({
    onLoadedMetadata: ({ currentTarget: { duration } }: { currentTarget: HTMLMediaElement }) =>
      setLengths((old) => {
        const next: [number, number] = [...old];
        next[which] = Number.isFinite(duration) ? duration : 0;
        return next;
      }),
    onError: () => setBroken(true),
    onPause: ({ currentTarget }: { currentTarget: HTMLMediaElement }) => {
      if (playing && !currentTarget.ended) pause();
    },
    onEnded: ({ currentTarget }: { currentTarget: HTMLMediaElement }) => {
      if (currentTarget !== leader()) return;
      setTime(length);
      pause();
    },
    onTimeUpdate: ({ currentTarget }: { currentTarget: HTMLMediaElement }) => {
      if (!playing || currentTarget !== leader()) return;
      const at = currentTarget.currentTime;
      setTime(at);
      for (const player of both())
        if (player !== currentTarget && !player.ended && Math.abs(player.currentTime - at) > APART_S)
          player.currentTime = Math.min(at, player.duration || 0);
    },
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      if (target instanceof HTMLInputElement && target.type !== 'range') return;
      const acts: Record<string, () => void> = {
        ',': () => step(-FRAME_S),
        '.': () => step(FRAME_S),
        ...(target.closest('button, a, select') ? {} : { ' ': () => (playing ? pause() : play()) }),
      };
      const act = acts[event.key];
      if (!act) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      act();
    };
    // Before the page's own keys, of which the space bar plays the steps.
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  });
  const player = (side: Side, which: 0 | 1) => (
    <figure class="clip-side">
      <figcaption class="mono dim">{side.name}</figcaption>
      {side.file.media_type.startsWith('audio/') ? (
        <audio
          ref={(element) => {
            players.current[which] = element;
          }}
          src={side.url}
          preload="auto"
          aria-label={side.name}
          controls
          {...follow(which)}
        />
      ) : (
        <video
          ref={(element) => {
            players.current[which] = element;
          }}
          src={side.url}
          preload="auto"
          playsInline
          aria-label={side.name}
          {...follow(which)}
        />
      )}
    </figure>
  );
  return (
    <div class="clips">
      <div class="clip-sides">
        {player(before, 0)}
        {player(after, 1)}
      </div>
      <div class="picture-bar">
        <button type="button" class="button clip-play" onClick={() => (playing ? pause() : play())}>
          {playing ? 'Pause' : 'Play'}
        </button>
        <button type="button" class="plain" title="a frame back (,)" onClick={() => step(-FRAME_S)}>
          ‹
        </button>
        <button type="button" class="plain" title="a frame on (.)" onClick={() => step(FRAME_S)}>
          ›
        </button>
        <input
          type="range"
          class="clip-time"
          min="0"
          max={length || 1}
          step="0.01"
          value={time}
          aria-label="Time code"
          aria-valuetext={`${timeCode(time)} of ${timeCode(length)} seconds`}
          data-arrows
          onInput={({ currentTarget }) => seek(Number(currentTarget.value))}
        />
        <span>
          {timeCode(time)} / {timeCode(length)} s
        </span>
        <select
          class="clip-rate"
          aria-label="Rate"
          value={rate}
          onChange={({ currentTarget }) => chooseRate(Number(currentTarget.value))}
        >
          {RATES.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
        {lengths[0] > 0 && lengths[1] > 0 && Math.abs(lengths[0] - lengths[1]) > FRAME_S ? (
          <span class="warn">
            {timeCode(lengths[0])} and {timeCode(lengths[1])} s long
          </span>
        ) : null}
        {broken ? <span class="bad">this browser cannot play one of them</span> : null}
      </div>
    </div>
  );
}
