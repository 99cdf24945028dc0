import { environmentRules } from "../core/environment/environment.ts";
import { evidenceInsert } from "../core/evidence/index.ts";
import type { Episode } from "../core/record/schema.ts";
import type { EvidenceMeter } from "../core/statistics/index.ts";
import { decisionPrompt } from "./decision-ids.ts";
import type { Tokenizer } from "./tokenizer.ts";

/**
 * Tokens of the evidence as it is inserted, against the environment's limit for prompt and evidence together. `file`
 * names where an episode was read from.
 */
export function tokenMeter(
  tokenizer: Tokenizer,
  file: (episode: Episode) => string | undefined,
): EvidenceMeter {
  return {
    unit: "tokens",
    size: (text) => tokenizer.count(evidenceInsert(text), { special: false }),
    budget: (episode, t) => {
      const decision = episode.decisions[t]!;
      const recorded = decision.prompt !== undefined || decision.prompt_ids !== undefined;
      const place = { episode: episode.episode, decision: t };
      return {
        limit: environmentRules(episode.environment).limits.evidenceTokens,
        prompt: recorded ? decisionPrompt(decision, tokenizer, episode.environment, place).ids.length : null,
      };
    },
    file,
  };
}
