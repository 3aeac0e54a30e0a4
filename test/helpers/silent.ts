// A file system that tells of nothing, as network mounts are: the watch is granted, for an event that does not come.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SILENT = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <sys/inotify.h>
int inotify_add_watch(int fd, const char *path, uint32_t mask) {
  static int (*real)(int, const char *, uint32_t);
  if (!real) real = dlsym(RTLD_NEXT, "inotify_add_watch");
  (void)mask;
  return real(fd, path, IN_UNMOUNT | IN_MOVE_SELF);
}
`;

/** Builds the library in `folder` and returns the environment that a child needs. */
export function silentWatches(folder: string): { LD_PRELOAD: string } {
  const source = join(folder, 'silent.c');
  const library = join(folder, 'silent.so');
  writeFileSync(source, SILENT);
  execFileSync('gcc', ['-O1', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  return { LD_PRELOAD: library };
}

/** Why this machine can't limit watches for a process, or null. */
export function limitSkip(): string | null {
  if (process.platform !== 'linux') return 'needs Linux';
  try {
    execFileSync('unshare', ['-rU', 'sh', '-c', 'echo 5 > /proc/sys/user/max_inotify_watches'], {
      stdio: 'ignore',
    });
    return null;
  } catch {
    return 'skipped: this user may not make a user namespace (unshare -rU)';
  }
}

/** What to put before an argv so that it runs in a user namespace where `limit` is 0. */
export const withoutWatches = (limit: string): string[] => [
  'unshare',
  '-rU',
  'sh',
  '-c',
  `echo 0 > /proc/sys/user/${limit}; exec "$@"`,
  'sh',
];
