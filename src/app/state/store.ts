/** The state of the user interface. Records and weights stay in the workers; here is only what is on the screen. */
import { create } from "zustand";
import type { EngineInfo } from "../../core/ports.ts";
import type { FolderFiles } from "../library/blob-folder.ts";
import type { DecisionModel, LibrarySummary, TaskModel } from "../model.ts";
import { HOME, type Place } from "../place/place.ts";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** A line for the user; an error stays until it is dismissed or the next opening succeeds. */
export interface Notice {
  kind: "error" | "info";
  text: string;
}

/** Something that is under way and how far it is. */
export interface Progress {
  label: string;
  done: number;
  total: number;
  unit: string;
}

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
  vanilla: Float32Array;
  graph: Float32Array;
  student: Float32Array | null;
  vanillaContext: number;
  graphContext: number;
  teacher: EngineInfo;
  studentInfo: ModelState | null;
  seconds: number;
}

export type ScoringState =
  | { status: "idle" }
  | { status: "running"; key: string; label: string; done: number; total: number; eta: Range | null }
  | { status: "cancelling"; key: string }
  | { status: "failed"; key: string; message: string };

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
  status: "idle" | "running" | "stopping" | "cancelling";
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
}

export interface UiState {
  theme: Theme;
  helpOpen: boolean;
  dragging: boolean;
  place: Place;
  placeProblems: string[];
  library: LibrarySummary | null;
  opening: Progress | null;
  notice: Notice | null;
  task: TaskModel | null;
  decision: DecisionModel | null;
  /** Why the task or the decision of the place cannot be shown. */
  viewProblem: string | null;
  hoveredState: number | null;
  device: DeviceState;
  models: Record<Role, ModelState | null>;
  modelLoading: Partial<Record<Role, Progress>>;
  /** A dropped model folder that waits for the user to say which role it has. */
  pendingFolder: FolderFiles | null;
  scores: Record<string, TokenScores>;
  scoring: ScoringState;
  training: TrainingState;
}

export const IDLE_TRAINING: TrainingState = {
  status: "idle",
  work: null,
  done: 0,
  total: 0,
  stageSteps: { vanilla: 0, graph: 0 },
  points: [],
  watch: null,
  message: null,
};

export const useUi = create<UiState>(() => ({
  theme: "system",
  helpOpen: false,
  dragging: false,
  place: HOME,
  placeProblems: [],
  library: null,
  opening: null,
  notice: null,
  task: null,
  decision: null,
  viewProblem: null,
  hoveredState: null,
  device: { kind: "unknown", adapter: "", reason: null },
  models: { teacher: null, student: null },
  modelLoading: {},
  pendingFolder: null,
  scores: {},
  scoring: { status: "idle" },
  training: IDLE_TRAINING,
}));

export const setUi = useUi.setState;
export const getUi = useUi.getState;
