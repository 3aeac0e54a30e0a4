// A screen that nobody sees, for programs that draw by OpenGL: an Xvfb of this render alone, drawn in software, so
// that a picture is the same with and without a graphics card.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Display {
  /** The present environment, pointed at this screen. */
  env: NodeJS.ProcessEnv;
  close(): void;
}

const START_MS = 20_000;

/** Starts one; Xvfb itself picks a free number, so that any number may start at once. Rejects with what Xvfb said. */
export async function openDisplay(): Promise<Display> {
  const folder = mkdtempSync(join(tmpdir(), 'display-'));
  const auth = join(folder, 'auth');
  // Without a key any user of this machine could look at the screen and type into it.
  writeFileSync(auth, authority(randomBytes(16)), { mode: 0o600 });
  const server = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp', '-auth', auth],
    { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const close = () => {
    server.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const number = await numberOf(server);
    const env = { ...process.env, DISPLAY: `:${number}`, XAUTHORITY: auth, LIBGL_ALWAYS_SOFTWARE: '1' };
    // A program that could use Wayland would draw on the user's own screen.
    return { env: { ...env, WAYLAND_DISPLAY: undefined, QT_QPA_PLATFORM: 'xcb' }, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** The number that Xvfb writes to its third file once it takes connections. */
function numberOf(server: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = '';
    server.stderr!.on('data', (piece) => {
      said = (said + piece).slice(-2000);
    });
    const fail = (why: string) => reject(new Error(`Xvfb ${why}${said ? `: ${said.trim()}` : ''}`));
    const timer = setTimeout(() => fail(`did not start within ${START_MS / 1000} s`), START_MS);
    server.on('error', (error) => fail(`could not be started (${error.message})`));
    server.on('exit', (code, signal) => fail(`ended with ${signal ?? code}`));
    let text = '';
    (server.stdio[3] as NodeJS.ReadableStream).on('data', (piece) => {
      text += piece;
      if (!text.includes('\n')) return;
      clearTimeout(timer);
      resolve(Number(text));
    });
  });
}

/** An Xauthority file: one MIT-MAGIC-COOKIE-1 for any address and any number (family 65535, empty number). */
function authority(key: Buffer): Buffer {
  const counted = (content: Buffer | string) => {
    const bytes = Buffer.from(content as string);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    return [length, bytes];
  };
  return Buffer.concat([
    Buffer.from([0xff, 0xff]),
    ...counted(''),
    ...counted(''),
    ...counted('MIT-MAGIC-COOKIE-1'),
    ...counted(key),
  ]);
}
