// The recording as a running server tells it: one websocket, opened again whenever it breaks, from where it broke.
import {
  type Hits,
  type PageMessage,
  type Query,
  type ServerMessage,
  type ShownFile,
  STREAM_PROTOCOL,
} from '../../src/stream.js';
import type { Listener, Source } from './source.js';

/** Waits between attempts to connect, in ms; the last is kept. */
const RETRIES = [200, 500, 1000, 2000, 5000];
const ANSWER_MS = 30_000;
const PROBE_MS = 4000;
const OFFLINE =
  'The server cannot be reached. This page tries again by itself; a server that was started anew prints a new address.';

type Answer = Extract<ServerMessage, { id: number }>;
type Asked = Exclude<PageMessage, { type: 'hello' }>;

interface Waiting {
  message: Asked;
  settle(answer: Answer): void;
  fail(error: Error): void;
  timer: number;
}

export function liveSource(): Source {
  let socket: WebSocket | null = null;
  let listener: Listener | null = null;
  /** The session that is asked for, and the one that is shown: files are asked of the latter. */
  let session: string | null = null;
  let shown: string | null = null;
  let cursor: string | null = null;
  let attempt = 0;
  let retry = 0;
  let ids = 0;
  let seq = 0;
  let over = false;
  const waiting = new Map<number, Waiting>();

  const send = (message: PageMessage) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  const hello = () => send({ type: 'hello', protocol: STREAM_PROTOCOL, session, cursor });

  const connect = () => {
    clearTimeout(retry);
    if (over || (socket && socket.readyState <= WebSocket.OPEN)) return;
    listener?.onLink(attempt === 0 ? 'connecting' : 'offline', 'connecting to the server');
    const opened = new WebSocket(
      `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/stream`,
    );
    socket = opened;
    opened.addEventListener('open', () => {
      attempt = 0;
      seq = 0;
      listener?.onLink('behind', 'catching up');
      hello();
    });
    opened.addEventListener('message', ({ data }) => {
      if (socket === opened) take(JSON.parse(data as string) as ServerMessage);
    });
    opened.addEventListener('close', () => {
      if (socket !== opened) return;
      socket = null;
      if (over) return;
      const wait = RETRIES[Math.min(attempt++, RETRIES.length - 1)]!;
      listener?.onLink('offline', OFFLINE);
      retry = window.setTimeout(connect, wait);
    });
  };

  const take = (message: ServerMessage) => {
    if ('seq' in message) {
      // I8: a gap means that something was missed, and everything is asked for anew.
      if (message.seq !== seq++) {
        cursor = null;
        socket?.close();
        return;
      }
    }
    switch (message.type) {
      case 'snapshot': {
        if (message.protocol !== STREAM_PROTOCOL)
          return end('the server is of another version; load the page again');
        cursor = message.cursor;
        session = message.session.key;
        shown = session;
        if (message.resumed) {
          listener?.onSessions(message.sessions);
          if (message.steps.length > 0) listener?.onSteps(message.steps);
          listener?.onSession(message.session);
        } else listener?.onSnapshot(message);
        linked(message.session.status);
        for (const { message: asked } of waiting.values()) send(asked);
        return;
      }
      case 'steps':
        cursor = message.cursor;
        listener?.onSteps(message.steps);
        return;
      case 'head':
        listener?.onSession(message.session);
        linked(message.session.status);
        return;
      case 'sessions':
        listener?.onSessions(message.sessions);
        return;
      case 'notes':
        listener?.onNotes?.(message.notes);
        return;
      case 'bye':
        listener?.onLink('offline', message.reason);
        return;
      case 'refused': {
        const asked = message.id === null ? undefined : waiting.get(message.id);
        if (asked) settle(message.id!, () => asked.fail(new Error(message.message)));
        else if (message.code === 'protocol') end(message.message);
        else if (message.code === 'not_found' && session !== null && session !== shown) {
          // A link to a session that is not there: what was shown stays, or the newest is shown instead.
          listener?.onMissing(session);
          session = shown;
          cursor = null;
          hello();
        } else listener?.onLink('behind', message.message);
        return;
      }
      default: {
        const asked = waiting.get(message.id);
        if (asked) settle(message.id, () => asked.settle(message));
      }
    }
  };
  const linked = (status: string) => {
    const open = status === 'active' || status === 'waiting' || status === 'open';
    listener?.onLink(
      open ? 'live' : 'ended',
      open ? 'new steps appear by themselves' : `the session is ${status}`,
    );
  };
  const end = (words: string) => {
    over = true;
    socket?.close();
    listener?.onLink('offline', words);
  };
  const settle = (id: number, by: () => void) => {
    clearTimeout(waiting.get(id)?.timer);
    waiting.delete(id);
    by();
  };
  const ask = <T extends Answer['type']>(
    asked: Asked extends infer M ? (M extends Asked ? Omit<M, 'id'> : never) : never,
  ) =>
    new Promise<Extract<Answer, { type: T }>>((resolve, reject) => {
      const id = ++ids;
      const message = { ...asked, id } as Asked;
      const timer = window.setTimeout(
        () => settle(id, () => reject(new Error('the server did not answer'))),
        ANSWER_MS,
      );
      waiting.set(id, { message, settle: (answer) => resolve(answer as never), fail: reject, timer });
      send(message);
    });

  const addressOf = ({ bundle, path, sha256 }: ShownFile): string => {
    const parts = [shown ?? '', bundle, ...path.split('/')].map(encodeURIComponent).join('/');
    return `/file/${parts}${sha256 ? `?v=${sha256.replace(/^sha256:/, '')}` : ''}`;
  };
  // Sleep and lost networks are noticed at once, not after the next wait.
  const wake = () => {
    if (document.visibilityState !== 'visible') return;
    connect();
    probe();
  };
  /** After a sleep a socket may look open and be dead: one that does not answer is given up. */
  const probe = () => {
    const probed = socket;
    if (probed?.readyState !== WebSocket.OPEN) return;
    const timer = setTimeout(() => {
      if (socket !== probed) return;
      probed.close();
      socket = null;
      connect();
    }, PROBE_MS);
    ask<'range'>({ type: 'range', from: 1, to: 1 }).then(
      () => clearTimeout(timer),
      () => {},
    );
  };
  return {
    kind: 'live',
    leftOut: [],
    open(wanted, told) {
      session = wanted;
      listener = told;
      addEventListener('online', wake);
      document.addEventListener('visibilitychange', wake);
      connect();
    },
    choose(wanted) {
      session = wanted;
      cursor = null;
      for (const id of [...waiting.keys()]) settle(id, () => {});
      hello();
    },
    steps: async (from, to) => (await ask<'range'>({ type: 'range', from, to })).steps,
    detail: async (index) => (await ask<'detail'>({ type: 'detail', index })).detail,
    search: async (query: Query): Promise<Hits> => (await ask<'hits'>({ type: 'search', query })).hits,
    outline: async (buckets) => (await ask<'outline'>({ type: 'outline', buckets })).buckets,
    series: async (fact) => (await ask<'series'>({ type: 'series', fact })).points,
    blame: async (index, place) => (await ask<'blame'>({ type: 'blame', index, ...place })).blame,
    verify: async (index) => (await ask<'verdict'>({ type: 'verify', index })).verdict,
    url: addressOf,
    async bytes(file) {
      const response = await fetch(addressOf(file));
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      return response.arrayBuffer();
    },
    close() {
      over = true;
      removeEventListener('online', wake);
      document.removeEventListener('visibilitychange', wake);
      clearTimeout(retry);
      socket?.close();
    },
  };
}
