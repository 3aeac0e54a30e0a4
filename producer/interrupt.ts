// Ctrl-C and its like: the first one ends the renderer and leaves no half bundle; what is being committed is finished.

/** Runs `work` with a signal that SIGINT, SIGTERM and SIGHUP abort. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of names) process.on(name, abort);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of names) process.off(name, abort);
  }
}
