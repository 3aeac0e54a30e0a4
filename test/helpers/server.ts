// `previews watch` as a child process, and what asks it: raw sockets, requests, and pages that follow. Whatever a test
// begins is ended when its file is over.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { WebSocket } from 'ws';
import { type PreviewServer, type ServeOptions, startServer } from '../../consumer/server/serve.js';
import { type ServerMessage, STREAM_PROTOCOL, serverMessageSchema } from '../../src/stream.js';
import { DIST, plainEnv, previewsArgv, until } from './cli.js';

const children: ChildProcess[] = [];
const sockets: { destroy(): void }[] = [];
const servers: PreviewServer[] = [];

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(servers.map((server) => server.close()));
});

/** Where a server answers, and the cookie that it gave. */
export interface Address {
  origin: string;
  port: number;
  cookie: string;
}

export interface Watching extends Address {
  url: string;
  pid: number;
  line: Record<string, any>;
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Sends the signal and resolves to how it ended. */
  end(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface WatchingOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  /** Put before the program, such as `unshare`. */
  before?: string[];
  /** Another command than `watch`. */
  command?: string;
}

/** Starts `previews watch … --json` and signs in. */
export async function watching(args: string[], options: WatchingOptions = {}): Promise<Watching> {
  const { cwd = '/', env = {}, before = [], command = 'watch' } = options;
  const argv = [...before, ...previewsArgv(command, ...args, '--json')];
  const child = spawn(argv[0]!, argv.slice(1), {
    cwd,
    env: plainEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => {
    out += piece;
  });
  child.stderr.on('data', (piece) => {
    err += piece;
  });
  const ended = once(child, 'close');
  await until(() => out.includes('\n') || child.exitCode !== null, 'the address is printed');
  if (!out.includes('\n')) throw new Error(`it ended with ${child.exitCode}: ${err}`);
  const line = JSON.parse(out.slice(0, out.indexOf('\n')));
  return {
    ...line,
    line,
    child,
    cookie: await signIn(line.url),
    stdout: () => out,
    stderr: () => err,
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      const [code, by] = await ended;
      return { code, signal: by };
    },
  };
}

/** The same server in this process, with caps that a test can reach. */
export async function serving(
  { root = null, session = null }: { root?: string | null; session?: string | null },
  options: Partial<ServeOptions> = {},
): Promise<Address & { server: PreviewServer }> {
  const server = await startServer({
    root,
    session,
    page: join(DIST, 'viewer'),
    verifier: join(DIST, 'commands/verifier.cjs'),
    ...options,
  });
  servers.push(server);
  return { server, origin: server.origin, port: server.port, cookie: await signIn(server.url) };
}

/** The cookie that the printed address gives. */
export async function signIn(url: string): Promise<string> {
  const { status, headers } = await ask({ origin: new URL(url).origin, cookie: '' }, url);
  const [cookie] = headers['set-cookie'] ?? [];
  if (status !== 303 || !cookie) throw new Error(`no cookie: ${status}`);
  return cookie.split(';')[0]!;
}

export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Asks for a path; the cookie is sent unless the headers say otherwise. */
export function ask(
  { origin, cookie }: Pick<Address, 'origin' | 'cookie'>,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, origin), { method, agent: false, headers: { cookie, ...headers } });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) }),
      );
    });
    sent.end();
  });
}

/** A connection that sends and reads bytes as they are. */
export function rawSocket(port: number): { socket: Socket; text: () => string; closed: () => boolean } {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const pieces: Buffer[] = [];
  let closed = false;
  socket.on('data', (piece) => pieces.push(piece));
  socket.on('close', () => {
    closed = true;
  });
  // ECONNRESET: the server has ended the connection, which is what is tested.
  socket.on('error', () => {});
  return { socket, text: () => Buffer.concat(pieces).toString('latin1'), closed: () => closed };
}

/** Sends bytes and returns what came back until the server closed the connection. */
export async function raw(port: number, bytes: string | Buffer): Promise<string> {
  const { socket, text, closed } = rawSocket(port);
  socket.write(bytes);
  await until(closed, 'the server closes the connection');
  return text();
}

/** The status line's code in what came back. */
export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1] ?? 0);

