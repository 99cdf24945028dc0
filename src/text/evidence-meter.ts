import { environmentRules } from "../core/environment/environment.ts";
import { evidenceInsert } from "../core/evidence/index.ts";
import { type Episode, hasPrompt } from "../core/record/schema.ts";
import { CHARACTERS, type EvidenceMeter } from "../core/statistics/index.ts";
import { decisionPrompt } from "./decision-ids.ts";
import type { Tokenizer } from "./tokenizer.ts";

/**
 * Tokens of the evidence as it is inserted, against the environment's limit for prompt and evidence together; characters
 * without a tokenizer. `file` names where an episode was read from.
 */
export function evidenceMeter(
  tokenizer: Tokenizer | null,
  file: (episode: Episode) => string | undefined,
): EvidenceMeter {
  if (tokenizer === null) return CHARACTERS;
  return {
    unit: "tokens",
    size: (text) => tokenizer.count(evidenceInsert(text), { special: false }),
    budget: (episode, t) => {
      const decision = episode.decisions[t]!;
      const place = { episode: episode.episode, decision: t };
      return {
        limit: environmentRules(episode.environment).limits.evidenceTokens,
        prompt: hasPrompt(decision)
          ? decisionPrompt(decision, tokenizer, episode.environment, place).ids.length
          : null,
      };
    },
    file,
  };
}
