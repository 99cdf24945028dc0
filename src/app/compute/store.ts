/** What models, scores and runs show. Weights stay in the workers; here is only what is on the screen. */
import type { StoreApi, UseBoundStore } from "zustand";
import type { EvidencePart } from "../../core/evidence/index.ts";
import type { EngineInfo } from "../../core/ports.ts";
import type { Range } from "../base/eta.ts";
import type { Notice, Progress } from "../base/notice.ts";
import type { FolderFiles } from "../data/files/blob-folder.ts";
import type { TokenizerFit } from "../data/library/role-tokenizers.ts";
import { type DataState, useData } from "../data/store.ts";
import type { Side } from "./side.ts";

/** Where models are computed. */
export interface DeviceState {
  kind: "unknown" | "webgpu" | "cpu";
  adapter: string;
  /** Why WebGPU is not used, when it was asked for and is not there. */
  reason: string | null;
  /** Format of the operands of matrix products; sums are f32. */
  compute: "f32" | "f16";
  /** Why f16 is not taken, as the end of a sentence; null where it is, or could be. */
  whyF32: string | null;
}

export const ROLES = ["teacher", "student"] as const;
export type Role = (typeof ROLES)[number];

export interface ModelState {
  info: EngineInfo;
  /** `sample`, `own` (opened from a folder) or `updated` (trained here). */
  origin: ModelOrigin;
  /** Optimizer steps taken. */
  steps: number;
}

export type ModelOrigin = "sample" | "own" | "updated";

/** What was scored of one response. */
export interface TokenScores {
  pieces: string[];
  ids: number[];
  /** In the order of the columns; `vanilla` and `graph` are always there (see `withoutEvidence`, `withEvidence`). */
  sides: readonly Side[];
  /** Why the student has no side, in one line; null where it has one, or was not asked for. */
  studentProblem: string | null;
  seconds: number;
  /** By part, as far as they were asked for. */
  leftOut: LeftOutScores[];
  /** What the teacher wrote itself, as far as it was asked. */
  teacherActions?: TeacherAction[];
  /** The response under other references, as far as they were asked for. */
  references?: ReferenceScores[];
}

/** A response of the teacher's own to the decision that was scored. */
export interface TeacherAction {
  context: "vanilla" | "graph";
  /** Seed of the draw at temperature 1; null takes the most probable token each time. */
  seed: number | null;
  response: string;
  /** Null for a malformed response. */
  action: string | null;
}

/** The response with another execution as the successful record of the evidence. */
export interface ReferenceScores {
  source: string;
  position: number;
  /** Among the eligible visits, from 1. */
  rank: number;
  /** [response tokens], natural log. */
  logprobs: Float32Array;
}

/** The response under the graph-conditioned context without one part of the evidence. */
export interface LeftOutScores {
  part: EvidencePart;
  /** [response tokens], natural log. */
  logprobs: ArrayLike<number>;
  /** Tokens of that context. */
  context: number;
  /** Tokens that the rest of the evidence takes in it. */
  evidenceTokens: number;
  backReferences: boolean;
  /** Seconds of its pass; null where no evidence is left and the pass without evidence is this one. */
  seconds: number | null;
}

export type ScoringState =
  | { status: "idle" }
  | {
      status: "running";
      job: ScoringJob;
      key: string;
      label: string;
      done: number;
      total: number;
      unit: string;
      eta: Range | null;
    }
  | { status: "cancelling"; job: ScoringJob; key: string }
  | { status: "failed"; job: ScoringJob; key: string; message: string };

/**
 * The contexts and the student, the evidence with parts left out, a further side, what else is known of tokens, both
 * contexts of many decisions, the teacher's own actions, other references, the evidence test, or its curves.
 */
export type ScoringJob =
  | "contexts"
  | "left-out"
  | "side"
  | "distribution"
  | "changes"
  | "actions"
  | "references"
  | "gate"
  | "gate-sweep";

/** Student log-probabilities of the watched decision after a number of steps of this run. */
export interface WatchPoint {
  step: number;
  logprobs: Float32Array;
}

export interface TrainingState {
  /**
   * `keeping`: the steps are taken and the browser is still writing the student, which only scores meanwhile. `probing`: no
   * run is under way, its time is being measured.
   */
  status: "idle" | "running" | "stopping" | "cancelling" | "keeping" | "probing" | "probe-cancelling";
  /** Its id among the runs, where its steps and figures are; null before it has one. */
  run: string | null;
  /** What is being done now, in words, and how far it is. */
  work: Progress | null;
  watch: { pieces: string[]; label: string; history: WatchPoint[] } | null;
  message: Notice | null;
  /** The method of this run and what was changed of its evidence, in words; empty until it is known. */
  method: string;
  /** The open library whose records the run reads; null before the first. */
  library: string | null;
}

/** All that views and actions read: the fields of the data layer and those of models, scores and runs. */
export interface UiState extends DataState {
  /** The dialog with the files that the worker shares. */
  sharedOpen: boolean;
  device: DeviceState;
  models: Record<Role, ModelState | null>;
  modelLoading: Partial<Record<Role, Progress>>;
  /** A dropped model folder that waits for the user to say which role it has. */
  pendingFolder: FolderFiles | null;
  /** A model folder without a tokenizer, which waits for the user to say whose it has. */
  pendingTokenizer: { role: Role | "other"; folder: FolderFiles } | null;
  /** Whether the open models read each other's token ids. */
  tokenizerFit: TokenizerFit;
  scores: Record<string, TokenScores>;
  scoring: ScoringState;
  training: TrainingState;
  /** A model that decides in an episode of the play view; null while none does. */
  playing: { label: string; stopping: boolean } | null;
  /** The collection or evaluation that is played now. */
  liveRun: string | null;
  /** Students of the evidence test that are trained: optimizer steps, those of all together; null while none are. */
  studying: { library: string; label: string; done: number; total: number; stopping: boolean } | null;
}

export const IDLE_TRAINING: TrainingState = {
  status: "idle",
  run: null,
  work: null,
  watch: null,
  message: null,
  method: "",
  library: null,
};

/**
 * The store of the data layer, with the fields of this one. One store and not two, so that a change of both, such as
 * another model with its scores gone, is drawn once.
 */
export const useUi = useData as unknown as UseBoundStore<StoreApi<UiState>>;

export const setUi = useUi.setState;
export const getUi = useUi.getState;

/** Changes the scores of a decision, where it still has any. */
export function changeScores(key: string, change: (scores: TokenScores) => Partial<TokenScores>): void {
  setUi(({ scores }) => {
    const present = scores[key];
    return present === undefined ? {} : { scores: { ...scores, [key]: { ...present, ...change(present) } } };
  });
}

setUi({
  sharedOpen: false,
  device: { kind: "unknown", adapter: "", reason: null, compute: "f32", whyF32: null },
  models: { teacher: null, student: null },
  modelLoading: {},
  pendingFolder: null,
  pendingTokenizer: null,
  tokenizerFit: { scoring: null, training: null },
  scores: {},
  scoring: { status: "idle" },
  training: IDLE_TRAINING,
  playing: null,
  liveRun: null,
  studying: null,
});
