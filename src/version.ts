// Names and numbers of the formats, and the version of this package.

declare const PREVIEW_VERSION: string | undefined;

/** Version of this package; esbuild fills it in, sources run directly say `dev`. */
export const PACKAGE_VERSION: string = typeof PREVIEW_VERSION === 'string' ? PREVIEW_VERSION : 'dev';

/** `version` of session.json that this program writes. Older ones are migrated on read, newer never written. */
export const HEAD_VERSION = 1;

export const BUNDLE_PROTOCOL = 'preview-bundle/v1';
export const LIVE_PROTOCOL = 'preview-live/v1';
export const TRAJECTORY_PROTOCOL = 'preview-trajectory/v1';

/** Every cap that the formats promise (I10). Bytes unless the name says otherwise. */
export const LIMITS = {
  stepLine: 16 * 1024,
  command: 4096,
  commandEncoded: 8192,
  note: 1024,
  label: 200,
  historySteps: 12,
  historyStep: 1024,
  recoveries: 200,
  orphans: 200,
  summary: 4096,
  bundle: 25 * 1024 * 1024,
  galleryImages: 8,
  heroPixels: 1280,
  thumbPixels: 320,
  manifestFiles: 200,
  logBytes: 1024 * 1024,
  status: 1024,
  /** A session rolls over into a new one after this many steps. */
  sessionSteps: 2_000_000,
  /** A neighbour's JSON file is read whole, so it may be no larger. */
  neighbourJson: 64 * 1024 * 1024,
  /** Folders that are searched for a neighbour's programs, and bundles of one that a listing has. */
  neighbourEntries: 1000,
} as const;
