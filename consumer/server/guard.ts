// Who may ask the server for anything. Each request and each upgrade passes here before a byte of it is acted on:
// the Host that was meant, the page that asks, the token, the method.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface Gate {
  /** Values of `Host` that mean this server, in lower case: `127.0.0.1:4000`. */
  hosts: ReadonlySet<string>;
  token: string;
  /** The cookie's name; it has the port, since browsers share cookies among the ports of a host. */
  cookie: string;
  /** Header lines that a request may have. */
  headers: number;
}

export interface Refusal {
  status: 400 | 403 | 404 | 405 | 408 | 413 | 431 | 500 | 503;
  message: string;
}

const refuse = (status: Refusal['status'], message: string): Refusal => ({ status, message });

/**
 * Why a request or an upgrade is refused, or null. Says nothing of its token: see `hasToken`. A page of another origin
 * fails at `Host` (rebinding), at `Origin` (scripts and upgrades) or at `Sec-Fetch-Site` (pictures, frames, links).
 */
export function refusalOf(request: IncomingMessage, gate: Gate, kind: 'request' | 'upgrade'): Refusal | null {
  const { method, headers, rawHeaders } = request;
  if (rawHeaders.length / 2 > gate.headers) return refuse(431, `more than ${gate.headers} headers`);
  if (method !== 'GET' && (kind === 'upgrade' || method !== 'HEAD'))
    return refuse(405, 'only GET and HEAD are answered');
  const host = headers.host?.toLowerCase();
  // Node keeps the first of several; another reader might keep the last.
  if (host === undefined || countOf(rawHeaders, 'host') !== 1 || !gate.hosts.has(host))
    return refuse(403, 'this server is not known by that name');
  const { origin } = headers;
  if (origin === undefined ? kind === 'upgrade' : origin !== `http://${host}`)
    return refuse(403, 'pages of other origins are not answered');
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && !(site === 'none' && kind === 'request'))
    return refuse(403, 'other sites are not answered: paste the address into the address bar');
  if (Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined)
    return refuse(413, 'a request has no body');
  return null;
}

function countOf(rawHeaders: readonly string[], name: string): number {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === name) found++;
  return found;
}

/** Whether `given` is the token, in a time that does not tell how much of it is right. */
export function isToken(gate: Gate, given: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(gate.token));
}

/** Whether the request's cookie holds the token. */
export function hasToken(request: IncomingMessage, gate: Gate): boolean {
  const given = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${gate.cookie}=`))
    .map((pair) => pair.slice(gate.cookie.length + 1));
  // All are compared, so that the time does not tell which one is right.
  return given.map((value) => isToken(gate, value)).includes(true);
}

export interface Target {
  /** The path's parts, each decoded once; `/` has none. */
  parts: string[];
  query: URLSearchParams;
}

/** What a request line asks for, or null where it is no path of this server's. */
export function targetOf(url: string | undefined): Target | null {
  if (!url?.startsWith('/') || !/^[\x21-\x7e]+$/.test(url) || /[#\\]/.test(url)) return null;
  const mark = url.indexOf('?');
  const path = mark === -1 ? url : url.slice(0, mark);
  try {
    const parts = path === '/' ? [] : path.slice(1).split('/').map(decodeURIComponent);
    if (parts.some((part) => part.includes('\0'))) return null;
    return { parts, query: new URLSearchParams(mark === -1 ? '' : url.slice(mark + 1)) };
  } catch {
    // URIError: a percent sign without two digits behind it, or bytes that are no UTF-8.
    return null;
  }
}
