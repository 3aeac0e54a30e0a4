// What the page shows, as signals, and what changes it. Components read these and call the functions; nothing else
// holds state that outlives a component.
import { batch, computed, effect, signal } from '@preact/signals';
import type { Bucket, ShownDetail, ShownSession, ShownStep } from '../../src/stream.js';
import { isPlaying } from './clip.js';
import { createFinder, NO_QUERY } from './finder.js';
import { NOWHERE, type Place, readLink, writeLink } from './links.js';
import type { Link, Source } from './source.js';
import { holdSteps } from './steps.js';

export const TABS = ['preview', 'compare', 'terminal', 'changes', 'files', 'raw'] as const;
export type Tab = (typeof TABS)[number];
export const MODES = ['side', 'swipe', 'onion', 'difference', 'blink'] as const;
export type Mode = (typeof MODES)[number];

const BUCKETS = 600;

export function createState(source: Source) {
  const steps = holdSteps(source);
  const link = signal<{ state: Link; detail: string }>({ state: 'connecting', detail: '' });
  const session = signal<ShownSession | null>(null);
  const sessions = signal<ShownSession[]>([]);
  const total = signal(0);
  const selected = signal(0);
  const following = signal(true);
  /** Steps that came while the person looked elsewhere. */
  const fresh = signal(0);
  const tab = signal<Tab>('preview');
  const artifact = signal<string | null>(null);
  /** The step that is compared with; null: the one before. */
  const versus = signal<number | null>(null);
  const mode = signal<Mode>('swipe');
  /** A click on the picture asks who changed that place. */
  const blaming = signal(false);
  const detail = signal<ShownDetail | null>(null);
  const detailProblem = signal<string | null>(null);
  const outline = signal<Bucket[]>([]);
  const playing = signal(false);
  const speed = signal(1);
  /** What the strip and play go by. */
  const by = signal<'step' | 'time'>('step');
  /** The fact that is drawn over the steps. */
  const fact = signal<string | null>(null);
  const panel = signal<'help' | 'sessions' | 'filters' | null>(null);
  /** What a narrow screen shows: all of it does not fit side by side. */
  const pane = signal<'steps' | 'stage' | 'facts'>('stage');
  /** Said to those who listen instead of look. */
  const said = signal('');
  let asked: Place = NOWHERE;
  let writing = false;
  /** Said above the page until something else is done. */
  const notice = signal<string | null>(null);

  const first = computed(() => session.value?.first_step ?? 1);
  const current = computed<ShownStep | null>(() => {
    steps.version.value;
    return selected.value > 0 ? steps.at(selected.value) : null;
  });

  const select = (index: number, how: { follow?: boolean; keep?: boolean } = {}) => {
    const newest = total.value;
    const to = Math.min(Math.max(index, first.value), newest);
    if (newest === 0) return;
    batch(() => {
      if (to !== selected.value && !how.keep) artifact.value = null;
      selected.value = to;
      following.value = how.follow ?? to === newest;
      if (to === newest) fresh.value = 0;
    });
  };
  const follow = (on = true) => {
    if (on) {
      playing.value = false;
      select(total.value, { follow: true });
    } else following.value = false;
  };

  const { query, hits, search, neighbourOf } = createFinder(source);
  /** The step beside the selected one that is asked for; all of them where nothing is searched. */
  const neighbour = (direction: 1 | -1): number => neighbourOf(selected.value, direction);

  let outlineWanted = false;
  const refreshOutline = () => {
    if (outlineWanted) return;
    outlineWanted = true;
    // In bursts the outline is asked for once a second at most.
    window.setTimeout(
      () => {
        outlineWanted = false;
        source.outline(BUCKETS).then(
          (buckets) => {
            outline.value = buckets;
          },
          () => {},
        );
      },
      outline.value.length === 0 ? 0 : 1000,
    );
  };

  // What is known of the selected step is asked for when it changes, and not again while it is on its way.
  let underWay = '';
  effect(() => {
    const index = selected.value;
    steps.version.value;
    const wanted = `${session.peek()?.key} ${index}`;
    if (index === 0 || detail.peek()?.index === index || underWay === wanted) return;
    underWay = wanted;
    detailProblem.value = null;
    const done = () => {
      if (underWay === wanted) underWay = '';
    };
    source.detail(index).then(
      (found) => {
        done();
        if (selected.peek() !== index) return;
        detail.value = found;
        if (found === null) detailProblem.value = 'nothing can be read of this step';
      },
      (error: Error) => {
        done();
        if (selected.peek() === index) detailProblem.value = error.message;
      },
    );
  });

  const place = (): Place => ({
    ...NOWHERE,
    session: session.value?.key ?? null,
    step: following.value ? null : selected.value || null,
    tab: tab.value === 'preview' ? null : tab.value,
    artifact: artifact.value,
    ...(tab.value === 'compare' ? { versus: versus.value, mode: mode.value } : {}),
  });
  const linkOf = () => writeLink({ ...place(), step: selected.value || null });

  // The address follows what is shown: a new entry for another step or session, so that Back works.
  let shown = '';
  /** The address as it was last written or read: a change of it is told twice by some browsers. */
  let handled = location.hash;
  effect(() => {
    const now = place();
    if (!now.session || writing) return;
    const next = writeLink(now);
    const where = `${now.session}/${now.step}`;
    handled = next;
    if (next === location.hash) return;
    try {
      if (shown !== '' && shown !== where && !playing.peek()) history.pushState(null, '', next);
      else history.replaceState(null, '', next);
    } catch {
      // SecurityError: in a sandboxed frame the address is not ours.
    }
    shown = where;
  });

  const goTo = (to: Place) => {
    writing = true;
    batch(() => {
      tab.value = TABS.find((name) => name === to.tab) ?? 'preview';
      if (to.step === null) follow();
      else select(to.step);
      artifact.value = to.artifact;
      versus.value = to.versus;
      mode.value = MODES.find((name) => name === to.mode) ?? mode.value;
      // A link that names what it compares with is one to the comparison.
      if (to.versus !== null && to.tab === null) tab.value = 'compare';
    });
    writing = false;
  };
  /** As `goTo`, for the address says it already: it is no new entry. */
  const goToAddress = (to: Place) => {
    goTo(to);
    shown = `${session.value?.key}/${to.step}`;
  };
  const onAddress = () => {
    if (location.hash === handled) return;
    handled = location.hash;
    notice.value = null;
    const to = readLink(location.hash);
    if (to.session && to.session !== session.value?.key && source.kind === 'live') {
      asked = to;
      source.choose(to.session);
    } else goToAddress(to);
  };

  const open = () => {
    asked = readLink(location.hash);
    addEventListener('popstate', onAddress);
    addEventListener('hashchange', onAddress);
    source.open(asked.session, {
      onSnapshot(snapshot) {
        batch(() => {
          const other = session.value?.key !== snapshot.session.key;
          session.value = snapshot.session;
          sessions.value = snapshot.sessions;
          total.value = snapshot.session.step_count;
          steps.reset(snapshot.steps);
          if (other) {
            detail.value = null;
            underWay = '';
            selected.value = 0;
            outline.value = [];
            search(NO_QUERY);
            // A session that was chosen from the menu is a new entry, so that Back leads to the one before.
            if (asked === NOWHERE) goTo(asked);
            else goToAddress(asked);
            asked = NOWHERE;
          } else if (following.value && !isPlaying()) follow();
          else select(selected.value, { follow: false, keep: true });
        });
        refreshOutline();
      },
      onSteps(added) {
        batch(() => {
          steps.add(added);
          total.value = Math.max(total.value, added.at(-1)?.index ?? 0);
          // A clip that plays is not thrown away: the new step waits like any other that comes while one looks elsewhere.
          if (following.value && isPlaying()) following.value = false;
          if (following.value) follow();
          else fresh.value += added.length;
          said.value = `${added.length === 1 ? added[0]!.step_id : `${added.length} steps`} recorded`;
        });
        refreshOutline();
        if (hits.value) search({ ...query.value });
      },
      onMissing(key) {
        notice.value = `There is no session ${key} here.`;
        asked = NOWHERE;
      },
      onSession(now) {
        session.value = now;
      },
      onSessions(now) {
        sessions.value = now;
      },
      onLink(state, words) {
        link.value = { state, detail: words };
      },
    });
  };
  const chooseSession = (key: string) => {
    panel.value = null;
    asked = NOWHERE;
    if (key !== session.value?.key) source.choose(key);
  };

  return {
    source,
    steps,
    link,
    session,
    sessions,
    total,
    first,
    selected,
    current,
    following,
    fresh,
    tab,
    artifact,
    versus,
    mode,
    blaming,
    detail,
    detailProblem,
    query,
    hits,
    outline,
    playing,
    speed,
    by,
    fact,
    panel,
    pane,
    notice,
    said,
    select,
    follow,
    neighbour,
    search,
    chooseSession,
    linkOf,
    open,
  };
}

export type State = ReturnType<typeof createState>;
