// Answers: the headers that each one has, and refusals with a short text.
import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Refusal } from './guard.js';

/** Nothing is sniffed, embedded or read by another origin, and no address is told to one. */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=()',
} as const;

const NOTHING_MAY_RUN = "default-src 'none'; frame-ancestors 'none'";

const headersOf = ({ status, message }: Refusal): OutgoingHttpHeaders => ({
  ...SECURITY_HEADERS,
  'Content-Security-Policy': NOTHING_MAY_RUN,
  'Cache-Control': 'no-store',
  'Content-Type': 'text/plain; charset=utf-8',
  'Content-Length': Buffer.byteLength(`${message}\n`),
  ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
  // What stands behind a refused request on the connection is not trusted to be another one.
  ...(status === 404 ? {} : { Connection: 'close' }),
});

/** Refuses a request. */
export function refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  response.writeHead(refusal.status, headersOf(refusal));
  response.end(request.method === 'HEAD' ? undefined : `${refusal.message}\n`);
}

/** Refuses an upgrade, or what is no request at all, and ends the connection. */
export function refuseSocket(socket: Duplex, refusal: Refusal): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const headers = { ...headersOf(refusal), Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines.join('\r\n')}\r\n\r\n${refusal.message}\n`,
  );
}
