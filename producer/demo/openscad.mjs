// A rover in OpenSCAD, in twelve edits, with the small editor beside this file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One edit each, as a modeller would make them. */
const EDITS = [
  [
    'part',
    'chassis',
    'color("Silver") translate([0, 0, wheel]) linear_extrude(14) offset(6) square([length - 12, width - 12], center = true);',
  ],
  [
    'part',
    'wheels',
    'for (x = places(), y = [-1, 1]) translate([x, y * (width / 2 + 5), wheel / 2 + 2]) rotate([90, 0, 0]) color("DimGray") linear_extrude(8, center = true) circle(d = wheel);',
  ],
  ['set', 'wheel=34'],
  [
    'part',
    'wheels',
    'for (x = places(), y = [-1, 1]) translate([x, y * (width / 2 + 6), wheel / 2 + 2]) rotate([90, 0, 0]) { color("DimGray") linear_extrude(14, center = true) difference() { union() { circle(d = wheel); for (a = [0 : 30 : 359]) rotate(a) translate([wheel / 2, 0]) square([5, 3], center = true); } circle(d = wheel * 0.55); } color("Goldenrod") linear_extrude(8, center = true) circle(d = wheel * 0.56); }',
  ],
  ['set', 'axles=3', 'length=130'],
  [
    'part',
    'panel',
    'translate([-16, 0, wheel + 24]) rotate([0, -8, 0]) { color("MidnightBlue") linear_extrude(2) square([80, width + 44], center = true); color("White") for (x = [-20, 0, 20]) translate([x, 0, 2]) linear_extrude(0.6) square([1, width + 40], center = true); } color("Gray") translate([-16, 0, wheel + 12]) linear_extrude(12) circle(d = 10);',
  ],
  [
    'part',
    'mast',
    'color("Gainsboro") translate([length / 2 - 16, 0, wheel + 13]) linear_extrude(mast) circle(d = 7);',
  ],
  [
    'part',
    'head',
    'translate([length / 2 - 16, 0, wheel + 13 + mast]) { color("White") linear_extrude(14) offset(3) square([12, 26], center = true); color("Black") for (y = [-8, 8]) translate([8, y, 7]) rotate([0, 90, 0]) linear_extrude(5) circle(d = 8); }',
  ],
  ['set', 'mast=64'],
  [
    'part',
    'antenna',
    'translate([-length / 2 + 12, -width / 2 + 8, wheel + 13]) { color("Gainsboro") linear_extrude(34) circle(d = 4); translate([0, 0, 34]) rotate([0, -35, 0]) color("Gold") rotate_extrude() polygon([[0, 0], [8, 2], [15, 7], [15, 9], [8, 4], [0, 2]]); }',
  ],
  [
    'part',
    'arm',
    'color("OrangeRed") translate([length / 2 - 2, -width / 4, wheel + 6]) { rotate([0, 55, 0]) linear_extrude(44) circle(d = 6); translate([36, 0, 25]) rotate([0, 140, 0]) linear_extrude(38) circle(d = 5); translate([58, 0, -6]) rotate([0, 90, 0]) linear_extrude(10) square([10, 16], center = true); }',
  ],
  [
    'part',
    'chassis',
    'color("Tomato") translate([0, 0, wheel]) difference() { linear_extrude(14) offset(6) square([length - 12, width - 12], center = true); for (x = [-1, 0, 1], y = [-1, 1]) translate([x * length / 4, y * width / 2, 7]) rotate([90, 0, 0]) linear_extrude(6, center = true) offset(2) square([20, 4], center = true); }',
  ],
];

export const title = 'A rover in OpenSCAD, one edit at a time';
export const needs = [
  { program: 'openscad', debian: 'openscad' },
  { program: 'Xvfb', debian: 'xvfb' },
];
export const recipe = 'rover';

/** A camera that stands still, so that from step to step only what was edited differs. */
const CONFIG = {
  software: 'openscad',
  default_recipe: 'rover',
  recipes: {
    rover: {
      description: 'The rover from one place',
      uses: 'openscad',
      with: { camera: '0,0,42,64,0,38,460', measure_s: 60 },
    },
  },
};

const FIRST = ['set', 'length=100', 'width=56', 'wheel=22', 'axles=2', 'mast=36', '$fn=32'];
const PLACES = 'function places() = [for (n = [0 : axles - 1]) (n / (axles - 1) - 0.5) * (length - wheel)];';

/** What the editor is given: a part's body stands behind `--`. */
const argsOf = ([verb, name, ...rest]) =>
  verb === 'part' ? [verb, name, '--', ...rest] : [verb, name, ...rest];

export const steps = ({ here, folder, node }) => {
  const scad = (args) => node(join(here, 'scad.mjs'), ['rover.scad', ...args]);
  const begin = () => {
    writeFileSync(join(folder, 'preview.config.json'), `${JSON.stringify(CONFIG, null, 2)}\n`);
    writeFileSync(join(folder, 'rover.scad'), `// parameters\n\n// parts\n${PLACES}\n\n// assembly\n`);
    scad(FIRST);
  };
  return EDITS.map((edit, n) => ({
    command: `scad rover.scad ${argsOf(edit).join(' ')}`,
    act: () => {
      if (n === 0) begin();
      scad(argsOf(edit));
    },
  }));
};
