/** What a stage makes of a scored batch: the weights of its tokens, and the terms of their advantage. */
import { InputError } from "../errors.ts";
import type { Stage, StageWeights } from "../method/method.ts";
import { rampAt, type StageUpdate } from "../method/ramp.ts";
import {
  groupAdvantages,
  stepDivergenceWeights,
  turnBalancedWeights,
  turnDivergence,
  turnUncertainty,
  turnUtilityWeights,
} from "../objective/index.ts";
import type { Trainer, TrainItem } from "../ports.ts";
import { taskKey } from "../record/library.ts";
import type { Episode } from "../record/schema.ts";
import type { Row } from "./rows.ts";

/** Whether a stage reads log p of the student before its step. */
export const readsStudent = ({ weights, bridge, sampling }: Stage): boolean =>
  bridge !== undefined ||
  sampling?.kind === "adaptive-depth" ||
  (weights !== undefined && weights.kind !== "turn-balanced");

/** log p of each row's response: as it was drawn where every row says so, else by the student as it is. */
export async function studentLogprobs(
  rows: readonly Row[],
  student: Pick<Trainer, "score">,
  signal: AbortSignal | undefined,
): Promise<ArrayLike<number>[]> {
  const known = rows.flatMap(({ rolloutLogprobs }) =>
    rolloutLogprobs?.every(Number.isFinite) ? [rolloutLogprobs] : [],
  );
  if (known.length === rows.length) return known;
  const scored = await student.score(
    rows.map(({ promptIds, responseIds }, n) => ({ id: String(n), promptIds, responseIds })),
    { signal },
  );
  return scored.map(({ logprobs }) => logprobs);
}

/**
 * A batch as its stage weighs it. Items that a stage without weights or reward gives stay as they are.
 *
 * @param items the student's, in order
 * @param student [items] log p of each; empty where the stage does not read it
 * @param episodes those of the batch
 */
export function stageItems(
  items: readonly TrainItem[],
  student: readonly ArrayLike<number>[],
  episodes: readonly Episode[],
  { weights, reward }: Stage,
  at: StageUpdate,
): TrainItem[] {
  const scales = weights === undefined ? null : signalScales(items, student, weights);
  const teacher = reward === undefined ? 1 : rampAt(reward.teacher, at);
  const rewards = reward === undefined ? null : rewardAdvantages(episodes, reward.of);
  const factor = reward === undefined ? 0 : rampAt(reward.factor, at);
  return items.map((item, n) => ({
    ...item,
    ...(scales === null && reward === undefined ? {} : { teacherScale: teacher * (scales?.[n] ?? 1) }),
    ...(rewards === null ? {} : { rewardAdvantage: factor * rewards.get(item.episode)! }),
  }));
}

/** TurnOPD's balance at an update, over all items that are trained on. */
export function balancedItems(items: readonly TrainItem[], { weights }: Stage, at: StageUpdate): TrainItem[] {
  if (weights?.kind !== "turn-balanced") return [...items];
  const balanced = turnBalancedWeights(
    items.map(({ decision, responseIds }) => ({ decision, tokens: responseIds.length })),
    rampAt(weights.balance, at),
  );
  return items.map((item, n) => ({ ...item, weight: balanced[n]! }));
}

/** Factors of the teacher's signal by turn, within each episode; null where a turn's weight is not one of the signal. */
function signalScales(
  items: readonly TrainItem[],
  student: readonly ArrayLike<number>[],
  weights: StageWeights,
): number[] | null {
  if (weights.kind === "turn-balanced") return null;
  const scales = items.map(() => 1);
  for (const places of placesByEpisode(items)) {
    const turns = places.map((place) => ({
      divergence: turnDivergence(student[place]!, items[place]!.teacherLogprobs!),
      uncertainty: turnUncertainty(student[place]!),
    }));
    const found =
      weights.kind === "step-divergence"
        ? stepDivergenceWeights(
            turns.map(({ divergence }) => divergence),
            weights,
          )
        : turnUtilityWeights(turns);
    for (const [k, place] of places.entries()) scales[place] = found[k]!;
  }
  return scales;
}

/** Each episode's advantage among the rollouts of its task, by its id. */
function rewardAdvantages(episodes: readonly Episode[], of: "success" | "score"): Map<string, number> {
  const groups = new Map<string, Episode[]>();
  for (const episode of episodes) {
    const key = taskKey(episode.environment, episode.task);
    groups.set(key, [...(groups.get(key) ?? []), episode]);
  }
  const found = new Map<string, number>();
  for (const group of groups.values()) {
    const advantages = groupAdvantages(group.map((episode) => rewardOf(episode, of)));
    for (const [n, { episode }] of group.entries()) found.set(episode, advantages[n]!);
  }
  return found;
}

function rewardOf(
  { environment, episode, outcome: { success, score } }: Episode,
  of: "success" | "score",
): number {
  if (of === "success") return success ? 1 : 0;
  if (score === null)
    throw new InputError(`the reward is the score, and ${environment} gave ${episode} none`, {
      key: "reward.of",
    });
  return score;
}

/**
 * The items of a batch with those of bridges, each among the tokens of its episode: L_e counts them, so that the episode's
 * weight stays.
 */
export function withBridges(items: readonly TrainItem[], bridged: readonly TrainItem[]): TrainItem[] {
  const tokens = (of: readonly TrainItem[]): number =>
    of.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
  const inEpisode = (of: readonly TrainItem[], episode: string): number =>
    tokens(of.filter((item) => item.episode === episode));
  return [...items, ...bridged.map((item): TrainItem => ({ ...item, bridge: true }))].map((item) => {
    const added = inEpisode(bridged, item.episode);
    if (added === 0) return item;
    const own = inEpisode(items, item.episode);
    return { ...item, weight: (item.weight * own) / (own + added) };
  });
}

function placesByEpisode(items: readonly TrainItem[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const [n, { episode }] of items.entries()) groups.set(episode, [...(groups.get(episode) ?? []), n]);
  return [...groups.values()];
}
