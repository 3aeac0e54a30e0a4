// The server of `previews watch`: http and a websocket on one port, for one preview root or one session. It reads the
// recording and never writes in it; a note that a page sends is kept beside the root. Every request passes the guard before anything else is done with it.
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { errnoOf, PreviewError } from '../../src/errors.js';
import { openRecording } from '../../src/recording.js';
import { shower } from '../../src/shown.js';
import { checkedAddress, hostsOf, originOf } from './address.js';
import { sendFile } from './files.js';
import { followRoot } from './follow.js';
import { type Gate, hasToken, type Refusal, refusalOf, targetOf } from './guard.js';
import { openHubs } from './hubs.js';
import { SERVER_LIMITS, type ServerLimits } from './limits.js';
import { openPages, signIn } from './pages.js';
import { refuse, refuseSocket } from './respond.js';
import { openShelf } from './shelf.js';
import { openStreams } from './stream.js';
import { openVerifier } from './verify.js';

export interface ServeOptions {
  /** The preview root whose sessions are shown; it need not exist yet. Null: only `session`. */
  root: string | null;
  /** The folder of the session in front; null: the newest of the root. */
  session: string | null;
  /** The folder of the page's own files. */
  page: string;
  /** The built file of verifier.ts. */
  verifier: string;
  /** Default: 127.0.0.1. Any address that is not a loopback one needs a token of the user's own. */
  host?: string | undefined;
  /** Default: any that is free. */
  port?: number | undefined;
  /** Default: a fresh one of 128 bits. */
  token?: string | undefined;
  limits?: Partial<ServerLimits>;
  /** Told once where the system refuses watches. */
  onWarning?: (warning: string) => void;
}

export interface PreviewServer {
  /** `http://127.0.0.1:PORT`. */
  origin: string;
  port: number;
  token: string;
  /** The address that signs in: origin and token. */
  url: string;
  /** Pages that follow. */
  pages(): number;
  close(reason?: string): Promise<void>;
}

const MISSING: Refusal = { status: 404, message: 'there is nothing here' };
const MALFORMED: Refusal = { status: 400, message: 'that is no address of this server' };
const STRANGER: Refusal = { status: 403, message: 'open the address that `previews watch` printed' };
const FAULT: Refusal = { status: 500, message: 'that could not be read' };

