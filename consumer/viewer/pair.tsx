// Two files of two steps compared, by what they are: pictures, clips, models, texts, JSON. What cannot be compared is
// shown side by side, or offered.
import { useRef } from 'preact/hooks';
import type { ShownFile, ShownStep } from '../../src/stream.js';
import { CompareClips } from './compareclips.js';
import { ComparePictures } from './comparepictures.js';
import type { Camera, Mounted } from './parts.js';
import { Downloads, PairView, PartView, Show } from './show.js';
import { pairedBy, type Shown, shownAs } from './shownas.js';
import type { Mode, State } from './state.js';
import { visible } from './words.js';

export interface Sided {
  step: ShownStep;
  file: ShownFile;
}

/** What a kind is called in a sentence. */
const KINDS: Record<Shown, string> = {
  image: 'a picture',
  clip: 'a clip',
  frame: 'a page',
  model: 'a model',
  cast: 'a terminal recording',
  text: 'a text',
  patch: 'a patch',
  json: 'JSON',
  none: 'a file',
};

interface Props {
  state: State;
  before: Sided;
  after: Sided;
  mode: Mode;
  theme: 'dark' | 'light';
}

export function ComparePair({ state, before, after, mode, theme }: Props) {
  const { source } = state;
  const [old, now] = [before, after].map(({ file }) => shownAs(file)) as [Shown, Shown];
  const [from, to] = [before, after].map(({ file }) => source.url(file)) as [string | null, string | null];
  const files = [before.file, after.file];
  if (from === null || to === null) {
    const gone = [from === null ? before : null, to === null ? after : null].filter((side) => side !== null);
    const names = gone.map(({ step }) => step.step_id).join(' and ');
    return <Downloads source={source} files={files} why={`What ${names} shows was left out of this page.`} />;
  }
  const paired = pairedBy(old, now);
  if (paired)
    return <PairView name={paired} source={source} before={before.file} after={after.file} theme={theme} />;
  if (old !== now)
    return (
      <Downloads
        source={source}
        files={files}
        why={`They are of different kinds: ${KINDS[old]} in ${before.step.step_id}, ${KINDS[now]} in ${after.step.step_id}.`}
      />
    );
  switch (now) {
    case 'image':
      return (
        <ComparePictures
          state={state}
          before={{ url: from, step: before.step }}
          after={{ url: to, step: after.step }}
          mode={mode}
          accent={theme}
          isFirst={[before, after].every(({ file, step }) => file.path === step.hero?.path)}
        />
      );
    case 'clip':
      return (
        <CompareClips
          before={{ url: from, file: before.file, name: before.step.step_id }}
          after={{ url: to, file: after.file, name: after.step.step_id }}
        />
      );
    case 'model':
      return <CompareModels {...{ source, before, after, theme }} />;
    case 'none':
      return (
        <Downloads
          source={source}
          files={files}
          why={`The page does not show ${visible(after.file.media_type)}.`}
        />
      );
    default:
      return (
        <Sides
          before={before}
          after={after}
          show={({ file, step }) => (
            <Show source={source} file={file} theme={theme} label={step.step_id} small={null} />
          )}
        />
      );
  }
}

function Sides({
  before,
  after,
  show,
}: {
  before: Sided;
  after: Sided;
  show(side: Sided): preact.ComponentChildren;
}) {
  return (
    <div class="sides">
      {[before, after].map((side, at) => (
        <figure key={at === 0 ? 'before' : 'after'} class="side-by-side">
          <figcaption class="mono dim">{side.step.step_id}</figcaption>
          {show(side)}
        </figure>
      ))}
    </div>
  );
}

/** Two models looked at from one place, at one scale: what has grown is larger, what has moved is elsewhere. */
function CompareModels({
  source,
  before,
  after,
  theme,
}: Pick<Props, 'before' | 'after' | 'theme'> & Pick<State, 'source'>) {
  const cameras = useRef<Camera[]>([]);
  const drawn = useRef(new Set<Camera>());
  const link = ({ camera }: Mounted) => {
    if (!camera) return;
    cameras.current.push(camera);
    camera.onMove((pose) => {
      const other = cameras.current.find((each) => each !== camera);
      const theirs = other?.pose();
      if (!other || !theirs) return;
      const isFirst = !drawn.current.has(camera);
      drawn.current.add(camera).add(other);
      // When both are there, the one that stands further off sees all of both.
      const far = ({ position, target }: typeof pose) =>
        Math.hypot(...position.map((at, axis) => at - target[axis]!));
      if (isFirst && far(theirs) > far(pose)) camera.set(theirs);
      else other.set(pose);
    });
  };
  return (
    <Sides
      before={before}
      after={after}
      show={({ file }) => (
        <PartView name="model" source={source} file={file} theme={theme} onMounted={link} />
      )}
    />
  );
}
