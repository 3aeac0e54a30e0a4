// What a frame of a film of a session says: who makes the film tells who draws it.

export type Tone = 'green' | 'yellow' | 'red';

/** What a frame says. All of it is untrusted. */
export interface FilmFrame {
  /** What its file is called. */
  name: string;
  step: string;
  of: string;
  title: string;
  when: string;
  outcome: { tone: Tone; text: string };
  command: string;
  headline: string;
  /** Earlier ones, the newest first. */
  before: { step: string; tone: Tone; mark: string; command: string }[];
  /** How much of the film is over with this frame, 0 to 1. */
  done: number;
  /** Files to show, the first that can be read. */
  pictures: string[];
}
