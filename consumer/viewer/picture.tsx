// One picture on the stage.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ShownFile } from '../../src/stream.js';
import { BlameAnswer, BlameArea, BlameButton, useBlame } from './blame.js';
import type { State } from './state.js';
import { useZoom } from './zoom.js';

interface Props {
  url: string;
  file: ShownFile;
  alt: string;
  small: string | null;
  /** The step whose first picture this is, and so may be asked about. */
  of?: { state: State; index: number } | undefined;
}

export function Picture({ url, file, alt, small, of }: Props) {
  const wrapper = useRef<HTMLDivElement>(null);
  const image = useRef<HTMLImageElement>(null);
  const told = { width: file.width ?? 0, height: file.height ?? 0 };
  const [seen, setSeen] = useState({ url: '', ...told });
  const [broken, setBroken] = useState<string | null>(null);
  const size = seen.url === url ? seen : told;
  const zoom = useZoom(wrapper, size, { whole: true });
  useEffect(() => zoom.place(image.current));
  const asking = of ? useBlame(of.state, `${of.index} ${url}`) : null;
  return (
    <div class="picture" ref={wrapper}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys do the same, help lists them */}
      <div class={`zoom-frame${zoom.isFit ? '' : ' zoomed'}`} {...zoom.pointer} onDblClick={zoom.toggle}>
        {broken === url ? (
          <p class="empty">This picture cannot be shown. It is listed under Files.</p>
        ) : (
          <img
            ref={image}
            src={url}
            alt={alt}
            draggable={false}
            decoding="async"
            onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
              if (naturalWidth > 0) setSeen({ url, width: naturalWidth, height: naturalHeight });
            }}
            onError={() => setBroken(url)}
          />
        )}
        {of && asking ? <BlameArea {...of} zoom={zoom} asking={asking} /> : null}
      </div>
      {of && asking ? <BlameAnswer state={of.state} asking={asking} /> : null}
      <div class="picture-bar">
        <span class="spread">{small}</span>
        {of ? <BlameButton state={of.state} /> : null}
        <span>{size.width > 0 ? `${size.width} × ${size.height}` : ''}</span>
        <button type="button" class="plain" onClick={zoom.toggle} title="fit (0) or 100% (1)">
          {Math.round(zoom.scale * 100)}%
        </button>
      </div>
    </div>
  );
}