/** @throws PreviewError `usage` for an address that may not be used, `port_taken` for one that is. */
export async function startServer(options: ServeOptions): Promise<PreviewServer> {
  const limits: ServerLimits = { ...SERVER_LIMITS, ...options.limits };
  const address = checkedAddress(options.host, options.token);
  const token = options.token ?? randomBytes(16).toString('base64url');
  const pages = openPages(options.page);
  const onPolling = once((why: string) =>
    options.onWarning?.(`watch_polling: ${why}; the disk is read every ${limits.pollMs / 1000} s instead`),
  );

  const server = createServer({
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.headersMs,
    connectionsCheckingInterval: Math.min(1000, limits.headersMs),
    keepAliveTimeout: 5000,
  });
  server.maxConnections = limits.connections;
  // Counted by the guard: what Node leaves out silently could be what the guard looks for.
  server.maxHeadersCount = 0;
  server.timeout = limits.idleMs;
  const port = await listen(server, address, options.port ?? 0);
  const gate: Gate = {
    hosts: hostsOf(address, port),
    token,
    cookie: `preview_${port}`,
    headers: limits.headers,
  };

  const shelf = openShelf({
    root: options.root,
    session: options.session,
    bytes: limits.sessionsBytes,
    onChange: () => streams.tellSessions(),
  });
  const hubs = openHubs({ limits, server: randomUUID(), shelf, onPolling });
  const verifier = openVerifier(options.verifier, limits.verifications);
  const streams = openStreams({ limits, shelf, hubs, verifier });
  const follower =
    options.root === null
      ? null
      : followRoot(options.root, {
          limits,
          onPolling,
          look: async () => {
            await shelf.look();
            hubs.hint();
          },
        });

  const bundleDir = (session: string, bundle: string): string | null => {
    const hub = hubs.find(session);
    if (hub) return hub.shower().bundleDir(bundle);
    const dir = shelf.dirOf(session);
    return dir === null ? null : shower(() => openRecording(dir)).bundleDir(bundle);
  };
  const sendArtifact = (
    request: IncomingMessage,
    response: ServerResponse,
    parts: string[],
    query: URLSearchParams,
  ) => {
    const [session, bundle, ...path] = parts;
    if (path.length === 0 || parts.some((part) => /^\.{0,2}$|[/\\]/.test(part))) return false;
    const dir = bundleDir(session!, bundle!);
    return dir !== null && sendFile(request, response, { bundle: dir, path: path.join('/'), query });
  };
  const handle = (request: IncomingMessage, response: ServerResponse): Refusal | null => {
    const refusal = refusalOf(request, gate, 'request');
    if (refusal) return refusal;
    const target = targetOf(request.url);
    if (target === null) return MALFORMED;
    const [first = 'index.html', ...rest] = target.parts;
    const given = target.query.get('token');
    if (target.parts.length === 0 && given !== null) return signIn(response, gate, given) ? null : STRANGER;
    if (!hasToken(request, gate)) return STRANGER;
    if (first === 'file') return sendArtifact(request, response, rest, target.query) ? null : MISSING;
    if (rest.length > 0 || !pages.has(first)) return MISSING;
    pages.send(request, response, first);
    return null;
  };

  server.on('request', (request, response) => {
    try {
      const refusal = handle(request, response);
      if (refusal) refuse(request, response, refusal);
    } catch {
      // Whatever was asked for, the disk may fail; nobody is told more than that.
      if (response.headersSent) response.destroy();
      else refuse(request, response, FAULT);
    }
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    const target = targetOf(request.url);
    const refusal =
      refusalOf(request, gate, 'upgrade') ??
      (target === null ? MALFORMED : null) ??
      (hasToken(request, gate) ? null : STRANGER) ??
      (target?.parts.join('/') === 'stream' ? null : MISSING);
    if (refusal) refuseSocket(socket, refusal);
    else streams.accept(request, socket, head);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }[error.code ?? ''] ?? 400;
    refuseSocket(socket, { status: status as 400, message: 'that is no request' });
  });

  await shelf.look();
  const origin = originOf(address, port);
  return {
    origin,
    port,
    token,
    url: `${origin}/?token=${token}`,
    pages: streams.count,
    close: onceOnly(async (reason = 'the server was ended') => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([follower?.close(), hubs.close(), verifier.close(), streams.close(reason)]);
      server.closeAllConnections();
      await closed;
    }),
  };
}

function once(work: (why: string) => void): (why: string) => void {
  let done = false;
  return (why) => {
    if (!done) work(why);
    done = true;
  };
}

/** What runs once, whoever asks again gets the same end. */
function onceOnly(work: (reason?: string) => Promise<void>): (reason?: string) => Promise<void> {
  let running: Promise<void> | null = null;
  return (reason) => {
    running ??= work(reason);
    return running;
  };
}

/** Binds the address. Resolves to the port. */
function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(refusedAddress(error, host, port)));
    server.listen({ host, port, exclusive: true }, () => {
      server.removeAllListeners('error');
      // A connection that cannot be taken, for want of descriptors, is that client's loss.
      server.on('error', () => {});
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function refusedAddress(error: Error, host: string, port: number): PreviewError {
  if (errnoOf(error) === 'EADDRINUSE')
    return new PreviewError(
      'port_taken',
      `something else listens on ${host}:${port} already`,
      'leave --port out, and one that is free is taken',
      { cause: error },
    );
  return new PreviewError(
    'usage',
    `cannot listen on ${host}:${port}: ${error.message}`,
    'name another --host or --port',
    {
      cause: error,
    },
  );
}
