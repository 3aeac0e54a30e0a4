// The thread of verify.ts.
import { parentPort } from 'node:worker_threads';
import { openRecording } from '../../src/recording.js';
import { verdictOn } from '../../src/verdict.js';
import type { VerifyResult, VerifyTask } from './verify.js';

const resultOf = ({ dir, index }: VerifyTask): VerifyResult => {
  try {
    const recording = openRecording(dir);
    const step = recording.steps(index, index).value[0];
    if (!step) return { error: `step ${index} cannot be read` };
    return { verdict: verdictOn(recording, step) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
};

parentPort?.on('message', (task: VerifyTask) => parentPort?.postMessage(resultOf(task)));
