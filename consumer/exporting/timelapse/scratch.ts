// A folder for the frames of one film, in the system's place for temporary files, and gone with it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Scratch {
  dir: string;
  write(name: string, content: string): void;
  close(): void;
}

export function openScratch(): Scratch {
  const dir = mkdtempSync(join(tmpdir(), 'timelapse-'));
  return {
    dir,
    write: (name, content) => writeFileSync(join(dir, name), content, { flag: 'wx' }),
    close: () => rmSync(dir, { recursive: true, force: true }),
  };
}
