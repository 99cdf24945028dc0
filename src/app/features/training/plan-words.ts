/** What a training config comes to, in a sentence. */
import { configuredMethod } from "../../../core/loop/configured-method.ts";
import { isFreshRun, policyWords, type TrainConfig } from "../../../core/loop/train-config.ts";
import { countOf, plural } from "../../../core/plural.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { methodWords, stageWord } from "../../compute/training/training-form.ts";

/** `units`: how many episodes or live tasks the run is over; null where that is not known. */
export function planWords(config: TrainConfig, units: number | null): string {
  const fresh = isFreshRun(config);
  const words = `${policyWords(fresh)}; method: ${methodWords(config)}`;
  if (units === null) return words;
  const batches = Math.ceil(units / config.batch_size);
  const taken = configuredMethod(config)
    .stages.map((stage) => ({ steps: stage.epochs * batches, word: shownName(stageWord(stage)) }))
    .filter(({ steps }) => steps > 0);
  const stages = taken.map(
    ({ steps, word }, n) => `${steps} ${word}${n === 0 ? ` ${plural(steps, "step")}` : ""}`,
  );
  const over = countOf(units, config.environment === undefined ? "episode" : "task");
  const plan = `${stages.join(", then ") || "no steps"}, over ${over}`;
  // There is no step after the only one.
  const isOne = taken.length === 1 && taken[0]!.steps === 1;
  return isOne && !fresh ? `${plan}; method: ${methodWords(config)}` : `${plan}, ${words}`;
}
