// The library: read a session, or publish into one, without the command line.
export { type ArtifactInput, addArtifact } from './artifact.js';
export type { BundleFields } from './bundle.js';
export { BOXES, type Box, NEAR, type Rect } from './compare/boxes.js';
export {
  compareFacts,
  compareFiles,
  type FactChange,
  type FileChanges,
  isChanged,
  type NamedFile,
} from './compare/facts.js';
export {
  type CompareOptions,
  type Comparison,
  comparePixels,
  type Pixels,
  THRESHOLD,
} from './compare/pixels.js';
export { changedTiles, sameTiles, type Tiled, type Tiles } from './compare/tiles.js';
export { type Config, checkConfig, configJsonSchema, type Recipe } from './config.js';
export { ERROR_CODES, type ErrorCode, EXIT, PreviewError } from './errors.js';
export { findRoot, findSession } from './layout.js';
export { type BundleInput, type PublishOptions, publish } from './publish.js';
export { type Bundle, readBundle, readHead, readSession, readSteps, type Session } from './read.js';
export type { Artifact, Head, Manifest, Problem, Reading, Step, Summary } from './schema.js';
export {
  type OpenOptions,
  type OpenSession,
  openSession,
  type Recorded,
  startSession,
  stopSession,
} from './session.js';
export { readStatus } from './status.js';
export type { StepInput } from './step.js';
export { type Verdict, verify } from './verify.js';
export { HEAD_VERSION, LIMITS, PACKAGE_VERSION } from './version.js';
