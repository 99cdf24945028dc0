/**
 * Engines that only score, beside our own: each is one entry of `SCORING_ENGINES`. Our own reads every folder with
 * weights as safetensors; of the others, the first that reads a folder's files opens it.
 */
import type {
  FolderReader,
  ScoreOptions,
  ScoreRequest,
  ScoreResult,
  Scorer,
  WorkOptions,
} from "../../../core/ports.ts";
import { findOnnxExport, hasOnnxExport, OnnxScorer } from "../../../engine/onnx/index.ts";
import { gibibytes } from "../../../tensor/index.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { DeviceState } from "../store.ts";
import { onnxRuntime } from "./onnx-runtime.ts";

/** A frozen teacher of any engine. */
export interface Teacher extends Omit<Scorer, "score"> {
  readonly maxPositions: number;
  /** `hidden` asks for what `headLogprobs` reads. */
  score(
    requests: readonly ScoreRequest[],
    options?: ScoreOptions & { hidden?: boolean },
  ): Promise<(ScoreResult & { hidden?: Float32Array })[]>;
  /** [ids] log-probabilities of single tokens, each under a row of the `hidden` that `score` returned. */
  headLogprobs(hidden: Float32Array, ids: readonly number[], options?: WorkOptions): Promise<Float32Array>;
}

export interface ScoringEngine {
  /** What a model in its format is called, in a sentence: "an export to ONNX". */
  format: string;
  /** Whether a folder with files of these names holds such a model. */
  reads(names: readonly string[]): boolean;
  /** @throws InputError for a folder that it cannot open, judging by headers alone */
  check(folder: FolderReader): Promise<unknown>;
  /** What its memory is, as a sentence's end: the plan of a job does not count it. `bytes`: of all files. */
  memory(bytes: number): string;
  open(
    folder: FolderReader,
    options: WorkOptions & { device: "webgpu" | "cpu"; adapter: DeviceState["adapter"] },
  ): Promise<Teacher>;
}

const ONNX: ScoringEngine = {
  format: "an export to ONNX",
  reads: hasOnnxExport,
  check: findOnnxExport,
  memory: (bytes) =>
    `ONNX Runtime holds its ${gibibytes(bytes)} of files in memory while it opens them, and its weights as long as it is open; what a pass adds, it does not say`,
  open: async (folder, options) => OnnxScorer.open(await onnxRuntime(), folder, options),
};

export const SCORING_ENGINES: readonly ScoringEngine[] = [ONNX];

/** The engine of a folder that our own does not read; null for all others. */
export function scoringEngineOf({ files }: FolderFiles): ScoringEngine | null {
  const names = [...files.keys()];
  if (names.some((name) => name.endsWith(".safetensors"))) return null;
  return SCORING_ENGINES.find((engine) => engine.reads(names)) ?? null;
}

/** What a plan leaves out of a model, in one sentence; nothing for one of our own engine. */
export function uncountedMemory(folder: FolderFiles, what: string): string[] {
  const engine = scoringEngineOf(folder);
  if (engine === null) return [];
  const bytes = [...folder.files.values()].reduce((sum, { size }) => sum + size, 0);
  return [`${what} is ${engine.format}, which this plan and its limit leave out: ${engine.memory(bytes)}.`];
}
