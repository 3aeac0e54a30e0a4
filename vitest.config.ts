// How the tests run: each file in a process of its own, so that umask, environment and working directory stay apart.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Two files at a time, also on two cores: most of what a test does is waiting for the programs it started.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default'],
  },
});
