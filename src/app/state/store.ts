/** The state of the user interface. Records and weights stay in the workers; here is only what is on the screen. */

import { create } from "zustand";
import type { EvidencePart } from "../../core/evidence/index.ts";
import type { EngineInfo } from "../../core/ports.ts";
import type { FolderFiles } from "../library/blob-folder.ts";
import type { TokenizerFit } from "../library/role-tokenizers.ts";
import type { DecisionModel, LibrarySummary, TaskModel } from "../model.ts";
import { HOME, type Place } from "../place/place.ts";
import type { GuidePage } from "../shell/guide-pages.ts";
import type { OpenLibrary } from "./libraries.ts";
import type { Notice, Progress } from "./notice.ts";
import type { Side } from "./side.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Where models are computed. */
export interface DeviceState {
  kind: "unknown" | "webgpu" | "cpu";
  adapter: string;
  /** Why WebGPU is not used, when it was asked for and is not there. */
  reason: string | null;
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

/** Log-probabilities of one response: arrays are [response tokens], natural log. */
export interface TokenScores {
  pieces: string[];
  ids: number[];
  /** All that was scored, in the order of the columns: `vanilla` and `graph` first, and what follows as figures too. */
  sides: readonly Side[];
  vanilla: Float32Array;
  graph: Float32Array;
  student: Float32Array | null;
  vanillaContext: number;
  graphContext: number;
  teacher: EngineInfo;
  studentInfo: ModelState | null;
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
  /** Of the draw at temperature 1; null: the most probable token each time. */
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
  /** Decisions from there to the recorded end. */
  cost: number;
  /** [response tokens], natural log. */
  logprobs: Float32Array;
}

/** The response under the graph-conditioned context without one part of the evidence. */
export interface LeftOutScores {
  part: EvidencePart;
  /** [response tokens], natural log. */
  logprobs: Float32Array;
  /** Tokens of that context. */
  context: number;
  /** Of them, what is left of the evidence. */
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
 * contexts of many decisions, the teacher's own actions, or other references.
 */
export type ScoringJob =
  | "contexts"
  | "left-out"
  | "side"
  | "distribution"
  | "changes"
  | "actions"
  | "references";

/** Seconds, from … to. */
export interface Range {
  low: number;
  high: number;
}

export type Stage = "vanilla" | "graph";

/** One optimizer step as the curves show it; all figures are of the student before the update. */
export interface StepPoint {
  step: number;
  stage: Stage;
  loss: number;
  gradNorm: number;
  /** Σ w A log p over the batch. */
  alignment: number;
  clipFraction: number;
  tokens: number;
  seconds: number;
}

/** Student log-probabilities of the watched decision after a number of steps of this run. */
export interface WatchPoint {
  step: number;
  logprobs: Float32Array;
}

export interface TrainingState {
  /** `probing`: no run is under way, its time is being measured. */
  status: "idle" | "running" | "stopping" | "cancelling" | "probing";
  /** Its id among the runs; null before it has one. */
  run: string | null;
  /** What is being done now, in words, and how far it is. */
  work: Progress | null;
  /** Steps of this run, done and in all. */
  done: number;
  total: number;
  /** Steps of each stage in all. */
  stageSteps: Record<Stage, number>;
  points: StepPoint[];
  watch: { pieces: string[]; label: string; history: WatchPoint[] } | null;
  message: Notice | null;
  /** The method of this run and what was changed of its evidence, in words; empty until it is known. */
  method: string;
  /** The open library whose records the run reads; null before the first. */
  library: string | null;
  /** Failures of the device that this run got over. */
  faults: number;
}

export const EVIDENCE_MODES = ["text", "changes", "edit"] as const;
export type EvidenceMode = (typeof EVIDENCE_MODES)[number];

export interface UiState {
  theme: Theme;
  helpOpen: boolean;
  paletteOpen: boolean;
  /** The open page of the guide. */
  guide: GuidePage | null;
  /** The case-study table of the shown decision. */
  caseOpen: boolean;
  /** How the evidence of the task view is shown; null: what a what-if changes in it, else the text. */
  evidenceMode: EvidenceMode | null;
  /** The files that the worker shares. */
  sharedOpen: boolean;
  dragging: boolean;
  place: Place;
  placeProblems: string[];
  /** The open libraries, in the order in which they were opened. */
  libraries: readonly OpenLibrary[];
  /** The one that the place names, of those that are open; all that is shown is of it. */
  library: LibrarySummary | null;
  opening: Progress | null;
  notice: Notice | null;
  task: TaskModel | null;
  decision: DecisionModel | null;
  /** Why the task or the decision of the place cannot be shown. */
  viewProblem: string | null;
  hoveredState: number | null;
  /** Which states the graph draws; null: all of a small one, the relevant ones of a large one. */
  graphStates: "relevant" | "all" | null;
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
}

export const IDLE_TRAINING: TrainingState = {
  status: "idle",
  run: null,
  work: null,
  done: 0,
  total: 0,
  stageSteps: { vanilla: 0, graph: 0 },
  points: [],
  watch: null,
  message: null,
  method: "",
  library: null,
  faults: 0,
};

export const useUi = create<UiState>(() => ({
  theme: "system",
  helpOpen: false,
  paletteOpen: false,
  guide: null,
  caseOpen: false,
  evidenceMode: null,
  sharedOpen: false,
  dragging: false,
  place: HOME,
  placeProblems: [],
  libraries: [],
  library: null,
  opening: null,
  notice: null,
  task: null,
  decision: null,
  viewProblem: null,
  hoveredState: null,
  graphStates: null,
  device: { kind: "unknown", adapter: "", reason: null },
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
}));

export const setUi = useUi.setState;
export const getUi = useUi.getState;
