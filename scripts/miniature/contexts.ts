/** The five contexts in which a teacher reads a decision of the miniature, rendered as for any other run. */
import { libraryContexts, type TextCodec } from "../../src/core/loop/index.ts";
import type { Episode, Source } from "../../src/core/record/schema.ts";
import { CONTROLS } from "../../src/core/retrieval/index.ts";
import { RESPONSE_TOKENS } from "./task.ts";

export const CONTEXTS = ["none", "hindsight-only", "minimum-prefix", "success-only", "graph"] as const;
export type ContextName = (typeof CONTEXTS)[number];

/**
 * What the teacher reads at each decision of an episode that carries its prompts.
 *
 * @returns prompt ids by the context's name and the decision
 */
export async function contextsOf(episode: Episode, sources: readonly Source[], codec: TextCodec) {
  const contexts = libraryContexts({ sources: async () => sources, codec });
  const prompts = episode.decisions.map(
    (decision, t) =>
      codec.prompt(decision, episode.environment, { episode: episode.episode, decision: t }).ids,
  );
  const read = new Map(
    await Promise.all(
      CONTROLS.map(
        async (control) =>
          [control as ContextName, await contexts(episode, { kind: "graph-conditioned", control })] as const,
      ),
    ),
  );
  return (name: ContextName, decision: number): { promptIds: readonly number[]; hasSuccess: boolean } => {
    const promptIds = prompts[decision]!;
    if (name === "none") return { promptIds, hasSuccess: false };
    const { promptIds: ids, successReference } = read.get(name)!(decision, promptIds, RESPONSE_TOKENS);
    return { promptIds: ids, hasSuccess: successReference !== null };
  };
}
