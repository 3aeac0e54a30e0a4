// One file on the stage, by what it is: picture, clip, framed page, one of the parts, or a download.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownFile } from '../../src/stream.js';
import { loadPart } from './loadpart.js';
import type { Mounted, PairInput, PartOf } from './parts.js';
import { Picture } from './picture.js';
import { isPart, type PairPartName, type PartName, type ScriptName, shownAs } from './shownas.js';
import type { Source } from './source.js';
import type { State } from './state.js';
import { bytes, visible } from './words.js';

interface Props {
  source: Source;
  file: ShownFile;
  theme: 'dark' | 'light';
  label: string;
  small: string | null;
  /** The step that shows this first. */
  of?: { state: State; index: number } | undefined;
}

export function Show(props: Props) {
  const { source, file, label, small } = props;
  const url = source.url(file);
  const shown = shownAs(file);
  if (url === null) return <Download {...props} why="It was left out of this page." />;
  if (shown === 'image')
    return (
      <Picture
        key={props.of ? 'first' : 'other'}
        url={url}
        file={file}
        alt={label}
        small={small}
        of={props.of}
      />
    );
  if (shown === 'clip') return <Clip key={url} url={url} file={file} label={label} />;
  if (shown === 'frame') return <Frame key={url} {...props} />;
  if (isPart(shown)) return <PartView key={`${shown} ${url}`} name={shown} {...props} />;
  return <Download {...props} why={null} />;
}

export function Download({ source, file, why }: Pick<Props, 'source' | 'file'> & { why: string | null }) {
  const url = source.url(file);
  const name = file.path.split('/').at(-1)!;
  return (
    <div class="empty">
      <p class="mono">{visible(name)}</p>
      <p>
        {visible(file.media_type)}, {bytes(file.bytes)}
      </p>
      {why ? <p>{why}</p> : null}
      {url ? (
        <a class="button" href={url} download={name}>
          Download
        </a>
      ) : null}
    </div>
  );
}

function Clip({ url, file, label }: { url: string; file: ShownFile; label: string }) {
  return (
    <div class="clip">
      {file.media_type.startsWith('audio/') ? (
        // biome-ignore lint/a11y/useMediaCaption: nobody has made captions for what was recorded
        <audio src={url} controls preload="metadata" aria-label={label} />
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: as above
        <video src={url} controls loop playsInline preload="metadata" aria-label={label} />
      )}
    </div>
  );
}

/** A recorded page in a frame without any rights: its scripts do not run, and it reaches nothing. */
function Frame({ source, file, label, ...props }: Props) {
  const [html, setHtml] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    source.bytes(file).then(
      (content) => setHtml(new TextDecoder().decode(content)),
      (error: Error) => setProblem(error.message),
    );
  }, []);
  if (problem) return <Download source={source} file={file} why={problem} {...props} />;
  return (
    <div class="framed">
      {html === null ? null : <iframe title={label} sandbox="" srcdoc={html} />}
      <div class="picture-bar">
        <span>Shown without its scripts and without anything from the network.</span>
      </div>
    </div>
  );
}

/** A part that shows one file. `onMounted` gets what it can be told. */
export function PartView({
  name,
  source,
  file,
  theme,
  onMounted,
}: Omit<Props, 'label' | 'small'> & { name: PartName; onMounted?: (mounted: Mounted) => void }) {
  const { place, problem } = useMounted(name, theme, (part, element, onProblem) => {
    const mounted = part.mount(element, { file, source, theme, onProblem });
    onMounted?.(mounted);
    return mounted;
  });
  return (
    <div class="part">
      {problem ? <Download source={source} file={file} why={problem} /> : null}
      <div ref={place} class="part-place" hidden={problem !== null} />
    </div>
  );
}

/** A part that compares two files; what it cannot compare is offered as downloads. */
export function PairView({
  name,
  before,
  after,
  source,
  theme,
}: Omit<PairInput, 'onProblem'> & { name: PairPartName }) {
  const { place, problem } = useMounted(name, theme, (part, element, onProblem) =>
    part.mount(element, { before, after, source, theme, onProblem }),
  );
  return (
    <div class="part">
      {problem ? <Downloads source={source} files={[before, after]} why={problem} /> : null}
      <div ref={place} class="part-place" hidden={problem !== null} />
    </div>
  );
}

/** Two files that are not compared, and why. */
export function Downloads({
  source,
  files,
  why,
}: Pick<Props, 'source'> & { files: readonly ShownFile[]; why: string }) {
  return (
    <div class="downloads">
      <p class="dim">{why}</p>
      {files.map((file) => (
        <Download key={`${file.bundle}/${file.path}`} source={source} file={file} why={null} />
      ))}
    </div>
  );
}

/** Loads a part, mounts it into `place`, and takes it away at the end. */
function useMounted<Name extends ScriptName>(
  name: Name,
  theme: 'dark' | 'light',
  mount: (part: PartOf<Name>, element: HTMLElement, onProblem: (words: string) => void) => Mounted,
) {
  const place = useRef<HTMLDivElement>(null);
  const mounted = useRef<Mounted | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let gone = false;
    loadPart(name).then(
      (part) => {
        if (!gone) mounted.current = mount(part, place.current!, setProblem);
      },
      (error: Error) => setProblem(error.message),
    );
    return () => {
      gone = true;
      mounted.current?.unmount();
      mounted.current = null;
    };
  }, []);
  useEffect(() => mounted.current?.retheme?.(theme), [theme]);
  return { place, problem };
}
