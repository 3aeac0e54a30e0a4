#!/usr/bin/env node
// `preview`: finds the command's bundle and runs it. Nothing else is loaded before it is needed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dispatch } from '../src/dispatch.js';

// `live status` is asked many times a minute, so it is a bundle of its own, without a parser of options.
const [first, second] = process.argv.slice(2);
const name = first === 'live' && second === 'status' ? 'status' : first;
dispatch(
  'preview',
  name,
  (file) => {
    const path = join(__dirname, 'commands', `preview-${file}.cjs`);
    return existsSync(path) ? require(path) : null;
  },
  () => process.exit(),
);