/** A request as text. `headers` are lines; Host, cookie and `Connection: close` are added unless given. */
export function requestText(
  { port, cookie }: Pick<Address, 'port' | 'cookie'>,
  target: string,
  headers: string[] = [],
  method = 'GET',
): string {
  const has = (name: string) => headers.some((line) => line.toLowerCase().startsWith(`${name}:`));
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(has('host') ? [] : [`Host: 127.0.0.1:${port}`]),
    ...(has('cookie') ? [] : [`Cookie: ${cookie}`]),
    ...(has('connection') ? [] : ['Connection: close']),
    ...headers,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** An upgrade as text; `headers` replace those of the same name. */
export function upgradeText(
  address: Pick<Address, 'port' | 'cookie'>,
  headers: string[] = [],
  target = '/stream',
) {
  const has = (name: string) => headers.some((line) => line.toLowerCase().startsWith(`${name}:`));
  return requestText(address, target, [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...(has('origin') ? [] : [`Origin: http://127.0.0.1:${address.port}`]),
    ...headers.filter((line) => line !== 'Origin:'),
  ]);
}

type Of<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>;

/** A page that follows: checks each message by the protocol's schema, and that `seq` has no gap. */
export interface Page {
  socket: WebSocket;
  messages: ServerMessage[];
  /** What it would show: each step once, in order. Begins anew with a snapshot that is not resumed. */
  steps(): number[];
  cursor(): string | null;
  session(): Of<'snapshot'>['session'] | null;
  snapshots(): Of<'snapshot'>[];
  /** Bytes of the largest message. */
  largest(): number;
  hello(session?: string | null, cursor?: string | null): void;
  /** Asks, and resolves to the answer of the same id. */
  ask(request: Record<string, unknown>): Promise<any>;
  /** Resolves when `condition` holds. */
  until(condition: (page: Page) => unknown, what: string): Promise<void>;
  closed(): { code: number; reason: string } | null;
}

/** Opens a page. `steps` are what it has already, as after a broken connection. */
export async function openPage(
  { origin, cookie }: Pick<Address, 'origin' | 'cookie'>,
  {
    session = null,
    cursor = null,
    steps = [],
    hello = true,
  }: {
    session?: string | null;
    cursor?: string | null;
    steps?: number[];
    hello?: boolean;
  } = {},
): Promise<Page> {
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/stream`, { headers: { cookie, origin } });
  sockets.push({ destroy: () => socket.terminate() });
  const messages: ServerMessage[] = [];
  let shown = [...steps];
  let seq = 0;
  let largest = 0;
  let id = 0;
  let last: string | null = cursor;
  let current: Of<'snapshot'>['session'] | null = null;
  let wrong: Error | null = null;
  let closed: { code: number; reason: string } | null = null;
  socket.on('message', (bytes: Buffer) => {
    largest = Math.max(largest, bytes.length);
    try {
      const message = serverMessageSchema.parse(JSON.parse(bytes.toString('utf8')));
      messages.push(message);
      if ('seq' in message && message.seq !== seq++)
        throw new Error(`message ${message.seq} came as number ${seq - 1}`);
      if (message.type === 'snapshot') {
        current = message.session;
        if (!message.resumed) shown = [];
      }
      if (message.type === 'head') current = message.session;
      if (message.type === 'snapshot' || message.type === 'steps') {
        last = message.cursor;
        for (const { index } of message.steps) {
          if (shown.length > 0 && index !== shown.at(-1)! + 1)
            throw new Error(`step ${index} came behind step ${shown.at(-1)}`);
          shown.push(index);
        }
      }
    } catch (error) {
      wrong ??= error as Error;
    }
  });
  socket.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() };
  });
  socket.on('error', (error) => {
    if (socket.readyState === WebSocket.CONNECTING) wrong ??= error;
  });
  await until(() => socket.readyState !== WebSocket.CONNECTING, 'the socket opens');
  const page: Page = {
    socket,
    messages,
    steps: () => [...shown],
    cursor: () => last,
    session: () => current,
    snapshots: () => messages.filter((message) => message.type === 'snapshot'),
    largest: () => largest,
    hello: (key = null, from = null) =>
      socket.send(JSON.stringify({ type: 'hello', protocol: STREAM_PROTOCOL, session: key, cursor: from })),
    async ask(asked) {
      const mine = ++id;
      socket.send(JSON.stringify({ ...asked, id: mine }));
      const find = () => messages.find((message) => 'id' in message && message.id === mine);
      await page.until(find, `an answer to ${JSON.stringify(asked)}`);
      return find();
    },
    async until(condition, what) {
      await until(() => {
        if (wrong) throw wrong;
        return Boolean(condition(page));
      }, what);
    },
    closed: () => closed,
  };
  if (hello) {
    page.hello(session, cursor);
    await page.until(() => messages.length > 0, 'the first message');
  }
  return page;
}
