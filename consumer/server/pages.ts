// The page's own files, and the exchange of the printed address's token for a cookie.
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { type Gate, isToken } from './guard.js';
import { SECURITY_HEADERS } from './respond.js';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/**
 * Scripts and styles come from this server alone and none is inline, so that text which slips into the page as HTML
 * runs nothing and looks like nothing.
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "font-src 'self' data:",
  "connect-src 'self' blob: data:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface Pages {
  has(name: string): boolean;
  send(request: IncomingMessage, response: ServerResponse, name: string): void;
}

/** The files in `dir`, by name: nothing else can be asked for. They are read when they are asked for. */
export function openPages(dir: string): Pages {
  const names = new Set(readdirSync(dir).filter((name) => extname(name) in TYPES));
  return {
    has: (name) => names.has(name),
    send(request, response, name) {
      const content = readFileSync(join(dir, name));
      response.writeHead(200, {
        ...SECURITY_HEADERS,
        'Content-Security-Policy': PAGE_POLICY,
        'X-Frame-Options': 'DENY',
        'Cache-Control': 'no-store',
        'Content-Type': TYPES[extname(name)],
        'Content-Length': content.length,
      });
      response.end(request.method === 'HEAD' ? undefined : content);
    },
  };
}

/** Exchanges the token of the printed address for a cookie that scripts cannot read, and takes it out of the address. */
export function signIn(response: ServerResponse, gate: Gate, given: string): boolean {
  if (!isToken(gate, given)) return false;
  response.writeHead(303, {
    ...SECURITY_HEADERS,
    Location: '/',
    'Set-Cookie': `${gate.cookie}=${gate.token}; HttpOnly; SameSite=Strict; Path=/`,
    'Cache-Control': 'no-store',
    'Content-Length': 0,
  });
  response.end();
  return true;
}
