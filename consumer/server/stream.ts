// The websocket of a page: what it asks is checked and answered in turn, what is new is told to it. One that is too
// slow, silent or malformed is let go.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { turn } from '../../src/clock.js';
import { asPreviewError } from '../../src/errors.js';
import { type PageMessage, pageMessageSchema, STREAM_LIMITS, STREAM_PROTOCOL } from '../../src/stream.js';
import { answer, type Request } from './answers.js';
import type { Hub, Viewer } from './hub.js';
import type { Hubs } from './hubs.js';
import type { ServerLimits } from './limits.js';
import { refuseSocket } from './respond.js';
import type { Shelf } from './shelf.js';
import type { Verifier } from './verify.js';

/** Why a connection is closed by the server (RFC 6455, section 7.4, and the registry it begins). */
const CLOSE = { going: 1001, policy: 1008, later: 1013 } as const;

export interface Streams {
  /** Takes an upgrade that has passed the guard. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The sessions there are have changed. */
  tellSessions(): void;
  count(): number;
  /** Says goodbye to all and closes their connections. */
  close(reason: string): Promise<void>;
}

interface Page {
  socket: WebSocket;
  seq: number;
  alive: boolean;
  hub: Hub | null;
  /** Has said hello, and is told of a session as soon as there is one. */
  waits: boolean;
  greeted: boolean;
  queue: PageMessage[];
  working: boolean;
  /** Searches, outlines and verifications that are under way. */
  long: number;
  /** The newest search and its like asked for; an older one is given up. */
  newest: { search: number; outline: number; blame: number };
  bad: number;
  viewer: Viewer;
  closed: boolean;
}

