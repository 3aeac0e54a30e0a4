// Where the server listens and by which names it may be called.
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { PreviewError } from '../../src/errors.js';

export const LOOPBACK = '127.0.0.1';
/** Characters that a token needs where other machines can reach the server. */
export const OWN_TOKEN = 32;

const isLoopback = (host: string): boolean => host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

const inAddress = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

/** All addresses of this machine, the outer ones first. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .sort((a, b) => Number(a.internal) - Number(b.internal) || a.family.localeCompare(b.family))
    .map(({ address }) => address);

const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::';

/** The address to bind and the token, once they are allowed together. @throws PreviewError `usage`. */
export function checkedAddress(host: string | undefined, token: string | undefined): string {
  if (token !== undefined && (token.length < OWN_TOKEN || !/^[A-Za-z0-9._~-]{1,512}$/.test(token)))
    throw new PreviewError(
      'usage',
      `a token has at least ${OWN_TOKEN} letters, digits or . _ ~ -`,
      'make one with `openssl rand -hex 32`',
    );
  // A name may lead to either address, and to one of them something else may listen.
  const address = host === undefined || host === 'localhost' ? LOOPBACK : host;
  if (!isLoopback(address) && token === undefined)
    throw new PreviewError(
      'usage',
      `--host ${address} lets other machines in`,
      `give a token of your own with it: --token, at least ${OWN_TOKEN} characters`,
    );
  return address;
}

/** What `Host` may say, in lower case. */
export function hostsOf(address: string, port: number): Set<string> {
  const names = isAny(address)
    ? [...ownAddresses(), hostname(), 'localhost']
    : [address, ...(isLoopback(address) ? ['localhost'] : [])];
  return new Set(
    names
      .map((name) => inAddress(name).toLowerCase())
      .flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])),
  );
}

/** The address to print: literal, since a name may lead elsewhere. */
export function originOf(address: string, port: number): string {
  const literal = isAny(address) ? (ownAddresses()[0] ?? LOOPBACK) : address;
  return `http://${inAddress(literal)}:${port}`;
}
