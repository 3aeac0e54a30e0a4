// The form of what is said to be recorded. It stands alone: what says that nothing was needs no more than this.

/** What `capture --json` prints (protocol, section 7). */
export interface CaptureResult {
  session_dir: string;
  bundle_dir: string | null;
  bundle_id: string | null;
  manifest_path: string | null;
  summary_path: string | null;
  render: string | null;
  step_id: string | null;
  status: string | null;
  cached: boolean | null;
  artifact_count: number;
  warnings: string[];
}

/** The result where a session has no step yet, or where nothing could be recorded. */
export const emptyResult = (session_dir: string): CaptureResult => ({
  session_dir,
  bundle_dir: null,
  bundle_id: null,
  manifest_path: null,
  summary_path: null,
  render: null,
  step_id: null,
  status: null,
  cached: null,
  artifact_count: 0,
  warnings: [],
});
