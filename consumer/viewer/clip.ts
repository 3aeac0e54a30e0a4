// Whether somebody is watching or hearing something: then the page does not take it away.

/** True while a clip or a sound on the stage plays. */
export const isPlaying = (): boolean =>
  [...document.querySelectorAll<HTMLMediaElement>('.stage video, .stage audio')].some(
    ({ paused, ended }) => !paused && !ended,
  );
