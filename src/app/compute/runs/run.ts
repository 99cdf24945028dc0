/** A training run as the page shows it, wherever it runs: what was asked for, its state, and its figures by step. */
import type { RolloutPolicy } from "../../../core/loop/rows.ts";
import type { JobState } from "../../../protocol/job-state.ts";
import type { LoopEvent } from "../../../protocol/loop-event.ts";
import type { Launched } from "./worker-answers.ts";

/** Where a run computes; `target` is one of the worker's. */
export const WHERES = ["page", "worker", "target"] as const;
export type Where = (typeof WHERES)[number];

/** One optimizer step. Figures are of the student before the update; docs/training.md says what each one is. */
export interface RunPoint {
  step: number;
  /** Index of the stage, from 0. */
  stage: number;
  loss: number;
  gradNorm: number;
  clipFraction: number;
  meanAdvantage: number;
  rolloutKl: number;
  alignment: number;
  /** Response tokens. */
  tokens: number;
  /** Tokens that the student read. */
  studentTokens: number;
  /** Tokens that the teacher read, and the seconds that this took. */
  teacherTokens: number;
  teacherSeconds: number;
  /** For the whole step. */
  seconds: number;
  /** Response tokens per second. */
  tokensPerSecond: number;
  /** Share of the episodes played again that were successful; null where recorded responses are read. */
  success: number | null;
  /** How the batch's rollout policy p_old is known; null where a run of an earlier version did not tell it. */
  rolloutPolicy: RolloutPolicy | null;
}

/** Something that happened between two steps and that a curve does not show. */
export interface Mark {
  /** After this step. */
  step: number;
  kind: "gap" | "resumed" | "fault" | "unread" | "budget";
  text: string;
  /** ISO 8601; null where it is not known, or the text says it. */
  at: string | null;
}

/** What one batch left out. */
export interface Excluded {
  /** The step that the batch takes, or would have taken. */
  step: number;
  episodes: number;
  /** How many of these did not end for technical reasons: they had nothing to train on. */
  noTurn: number;
  /** No episode was left: there was no update. */
  whole: boolean;
}

/** What the student after `step` steps achieved on the run's fixed tasks. */
export type RunEvaluation = Omit<Extract<LoopEvent, { type: "evaluated" }>, "type">;

/** What the events of a run come to. */
export interface Figures {
  points: RunPoint[];
  /** By rising step. */
  evaluations: RunEvaluation[];
  /** Watched decisions by rising step. */
  heldOut: Omit<Extract<LoopEvent, { type: "held-out" }>, "type">[];
  marks: Mark[];
  /** Episodes that were left out of updates, and why. */
  excluded: Excluded[];
  /** How many batches of the present epoch hold a task more than once. */
  epoch: { batches: number; repeating: number } | null;
  /** Steps in all; 0 before that is known. */
  total: number;
  /** Steps done. */
  done: number;
  /** Stages that have begun, by index: name and steps. */
  stages: { name: string; epochs: number; steps: number }[];
  /** How far the present step is. */
  work: { what: string; done: number; total: number; unit: string } | null;
  /** Models and device of the latest start. */
  start: Extract<LoopEvent, { type: "start" }> | null;
  /** What is known of the present step before its update. */
  pending: Pick<RunPoint, "teacherTokens" | "teacherSeconds" | "success" | "rolloutPolicy">;
}

export const NOTHING_PENDING: Figures["pending"] = {
  ...{ teacherTokens: 0, teacherSeconds: 0, success: null, rolloutPolicy: null },
};

export const NO_FIGURES: Figures = {
  points: [],
  evaluations: [],
  heldOut: [],
  marks: [],
  excluded: [],
  epoch: null,
  total: 0,
  done: 0,
  stages: [],
  work: null,
  start: null,
  pending: NOTHING_PENDING,
};

export interface Run {
  id: string;
  where: Where;
  title: string;
  /** The training config, as docs/train-config.schema.json has it. */
  config: Record<string, unknown>;
  /** What the worker runs, word by word; null in the page and on targets. */
  command: string[] | null;
  /** What the worker reports about it, where it was launched on a target. */
  launched?: Launched;
  state: JobState;
  /** Why it is in this state, where that needs saying. */
  message: string | null;
  /** ISO 8601. */
  created: string;
  ended: string | null;
  /** Its events as they came, for export; `time` is ISO 8601, and null where it is not known. */
  events: ({ time: string | null } & Exclude<LoopEvent, { type: "work" }>)[];
  figures: Figures;
  /**
   * The connection to its events: `live`, `lost` while it is tried again, `closed` when no more come; `other-tab` where
   * another tab of this browser has the run and tells of it.
   */
  stream: "live" | "lost" | "closed" | "other-tab";
}
