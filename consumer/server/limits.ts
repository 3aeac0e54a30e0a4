// Every cap of the server beside those of its messages (STREAM_LIMITS), and its times (I10). guides/viewer.md lists them.

export const SERVER_LIMITS = {
  /** Open connections, of any kind. */
  connections: 256,
  /** Of these, pages that follow. */
  viewers: 64,
  /** A request's line and headers. */
  headerBytes: 16 * 1024,
  headers: 100,
  /** So long a client may take for its headers, and so long a connection may stand still. */
  headersMs: 10_000,
  idleMs: 120_000,
  /** What may wait to be taken by one page, before it is dropped. */
  bufferedBytes: 4 * 1024 * 1024,
  /** Requests of one page that wait for their answer. */
  requests: 64,
  /** Messages of one page that are none, before it is dropped. */
  badMessages: 20,
  /** So long a page may take for its `hello`. */
  helloMs: 10_000,
  /** A page that has not answered a ping until the next one is dead. */
  pingMs: 30_000,
  /** Sessions that are kept open although no page shows them, and for how long. */
  idleHubs: 4,
  idleHubMs: 30_000,
  /** A page that is live is told of so many new steps one by one; beyond, it begins anew. */
  behind: 2000,
  /** The part of a message that a listing of sessions may take. */
  sessionsBytes: 64 * 1024,
  /** Requests for verification that wait, of all pages. */
  verifications: 32,
  /** After an event the disk is read at once, then not oftener than this, and once more when it has been quiet. */
  spacingMs: 20,
  quietMs: 80,
  /** The disk is read this often even if no event comes; the second where none can be had. */
  safetyMs: 5000,
  pollMs: 1000,
};
export type ServerLimits = typeof SERVER_LIMITS;
