/** How the sequences of a training step are cut into passes. */
import type { ModelConfig } from "./config.ts";
import { keptTokens } from "./layer.ts";
import { branchTokens } from "./memory-plan.ts";
import { type ModelWork, makePacks, type Pack, passTokens, type Sequence } from "./packing.ts";
import { SHORTEST_PREFIX } from "./shared-prefix.ts";

/**
 * Of two ways to cut the work the one with less to compute: passes that keep their activations, or longer ones, in which
 * more sequences share a beginning and every token goes forward twice. Each pack has its own trunks.
 */
export function trainingPacks(
  sequences: readonly Sequence[],
  config: ModelConfig,
  device: { readonly packTokens: number },
  work: Pick<ModelWork, "maxTokensPerPack" | "recompute" | "shortestPrefix"> = {},
): Pack[] {
  const most = work.maxTokensPerPack ?? passTokens(device, config);
  const kept = keptTokens(config, device);
  const branch = branchWork(config);
  const shortest = work.shortestPrefix ?? Math.max(SHORTEST_PREFIX, branch);
  const cut = (tokens: number, recompute: boolean) =>
    makePacks(sequences, tokens, { keep: false, shortest, branchTokens: branchTokens(config, recompute) });
  const long = cut(most, work.recompute ?? most > kept);
  if (work.recompute !== undefined || most <= kept) return long;
  // Backward is twice forward.
  const cost = (packs: readonly Pack[]) =>
    packs.reduce((sum, { ids, spans }) => {
      const tokens = ids.length + branch * spans.filter(({ shared }) => shared > 0).length;
      return sum + tokens * (ids.length > kept ? 4 / 3 : 1);
    }, 0);
  const short = cut(kept, false);
  return cost(short) <= cost(long) ? short : long;
}

/**
 * How many tokens are as much work in training as a branch of a shared prefix: its 2·dk rows on the way back through the
 * delta rule, which is about a quarter of the work for a token (a third of a scoring pass by its profile).
 */
function branchWork(config: ModelConfig): number {
  return config.architecture === "qwen3_5" ? config.deltaNet.keySize / 2 : 0;
}