export function openStreams(context: {
  limits: ServerLimits;
  shelf: Shelf;
  hubs: Hubs;
  verifier: Verifier;
}): Streams {
  const { limits, shelf, hubs, verifier } = context;
  const acceptor = new WebSocketServer({
    noServer: true,
    maxPayload: STREAM_LIMITS.requestBytes,
    perMessageDeflate: false,
    clientTracking: false,
  });
  const pages = new Set<Page>();
  let pings: NodeJS.Timeout | null = null;

  const send = (page: Page, text: string) => {
    if (page.closed) return;
    page.socket.send(text);
    if (page.socket.bufferedAmount > limits.bufferedBytes)
      letGo(page, CLOSE.later, 'too slow: connect again');
  };
  const tell = (page: Page, type: string, body: string) =>
    send(page, `{"type":"${type}","seq":${page.seq++},${body}}`);
  const refuse = (page: Page, id: number | null, code: string, message: string) =>
    send(page, JSON.stringify({ type: 'refused', id, code, message: message.slice(0, STREAM_LIMITS.text) }));

  const letGo = (page: Page, code: number, reason: string) => {
    if (page.closed) return;
    forget(page);
    page.socket.close(code, reason);
    // One that takes nothing does not take the goodbye either.
    setTimeout(() => page.socket.terminate(), GOODBYE_MS).unref();
  };
  const forget = (page: Page) => {
    page.closed = true;
    page.queue = [];
    pages.delete(page);
    if (page.hub) hubs.leave(page.hub, page.viewer);
    page.hub = null;
    if (pages.size === 0) {
      clearInterval(pings ?? undefined);
      pings = null;
    }
  };

  const greet = async (
    page: Page,
    { protocol, session, cursor }: Extract<PageMessage, { type: 'hello' }>,
  ) => {
    if (protocol !== STREAM_PROTOCOL) {
      refuse(page, null, 'protocol', `this server speaks protocol ${STREAM_PROTOCOL}: load the page again`);
      return;
    }
    page.greeted = true;
    if (page.hub) hubs.leave(page.hub, page.viewer);
    page.hub = null;
    const key = session ?? shelf.front();
    page.waits = key === null;
    if (key === null) {
      refuse(page, null, 'not_found', 'no session is recorded yet; it is shown as soon as one begins');
      return;
    }
    const hub = await hubs.join(key, page.viewer, cursor);
    if (hub === null) refuse(page, null, 'not_found', `there is no session ${JSON.stringify(key)}`);
    else if (page.closed) hubs.leave(hub, page.viewer);
    else page.hub = hub;
  };

  const reply = async (page: Page, request: Request) => {
    const { hub } = page;
    if (hub === null) {
      refuse(page, request.id, 'not_found', 'no session is shown: say hello first');
      return;
    }
    const stop = () =>
      page.closed ||
      (request.type === 'search' && page.newest.search !== request.id) ||
      (request.type === 'outline' && page.newest.outline !== request.id) ||
      (request.type === 'blame' && page.newest.blame !== request.id);
    const answered = await answer(request, hub, { verifier, stop });
    if (answered) send(page, `{"type":"${answered.type}","id":${request.id},${answered.body}}`);
    else refuse(page, request.id, 'superseded', 'a newer one was asked for');
  };

  const handle = async (page: Page, message: PageMessage) => {
    try {
      if (message.type === 'hello') await greet(page, message);
      else await reply(page, message);
    } catch (error) {
      const { code, message: what } = asPreviewError(error);
      refuse(page, message.type === 'hello' ? null : message.id, code, what);
    }
  };
  /** In turn, but for what takes long: a page that searches can still scroll. */
  const handleLong = async (page: Page, message: PageMessage) => {
    page.long++;
    await handle(page, message);
    page.long--;
  };
  const work = async (page: Page) => {
    if (page.working) return;
    page.working = true;
    for (let next = page.queue.shift(); next && !page.closed; next = page.queue.shift()) {
      if (isLong(next)) void handleLong(page, next);
      else await handle(page, next);
      await turn();
    }
    page.working = false;
  };

  const take = (page: Page, bytes: Buffer, isBinary: boolean) => {
    const message = isBinary ? null : messageOf(bytes);
    if (message === null) {
      refuse(page, null, 'usage', 'that is no message of this protocol');
      if (++page.bad >= limits.badMessages) letGo(page, CLOSE.policy, 'too many messages that are none');
      return;
    }
    if (page.queue.length + page.long >= limits.requests) {
      refuse(page, message.type === 'hello' ? null : message.id, 'busy', 'too many requests wait');
      return;
    }
    if (message.type === 'search' || message.type === 'outline' || message.type === 'blame')
      page.newest[message.type] = message.id;
    page.queue.push(message);
    void work(page);
  };

  const ping = () => {
    for (const page of [...pages]) {
      if (!page.alive) {
        forget(page);
        page.socket.terminate();
        continue;
      }
      page.alive = false;
      page.socket.ping();
    }
  };

  const open = (socket: WebSocket) => {
    const page: Page = {
      socket,
      seq: 0,
      alive: true,
      hub: null,
      waits: false,
      greeted: false,
      queue: [],
      working: false,
      long: 0,
      newest: { search: -1, outline: -1, blame: -1 },
      bad: 0,
      viewer: { tell: (type, body) => tell(page, type, body) },
      closed: false,
    };
    pages.add(page);
    pings ??= setInterval(ping, limits.pingMs);
    const silent = setTimeout(() => {
      if (!page.greeted) letGo(page, CLOSE.policy, 'no hello came');
    }, limits.helloMs);
    socket.on('pong', () => {
      page.alive = true;
    });
    socket.on('message', (bytes: Buffer, isBinary) => take(page, bytes, isBinary));
    // A frame that is none, or too large: ws closes the connection with the right code, and 'close' follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(silent);
      if (!page.closed) forget(page);
    });
  };

  return {
    accept(request, socket, head) {
      if (pages.size >= limits.viewers) {
        refuseSocket(socket, { status: 503, message: `more than ${limits.viewers} pages are open` });
        return;
      }
      acceptor.handleUpgrade(request, socket, head, open);
    },
    tellSessions() {
      const body = `"sessions":${shelf.text()}`;
      for (const page of [...pages]) {
        if (page.waits)
          void handle(page, { type: 'hello', protocol: STREAM_PROTOCOL, session: null, cursor: null });
        else if (page.hub) tell(page, 'sessions', body);
      }
    },
    count: () => pages.size,
    async close(reason) {
      const all = [...pages];
      const gone = all.map(
        ({ socket }) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
      );
      for (const page of all) {
        tell(page, 'bye', `"reason":${JSON.stringify(reason)}`);
        letGo(page, CLOSE.going, reason);
      }
      await Promise.all(gone);
      acceptor.close();
    },
  };
}

/** So long a page has to answer a goodbye. */
const GOODBYE_MS = 500;

const isLong = ({ type }: PageMessage): boolean =>
  type === 'search' || type === 'outline' || type === 'series' || type === 'blame' || type === 'verify';

function messageOf(bytes: Buffer): PageMessage | null {
  try {
    const { data } = pageMessageSchema.safeParse(JSON.parse(bytes.toString('utf8')));
    return data ?? null;
  } catch {
    // SyntaxError: it is not JSON.
    return null;
  }
}
