// One file on the stage, by what it is: picture, clip, framed page, one of the parts, or a download.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownFile } from '../../src/stream.js';
import { loadPart } from './loadpart.js';
import type { Mounted } from './parts.js';
import { Picture } from './picture.js';
import { isPart, type PartName, shownAs } from './shownas.js';
import type { Source } from './source.js';
import { bytes, visible } from './words.js';

interface Props {
  source: Source;
  file: ShownFile;
  theme: 'dark' | 'light';
  label: string;
  small: string | null;
}

export function Show(props: Props) {
  const { source, file, label, small } = props;
  const url = source.url(file);
  const shown = shownAs(file);
  if (url === null) return <Download {...props} why="It was left out of this page." />;
  if (shown === 'image') return <Picture url={url} file={file} alt={label} small={small} />;
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

function PartView({ name, source, file, theme }: Props & { name: PartName }) {
  const place = useRef<HTMLDivElement>(null);
  const mounted = useRef<Mounted | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let gone = false;
    loadPart(name).then(
      (part) => {
        if (!gone)
          mounted.current = part.mount(place.current!, { file, source, theme, onProblem: setProblem });
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
  return (
    <div class="part">
      {problem ? <Download source={source} file={file} why={problem} /> : null}
      <div ref={place} class="part-place" hidden={problem !== null} />
    </div>
  );
}
