import { environmentRules } from "../../core/environment/environment.ts";
import { evidenceInsert } from "../../core/evidence/index.ts";
import type { EvidenceMeter } from "../../core/statistics/index.ts";
import { decisionPrompt, type Tokenizer } from "../../text/index.ts";

/** Tokens of the evidence as it is inserted, against the environment's limit for prompt and evidence together. */
export function tokenMeter(tokenizer: Tokenizer): EvidenceMeter {
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
  };
}
