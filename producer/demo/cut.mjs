#!/usr/bin/env node
// A small editor of films by commands, with ffmpeg. The clip demo's "agent" works with it. It keeps what is to be seen in
// film.json and renders it to film.mp4, both in the folder it is run in.
//   cut shot NAME SECONDS SOURCE    a shot behind the others, or in place of the one of that name
//   cut look NAME FILTER            a filter of ffmpeg over one shot
//   cut join SECONDS                how long one shot turns into the next
//   cut words FROM TO X Y SIZE TEXT
//   cut inset SOURCE                a small picture in the corner
//   cut tone HZ                     a sound, with its waves along the bottom
//   cut fade SECONDS                to black at the end
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FONT = fileURLToPath(new URL('../../dist/fonts/DejaVuSans-Bold.ttf', import.meta.url));
const [SIZE, RATE] = ['640x360', 25];

const film = existsSync('film.json')
  ? JSON.parse(readFileSync('film.json', 'utf8'))
  : { shots: [], join: 0, words: [], inset: null, tone: null, fade: 0 };
const [verb, ...args] = process.argv.slice(2);

const VERBS = {
  shot: ([name, seconds, source]) => {
    const shot = { name, seconds: Number(seconds), source, look: 'null' };
    const at = film.shots.findIndex((each) => each.name === name);
    if (at >= 0) film.shots[at] = shot;
    else film.shots.push(shot);
  },
  look: ([name, filter]) => {
    film.shots.find((each) => each.name === name).look = filter;
  },
  join: ([seconds]) => {
    film.join = Number(seconds);
  },
  words: ([from, to, x, y, size, ...text]) => {
    film.words.push({ from, to, x, y, size, text: text.join(' ') });
  },
  inset: ([source]) => {
    film.inset = source;
  },
  tone: ([hertz]) => {
    film.tone = Number(hertz);
  },
  fade: ([seconds]) => {
    film.fade = Number(seconds);
  },
};

/** The inputs and the graph of filters that make the film. */
function graph({ shots, join, words, inset, tone, fade }) {
  const inputs = [];
  const input = (source) => inputs.push('-f', 'lavfi', '-i', source) / 4 - 1;
  const chains = shots.map(({ source, seconds, look }, n) => {
    const at = input(`${source}${source.includes('=') ? ':' : '='}s=${SIZE}:r=${RATE}`);
    return `[${at}:v]trim=duration=${seconds},setpts=PTS-STARTPTS,format=yuv420p,${look},settb=1/${RATE}[s${n}]`;
  });
  let [last, length] = ['s0', shots[0].seconds];
  for (const [n, { seconds }] of shots.slice(1).entries()) {
    const next = `j${n}`;
    if (join > 0) chains.push(`[${last}][s${n + 1}]xfade=duration=${join}:offset=${length - join}[${next}]`);
    else chains.push(`[${last}][s${n + 1}]concat=n=2,settb=1/${RATE}[${next}]`);
    length += seconds - join;
    last = next;
  }
  const then = (filter, name) => {
    chains.push(`[${last}]${filter}[${name}]`);
    last = name;
  };
  if (inset) {
    const at = input(`${inset}=s=160x90:r=${RATE}`);
    chains.push(`[${at}:v]trim=duration=${length},drawbox=c=white:t=3[small]`);
    chains.push(`[${last}][small]overlay=W-w-20:20:shortest=1[inset]`);
    last = 'inset';
  }
  if (tone) {
    const at = input(`aevalsrc='0.5*sin(2*PI*${tone}*t)*abs(sin(t*1.6))':d=${length}`);
    chains.push(`[${at}:a]asplit[sound][seen]`);
    chains.push(`[seen]showwaves=s=640x70:mode=cline:r=${RATE}:colors=white,format=yuva420p[waves]`);
    chains.push(`[${last}][waves]overlay=0:H-h:shortest=1[waved]`);
    last = 'waved';
  }
  for (const [n, { from, to, x, y, size, text }] of words.entries())
    then(
      `drawtext=fontfile='${FONT}':text='${text}':x=${x}:y=${y}:fontsize=${size}:fontcolor=white:box=1:boxcolor=black@0.45:boxborderw=10:enable='between(t,${from},${to})'`,
      `w${n}`,
    );
  if (fade > 0) then(`fade=out:st=${length - fade}:d=${fade}`, 'faded');
  const sound = tone ? ['-map', '[sound]', '-c:a', 'aac'] : [];
  return [
    ...inputs,
    '-filter_complex',
    chains.join(';'),
    '-map',
    `[${last}]`,
    ...sound,
    '-t',
    String(length),
  ];
}

if (!Object.hasOwn(VERBS, verb)) throw new Error(`there is no ${verb}: ${Object.keys(VERBS).join(', ')}`);
VERBS[verb](args);
writeFileSync('film.json', `${JSON.stringify(film, null, 2)}\n`);
execFileSync(
  'ffmpeg',
  [
    ...['-v', 'error', '-nostdin', '-y', ...graph(film)],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-pix_fmt', 'yuv420p', '-fflags', '+bitexact', 'film.mp4'],
  ],
  { stdio: 'inherit' },
);
