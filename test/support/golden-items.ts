/** Decisions to take steps on, with the ids of the fixture models. */
import { episodeWeights } from "../../src/core/objective/index.ts";
import type { TrainItem } from "../../src/core/ports.ts";

/** The five decisions of a golden gradient, of which some tokens are clipped. */
export function goldenItems(golden: ReadonlyMap<string, number[]>): TrainItem[] {
  const decisions = [...golden.keys()].flatMap((key) =>
    key.endsWith("/teacher_logp") ? [key.slice(0, -"/teacher_logp".length)] : [],
  );
  const get = (decision: string, name: string) => golden.get(`${decision}/${name}`)!;
  const weights = episodeWeights(
    decisions.map((decision) => ({ episode: decision.slice(0, 2), tokens: get(decision, "logp").length })),
  );
  return decisions.map((decision, n) => ({
    ...{ episode: decision.slice(0, 2), decision: n, weight: weights[n]! },
    promptIds: get(decision, "prompt_ids"),
    responseIds: get(decision, "response_ids"),
    teacherLogprobs: get(decision, "teacher_logp"),
    rolloutLogprobs: get(decision, "old_logp"),
  }));
}

/** The same with p_old of the student itself, and a response of no token. */
export function onPolicyItems(given: readonly TrainItem[]): TrainItem[] {
  const items = given.map((item) => ({ ...item, rolloutLogprobs: null }));
  return [...items, { ...items[0]!, responseIds: [], teacherLogprobs: [], weight: 0 }];
}
