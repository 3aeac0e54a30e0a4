// Opening the person's browser; not where there is no person to look.
import open from 'open';

/** Variables that agents and CI services set for what they run. */
const AUTOMATED =
  /^(CI|GITHUB_ACTIONS|GITLAB_CI|BUILDKITE|TF_BUILD|TEAMCITY_VERSION|JENKINS_URL|CLAUDECODE|CLAUDE_CODE_.+|CODEX_.+|GEMINI_CLI|CURSOR_.+|OPENCODE|OPENCODE_.+|AI_AGENT|AGENT)$/;

/** The variable that says that no person runs this, or null. */
export function automatedBy(env: NodeJS.ProcessEnv): string | null {
  const named = Object.entries(env).find(
    ([name, value]) => AUTOMATED.test(name) && value !== undefined && !['', '0', 'false'].includes(value),
  );
  return named?.[0] ?? null;
}

/** Opens `url` in the person's browser. Resolves to why it could not be, or null; the server lives on either way. */
export async function openBrowser(url: string): Promise<string | null> {
  const agent = automatedBy(process.env);
  if (agent !== null) return `${agent} is set, so an agent or CI runs this`;
  try {
    const child = await open(url);
    child.on('error', () => {});
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
