/** One event of each kind that the loop tells, and events as the worker's stream gives them. */
import type { TrainEvent } from "../../src/core/loop/events.ts";
import { eventText } from "../../src/protocol/job-event.ts";

export const AT = "2026-01-02T03:04:05.678Z";
const at = { step: 1, stage: 0, epoch: 0, batch: 0 };
const info = {
  model: "m",
  device: "cpu",
  adapter: "plain TypeScript",
  dtype: "f32",
  parameters: null,
  vocabulary: 9,
} as const;
export const metrics = {
  loss: 0.5,
  gradNorm: 1,
  episodes: 1,
  decisions: 1,
  tokens: 10,
  sequenceTokens: 20,
  clipFraction: 0,
  meanAdvantage: 0,
  meanAbsoluteAdvantage: 0,
  meanLogprob: -1,
  meanTeacherLogprob: -1,
  alignment: 0,
  rolloutKl: 0,
};
export const EVENTS: readonly TrainEvent[] = [
  {
    type: "start",
    method: "opd",
    units: 1,
    unit: "episode",
    batchSize: 1,
    steps: 2,
    teacher: info,
    student: info,
    parent: null,
    resumedFrom: null,
  },
  { type: "stage", stage: 0, name: "vanilla", epochs: 1, evidence: { kind: "none" } },
  { type: "epoch", stage: 0, epoch: 0, batches: 2, repeating: 0 },
  { type: "step", ...at, units: ["e"], repeatedTasks: 0, batches: 2 },
  { type: "rollout", ...at, episodes: 1, decisions: 2, successes: 0, ended: {}, seconds: 0.5 },
  {
    type: "scored",
    ...at,
    decisions: 1,
    tokens: 10,
    contextTokens: 99,
    successReferences: 0,
    failureReferences: 0,
    backReferences: 0,
    cutPrompts: 0,
    rolloutPolicy: "recorded",
    seconds: 1,
  },
  { type: "updated", ...at, metrics, seconds: 2, updateSeconds: 1, tokensPerSecond: 5 },
  { type: "checkpoint", ...at },
  {
    type: "evaluated",
    ...{
      step: 1,
      seconds: 3,
      tasks: 1,
      seeds: [0],
      score: null,
      technical: [{ task: "t", seed: 0, reason: "r" }],
    },
    ...{ sr: { mean: 100, sd: null }, sr_interval: [100, 100], rounds: { mean: 3, sd: null } },
    ...{
      per_seed: [{ seed: 0, sr: 100, score: null, rounds: 3 }],
      per_type: {},
      pass_at_k: 100,
      score_at_k: null,
    },
  },
  { type: "fault", step: 1, fault: "lost", message: "gone", attempt: 1, attempts: 3 },
  { type: "stopped", step: 1, steps: 2, seconds: 3 },
  { type: "done", step: 2, seconds: 4 },
];
/** As the worker sends what a command printed, and a change of the job's state. */
export const sent = (event: object, type: "progress" | "state" = "progress"): string =>
  eventText({ type, text: JSON.stringify(event), attempt: 4, at: AT });
