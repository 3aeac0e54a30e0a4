// Our terminal while a recording is replayed on it: keys as they are typed, a line below that is renewed in place, and
// all put right again however it ends, or whenever we are stopped.
import { writeText } from '../../src/cli.js';
import { errnoOf } from '../../src/errors.js';
import { isAttributesReply, isGraphicsReply, QUERY } from './images.js';
import { type Key, keyReader } from './keys.js';

export interface Screen {
  /** Whole lines, above the status line. */
  print(text: string): void;
  status(text: string): void;
  readonly columns: number;
  readonly rows: number;
  /** Whether the terminal shows kitty's pictures; false where it does not answer in time. */
  asksImages(): Promise<boolean>;
  close(): void;
}

export interface Heard {
  key(key: Key): void;
  /** A signal that ends us, or the terminal is gone. */
  end(signal: NodeJS.Signals): void;
}

const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
/** A terminal that has not said by then what it can is taken to show no pictures. */
const ANSWER_MS = 500;
/** The cursor hidden, and shown; the line erased. */
const HIDE = '\x1b[?25l';
const SHOW = '\x1b[?25h';
const ERASE = '\r\x1b[K';

export function openScreen(heard: Heard): Screen {
  const { stdin, stdout } = process;
  const keys = stdin.isTTY === true;
  let line = '';
  let inside = false;
  let told: ((answer: boolean) => void) | null = null;

  const write = (text: string): void => {
    try {
      writeText(1, text);
    } catch (error) {
      // EIO: the terminal is gone; SIGHUP may have been caught by somebody else.
      if (errnoOf(error) !== 'EIO') throw error;
      heard.end('SIGHUP');
    }
  };
  const enter = (): void => {
    if (keys) stdin.setRawMode(true);
    inside = true;
    write(HIDE + line);
  };
  const leave = (): void => {
    if (!inside) return;
    inside = false;
    write(ERASE + SHOW);
    if (keys) stdin.setRawMode(false);
  };
  /** As the terminal does it where it is not raw: the whole job, which the shell then sees stopped. */
  const suspend = (pid: number) => {
    leave();
    process.off('SIGTSTP', stopped);
    process.kill(pid, 'SIGTSTP');
    // A job that has no shell is not stopped at all.
    setTimeout(resume, 100);
  };
  const stopped = () => suspend(process.pid);
  const resume = () => {
    if (inside || closed) return;
    process.on('SIGTSTP', stopped);
    enter();
  };
  const read = keyReader();
  const typed = (bytes: string) => {
    for (const each of read(bytes)) {
      if ('reply' in each) {
        if (isGraphicsReply(each.reply)) told?.(true);
        else if (isAttributesReply(each.reply)) told?.(false);
      } else if (each.key === 'suspend') suspend(0);
      else if (each.key === 'interrupt') heard.end('SIGINT');
      else heard.key(each.key);
    }
  };
  const gone = () => heard.end('SIGHUP');

  let closed = false;
  enter();
  if (keys) {
    stdin.setEncoding('latin1');
    stdin.on('data', typed);
    stdin.on('end', gone);
    stdin.on('error', gone);
    stdin.resume();
  }
  for (const signal of ENDING) process.on(signal, heard.end);
  process.on('SIGTSTP', stopped);
  process.on('SIGCONT', resume);
  process.on('exit', leave);

  return {
    print: (text) => write(ERASE + text + line),
    status(text) {
      // One that does not fit would wrap, and could not be renewed.
      line = text.slice(0, Math.max(0, (stdout.columns || 80) - 1));
      write(ERASE + line);
    },
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
    async asksImages() {
      if (!keys) return false;
      const answer = new Promise<boolean>((resolve) => {
        const timer = setTimeout(resolve, ANSWER_MS, false);
        told = (value) => {
          clearTimeout(timer);
          resolve(value);
        };
      });
      write(QUERY);
      return answer;
    },
    close() {
      closed = true;
      line = '';
      leave();
      process.off('exit', leave);
      process.off('SIGCONT', resume);
      process.off('SIGTSTP', stopped);
      for (const signal of ENDING) process.off(signal, heard.end);
      if (keys) {
        stdin.off('data', typed);
        stdin.off('end', gone);
        stdin.off('error', gone);
        stdin.pause();
      }
    },
  };
}
