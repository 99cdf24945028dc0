/** What is trained on: recorded episodes, or tasks that the student plays again. */
import { InputError } from "../errors.ts";
import type { SampleResult, Sampler, WorkOptions } from "../ports.ts";
import { taskKey } from "../record/library.ts";
import type { Episode } from "../record/schema.ts";
import { sha256Hex } from "../seeded.ts";
import type { TextCodec } from "./codec.ts";
import type { Progress } from "./live-episode.ts";
import { type RolloutSettings, type RolloutTask, rollout } from "./rollout.ts";

/** What a batch's episodes may depend on. */
export interface RolloutContext {
  /** Updates that the student has had. */
  policyVersion: number;
  student: Sampler;
  codec: TextCodec;
  signal?: AbortSignal;
  onProgress?: WorkOptions["onProgress"];
  /** Whole episodes from the start, one of each task, when absent. Only tasks that are played live can do otherwise. */
  plan?: SamplingPlan;
}

/** How a stage has the student play at one of its updates. */
export interface SamplingPlan {
  /** Decisions after which an episode is cut; a task's horizon when absent. */
  depth?(environment: string, horizon: number): number;
  /** What is replayed before the student's first decision; null where nothing is. */
  prefix?(environment: string, task: string): Promise<Progress | null>;
  /** Rollouts of a task, of 1/group as many tasks: the batch's first ones. The batch keeps its number of episodes. */
  group?: number;
}

/** An episode that is played on from one of its decisions, with a response that is given there. */
export interface Branch {
  /** Id of the episode that comes of it. */
  id: string;
  episode: Episode;
  decision: number;
  response: SampleResult;
  /** Student turns after it, at most. */
  turns: number;
  /** Enters the seeds of these turns, which no other branch and no rollout then has. */
  repetition: number;
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
  /** Completed student episodes of these units, in the same order; those of a group are neighbours. */
  episodes(places: readonly number[], context: RolloutContext): Promise<Episode[]>;
  /** Plays episodes on from the middle; absent where they are recorded. */
  branches?: {
    /** Longest response in an episode's task, in tokens. */
    maxTokens(episode: Episode): number;
    /** In environments of their own, with the decisions before the branch replayed. */
    play(branches: readonly Branch[], context: RolloutContext): Promise<Episode[]>;
  };
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
  const taskOf = ({ environment, task }: Episode): RolloutTask =>
    tasks.find((each) => each.environment === environment && each.task === task)!;
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
    episodes: async (places, { policyVersion, student, codec, signal, onProgress, plan = {} }) =>
      rollout(
        await plannedTasks(
          places.map((place) => tasks[place]!),
          plan,
        ),
        student,
        codec,
        { ...settings, policyVersion },
        { signal, onProgress, atOnce },
      ),
    branches: {
      maxTokens: (episode) => taskOf(episode).maxTokens,
      play: async (branches, { policyVersion, student, codec, signal }) =>
        rollout(
          branches.map((branch) => branchTask(taskOf(branch.episode), branch)),
          givenFirst(student, branches),
          codec,
          { ...settings, policyVersion },
          { signal, atOnce },
        ),
    },
  };
}

/** The tasks of a batch as a stage has them played. */
async function plannedTasks(
  tasks: readonly RolloutTask[],
  { depth, prefix, group }: SamplingPlan,
): Promise<RolloutTask[]> {
  const played: RolloutTask[] = [];
  for (const task of group === undefined ? tasks : inGroups(tasks, group)) {
    const { environment, maxDecisions } = task;
    const begun = (await prefix?.(environment, task.task)) ?? null;
    played.push({
      ...task,
      ...(depth === undefined ? {} : { maxDecisions: depth(environment, maxDecisions) }),
      ...(begun === null ? {} : { begun }),
    });
  }
  return played;
}

/** Tasks of a batch that are played in groups of so many rollouts: its first ones. */
export const groupsIn = (tasks: number, group: number): number => Math.max(1, Math.floor(tasks / group));

/** The first tasks, each as often as a group has rollouts: as many in all, so that some groups may have one more. */
function inGroups(tasks: readonly RolloutTask[], group: number): RolloutTask[] {
  const groups = groupsIn(tasks.length, group);
  return tasks.slice(0, groups).flatMap((task, n) => {
    const rollouts = Math.floor((tasks.length + groups - 1 - n) / groups);
    return Array.from({ length: rollouts }, (_, repetition) => ({
      ...task,
      episode: `${task.episode}#${repetition}`,
      seedText: (place: Parameters<RolloutTask["seedText"]>[0]) => task.seedText({ ...place, repetition }),
    }));
  });
}

function branchTask(task: RolloutTask, { id, episode, decision, turns, repetition }: Branch): RolloutTask {
  return {
    ...task,
    episode: id,
    maxDecisions: Math.min(task.maxDecisions, decision + 1 + turns),
    seedText: (place) => task.seedText({ ...place, repetition }),
    begun: {
      initialObservation: episode.initial_observation,
      decisions: episode.decisions.slice(0, decision),
      attempts: Array.from({ length: decision + 1 }, () => []),
      required: true,
    },
  };
}

/** The student, but for the first response of each branch, which is given. */
function givenFirst(student: Sampler, branches: readonly Branch[]): Sampler {
  const given = new Map(branches.map(({ id, response }) => [id, response]));
  return {
    async sample(requests, options) {
      const first = requests.map(({ id }) => {
        const response = given.get(id);
        given.delete(id);
        return response === undefined ? null : { ...response, id };
      });
      const rest = requests.filter((_, n) => first[n] === null);
      const others = rest.length === 0 ? [] : await student.sample(rest, options);
      let next = 0;
      return first.map((response) => response ?? others[next++]!);
    },
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
