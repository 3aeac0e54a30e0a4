// The part of the address behind `#`: which session, step, tab and file are shown. The same live and exported.

export interface Place {
  session: string | null;
  /** Null: the newest. */
  step: number | null;
  tab: string | null;
  /** Path of the artifact that is shown. */
  artifact: string | null;
  /** The step that is compared with, and how. */
  versus: number | null;
  mode: string | null;
}

export const NOWHERE: Place = {
  session: null,
  step: null,
  tab: null,
  artifact: null,
  versus: null,
  mode: null,
};

const stepOf = (text: string | null | undefined): number | null => {
  const match = /^(?:step-)?(\d{1,9})$/.exec(text ?? '');
  return match ? Number(match[1]) : null;
};

/** Reads `#/session_001/step-0042?tab=files&a=render.png&vs=step-0041&mode=swipe`; what makes no sense is left out. */
export function readLink(hash: string): Place {
  const match = /^#\/([^/?]*)(?:\/([^/?]*))?(?:\?(.*))?$/.exec(hash);
  if (!match) return NOWHERE;
  const query = new URLSearchParams(match[3] ?? '');
  let session: string | null = null;
  try {
    session = decodeURIComponent(match[1]!) || null;
  } catch {
    // URIError: half a percent sequence.
  }
  return {
    session,
    step: stepOf(match[2]),
    tab: query.get('tab'),
    artifact: query.get('a'),
    versus: stepOf(query.get('vs')),
    mode: query.get('mode'),
  };
}

const named = (index: number) => `step-${String(index).padStart(4, '0')}`;

/** Writes a link that `readLink` reads. */
export function writeLink({ session, step, tab, artifact, versus, mode }: Place): string {
  const query = new URLSearchParams();
  if (tab) query.set('tab', tab);
  if (artifact) query.set('a', artifact);
  if (versus !== null) query.set('vs', named(versus));
  if (mode) query.set('mode', mode);
  const path = `#/${encodeURIComponent(session ?? '')}${step === null ? '' : `/${named(step)}`}`;
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}
