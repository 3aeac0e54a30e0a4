// The one error class, and the closed list of what can go wrong. guides/errors.md has a row for each
// code; test/contract/errors.test.ts holds the two lists together.

/** Process exit codes (protocol, section 7). */
export const EXIT = {
  done: 0,
  fault: 1,
  usage: 2,
  nothing: 3,
  render: 4,
  locked: 5,
  corrupt: 6,
  differs: 7,
  interrupted: 130,
} as const;

/** Every error code with the exit code it ends a command with. */
export const ERROR_CODES = {
  usage: EXIT.usage,
  config_invalid: EXIT.usage,
  recipe_unknown: EXIT.usage,
  version_newer: EXIT.usage,
  session_name: EXIT.usage,
  session_not_active: EXIT.nothing,
  already_recorded: EXIT.nothing,
  not_found: EXIT.nothing,
  renderer_missing: EXIT.render,
  renderer_failed: EXIT.render,
  lock_timeout: EXIT.locked,
  lock_lost: EXIT.fault,
  session_damaged: EXIT.corrupt,
  bundle_damaged: EXIT.corrupt,
  disk_full: EXIT.fault,
  not_writable: EXIT.fault,
  io: EXIT.fault,
  step_too_large: EXIT.usage,
  bundle_gone: EXIT.fault,
  port_taken: EXIT.fault,
  interrupted: EXIT.interrupted,
  internal: EXIT.fault,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A failure said for its reader: what failed, on what (message), and what to try (hint). */
export class PreviewError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  constructor(code: ErrorCode, message: string, hint = '', options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'PreviewError';
    this.code = code;
    this.hint = hint;
  }
  /** Each bundle of the program has its own copy of this class; an error of one is an error of all. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'PreviewError' && 'code' in value;
  }
  get exitCode(): number {
    return ERROR_CODES[this.code];
  }
}

/** The `code` of a Node system error (`ENOENT` …), or undefined. */
export function errnoOf(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Turns whatever was thrown into a PreviewError, naming the path a system call failed on. */
export function asPreviewError(error: unknown): PreviewError {
  if (error instanceof PreviewError) return error;
  const errno = errnoOf(error);
  const at = (error as NodeJS.ErrnoException)?.path;
  const on = at ? ` on ${at}` : '';
  const text = error instanceof Error ? error.message : String(error);
  if (errno === 'ENOSPC' || errno === 'EDQUOT' || errno === 'EFBIG') {
    return new PreviewError(
      'disk_full',
      `the disk is full${on} (${errno})`,
      'free some space and run the command again; what was recorded before is intact',
      { cause: error },
    );
  }
  if (errno === 'EACCES' || errno === 'EPERM' || errno === 'EROFS') {
    return new PreviewError(
      'not_writable',
      `not allowed${on} (${errno})`,
      'check who owns the folder and whether it is mounted read-only, or name another with --root',
      { cause: error },
    );
  }
  if (errno)
    return new PreviewError(
      'io',
      text,
      'the file system refused a call; run the command again once it is well',
      { cause: error },
    );
  return new PreviewError(
    'internal',
    text,
    'this is a fault of preview-recorder; please report it with the command you ran',
    { cause: error },
  );
}
