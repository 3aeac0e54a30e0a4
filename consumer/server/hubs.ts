// The sessions that pages show: one hub and one follower each, shared by all its pages, and kept a while after the last.
import type { Follower } from './follow.js';
import { followSession } from './follow.js';
import { type Hub, openHub, type Viewer } from './hub.js';
import type { ServerLimits } from './limits.js';
import type { Shelf } from './shelf.js';

export interface Hubs {
  /** Begins to tell `viewer` of a session; null where there is none of that key. */
  join(key: string, viewer: Viewer, cursor: string | null): Promise<Hub | null>;
  leave(hub: Hub, viewer: Viewer): void;
  /** The hub of a session that some page shows, or showed a while ago. */
  find(key: string): Hub | null;
  /** Folders may have come or gone. */
  hint(): void;
  close(): Promise<void>;
}

interface Held {
  hub: Hub;
  follower: Follower;
  /** Runs while no page shows it. */
  idle: NodeJS.Timeout | null;
  /** Pages that are about to join. */
  joining: number;
}

export function openHubs(options: {
  limits: ServerLimits;
  server: string;
  shelf: Shelf;
  onPolling: (why: string) => void;
}): Hubs {
  const { limits, server, shelf } = options;
  const held = new Map<string, Held>();

  const hold = (key: string): Held | null => {
    const known = held.get(key);
    if (known) return known;
    const dir = shelf.dirOf(key);
    if (dir === null) return null;
    const hub = openHub(key, dir, { limits, server, sessions: shelf.text });
    const follower = followSession(dir, { limits, look: hub.look, onPolling: options.onPolling });
    const made = { hub, follower, idle: null, joining: 0 };
    held.set(key, made);
    return made;
  };
  const drop = (key: string) => {
    const gone = held.get(key);
    if (!gone) return;
    clearTimeout(gone.idle ?? undefined);
    held.delete(key);
    void gone.follower.close();
  };
  const rest = (each: Held) => {
    if (each.hub.viewers() > 0 || each.joining > 0 || each.idle !== null) return;
    each.idle = setTimeout(() => drop(each.hub.key), limits.idleHubMs);
    const idle = [...held.values()].filter(({ idle }) => idle !== null);
    for (const { hub } of idle.slice(0, Math.max(0, idle.length - limits.idleHubs))) drop(hub.key);
  };

  return {
    async join(key, viewer, cursor) {
      const each = hold(key);
      if (each === null) return null;
      clearTimeout(each.idle ?? undefined);
      each.idle = null;
      each.joining++;
      try {
        await each.hub.join(viewer, cursor);
      } finally {
        each.joining--;
        rest(each);
      }
      return each.hub;
    },
    leave(hub, viewer) {
      hub.leave(viewer);
      const each = held.get(hub.key);
      if (each) rest(each);
    },
    find: (key) => held.get(key)?.hub ?? null,
    hint() {
      for (const { follower } of held.values()) follower.hint();
    },
    async close() {
      const followers = [...held.values()].map(({ follower }) => follower.close());
      for (const key of [...held.keys()]) drop(key);
      await Promise.all(followers);
    },
  };
}
