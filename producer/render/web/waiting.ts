// What a page is waited for, said when the time is up: the capture ends its renderer with SIGTERM, and the last words of
// a renderer are in the warning.

/** Notes what is waited for from now on. */
export type Waits = (what: string) => void;

/** Returns what notes it. Said at SIGTERM, after which nothing more is: a browser that is closed would complain. */
export function sayAtEnd(): Waits {
  let waiting = '';
  process.once('SIGTERM', () => {
    if (waiting) process.stderr.write(`it was still waiting for ${waiting}\n`);
    process.kill(process.pid, 'SIGKILL');
  });
  return (what) => {
    waiting = what;
  };
}
