#!/usr/bin/env node
// `previews`: finds the command's bundle and runs it. Nothing else is loaded before it is needed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dispatch } from '../src/dispatch.js';

dispatch('previews', process.argv[2], (file) => {
  const path = join(__dirname, 'commands', `previews-${file}.cjs`);
  return existsSync(path) ? require(path) : null;
});
