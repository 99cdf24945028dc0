/** What is trained on: recorded episodes, or tasks that the student plays again. */
import { InputError } from "../errors.ts";
import type { Sampler, WorkOptions } from "../ports.ts";
import { taskKey } from "../record/library.ts";
import type { Episode } from "../record/schema.ts";
import { sha256Hex } from "../seeded.ts";
import type { TextCodec } from "./codec.ts";
import { type RolloutSettings, type RolloutTask, rollout } from "./rollout.ts";

/** What a batch's episodes may depend on. */
export interface RolloutContext {
  /** Updates that the student has had. */
  policyVersion: number;
  student: Sampler;
  codec: TextCodec;
  signal?: AbortSignal;
  onProgress?: WorkOptions["onProgress"];
}

export interface TrainingData {
  unit: "episode" | "task";
  /** Names of the units, unique: a batch is some of them. */
  units: readonly string[];
  /** [units] the task of each: a batch holds different ones where it can. */
  tasks: readonly string[];
  /** True when `episodes` samples from the student. */
  fresh: boolean;
  /** SHA-256 of all that decides what is trained on. */
  fingerprint: string;
  /** Completed student episodes of these units, in the same order. */
  episodes(places: readonly number[], context: RolloutContext): Promise<Episode[]>;
}

/**
 * Episodes recorded before: B_τ of Eq. (7) as a file gives it.
 *
 * @throws InputError when there is none, or two share an id
 */
export function recordedData(episodes: readonly Episode[]): TrainingData {
  const units = episodes.map(({ episode }) => episode);
  requireUnits(units, "episode");
  return {
    unit: "episode",
    units,
    tasks: episodes.map(({ environment, task }) => taskKey(environment, task)),
    fresh: false,
    fingerprint: sha256Hex(JSON.stringify(episodes.map((episode) => sha256Hex(JSON.stringify(episode))))),
    episodes: async (places) => places.map((place) => episodes[place]!),
  };
}

/** Temperature and seed of sampling; the policy version comes with each batch. */
export type FreshSettings = Omit<RolloutSettings, "policyVersion">;

/**
 * Tasks that the current student plays, one rollout a task and batch: Rollout(p_old, B) of Eq. (7).
 *
 * @param atOnce episodes that run at the same time; a whole batch when absent
 * @throws InputError when there is none, or two share an id
 */
export function freshData(
  tasks: readonly RolloutTask[],
  settings: FreshSettings,
  atOnce?: number,
): TrainingData {
  const units = tasks.map(({ episode }) => episode);
  requireUnits(units, "task");
  const described = tasks.map(({ episode, environment, task, maxDecisions, maxTokens }) => [
    episode,
    environment,
    task,
    maxDecisions,
    maxTokens,
  ]);
  return {
    unit: "task",
    units,
    tasks: tasks.map(({ environment, task }) => taskKey(environment, task)),
    fresh: true,
    fingerprint: sha256Hex(JSON.stringify([described, settings])),
    episodes: async (places, { policyVersion, student, codec, signal, onProgress }) =>
      rollout(
        places.map((place) => tasks[place]!),
        student,
        codec,
        { ...settings, policyVersion },
        { signal, onProgress, atOnce },
      ),
  };
}

function requireUnits(units: readonly string[], unit: string): void {
  if (units.length === 0) throw new InputError(`nothing to train on: there is no ${unit}`);
  const seen = new Set<string>();
  for (const id of units) {
    if (seen.has(id)) throw new InputError(`two ${unit}s are named ${id}`);
    seen.add(id);
  }
}
