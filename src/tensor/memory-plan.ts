import { InputError } from "../core/errors.ts";
import { type ModelConfig, rotarySize } from "./config.ts";
import { tileRows } from "./distribution-tiles.ts";
import { activationsPerToken, derivedPerToken } from "./layer.ts";
import { type WeightChoice, weightFormat } from "./load-weights.ts";
import type { FloatFormat } from "./number-format.ts";
import { elements } from "./shapes.ts";
import { weightWords } from "./weight-format.ts";
import { parameterShapes } from "./weights.ts";

/** A job on a device, by what decides its memory. */
export interface PlannedWorkload {
  /** `score` with frozen weights, or `train` in f32 with gradients and the two moments of AdamW. */
  kind: "score" | "train";
  weights: WeightChoice;
  /** Format of the files: what `auto` means. */
  stored: FloatFormat;
  /** Tokens of the longest sequence, and of the longest pass (at least as many). */
  longestSequence: number;
  packTokens: number;
  /** Response rows of the longest pass. */
  responseRows: number;
  /** Training: keep only the inputs of the layers, and compute the rest again. */
  recompute?: boolean;
  /** The optimizer's moments are there, though the job is to score. */
  optimizer?: boolean;
  /** Whole distributions are told, or trained on; `top-k`: the student's against so many of the teacher's. */
  compared?: "top-k" | "full-vocabulary" | undefined;
  /** Bytes of keys and values that are kept from call to call. */
  prefixBytes?: number;
  /** Operands of products; f16 copies of f32 weights are kept beside them. */
  compute: "f32" | "f16";
  /** Software adapters take smaller blocks. */
  software?: boolean;
}

/** What memory is for: what a model is, what training adds for as long as it lasts, and what comes and goes with a pass. */
export type PlanPart = "weights" | "training state" | "activations";

export interface PlanItem {
  name: string;
  part: PlanPart;
  bytes: number;
}

export interface MemoryPlan {
  /** Bytes of what is on the device at the job's peak, by what it is. */
  items: PlanItem[];
  total: number;
  /** The largest of the tensors that stay: it must fit into one buffer of the device. */
  largest: PlanItem;
}

/** Columns of a block of logits, and values of a block: `webgpu/head.ts`. */
const HEAD_COLUMNS = 16_384;
const HEAD_VALUES = { software: 2 ** 22, gpu: 2 ** 26 };
/** Values of a weight that are expanded at a time: `webgpu/weights.ts`. */
const SCRATCH_VALUES = { software: 2 ** 24, gpu: 2 ** 27 };

/**
 * What a job will need on a WebGPU device, in bytes, before anything is loaded. It counts tensors at the moment of the
 * largest sum; drivers and the reuse of buffers by size add up to an eighth. Checked in the tests against what jobs took.
 */
export function planMemory(config: ModelConfig, job: PlannedWorkload): MemoryPlan {
  const { kind, packTokens: tokens, responseRows: rows } = job;
  const { hiddenSize: d, intermediateSize: f, vocabularySize, layers } = config;
  const size = job.software ? "software" : "gpu";
  const training = kind === "train";
  let [weights, parameters, copies, scratch, largest] = [0, 0, 0, 0, 0];
  let largestTensor: PlanItem = { name: "", part: "weights", bytes: 0 };
  for (const [name, shape] of parameterShapes(config)) {
    const format = training ? "f32" : weightFormat(job.weights, name, shape, job.stored);
    const count = elements(shape);
    const bytes = 4 * weightWords(format, shape);
    weights += bytes;
    if (bytes > largestTensor.bytes) largestTensor = { name: `${name} (${format})`, part: "weights", bytes };
    parameters += count;
    if (shape.length !== 2) continue;
    if (job.compute === "f16" && format === "f32") copies += 2 * count;
    const vocabulary = shape[0] === vocabularySize;
    if (!vocabulary) largest = Math.max(largest, count);
    const expanded = Math.min(count, SCRATCH_VALUES[size], vocabulary ? HEAD_COLUMNS * d : count);
    if (format !== "f32") scratch = Math.max(scratch, 4 * expanded);
  }
  const items: PlanItem[] = [];
  const add = (part: PlanPart, name: string, bytes: number) => items.push({ name, part, bytes });
  add("weights", `weights (${training ? "f32" : job.weights})`, weights);
  if (copies > 0) add("weights", "f16 copies of weights", copies);
  if (training) add("training state", "gradients", 4 * parameters);
  if (training || job.optimizer) add("training state", "optimizer state", 8 * parameters);
  add("weights", "rotary tables", 4 * rotarySize(config) * job.longestSequence);
  if (job.prefixBytes) add("weights", "kept prefixes", job.prefixBytes);

  // One layer's forward pass beside its input; the head comes when the layers' own are gone.
  const perLayer = activationsPerToken(config) / layers + derivedPerToken(config);
  const delta = deltaScratch(config, job.software === true);
  const layer = 4 * tokens * (perLayer + 4 * d + delta.forward);
  const blockColumns = Math.min(HEAD_COLUMNS, vocabularySize);
  const blockRows = Math.min(rows, Math.ceil(HEAD_VALUES[size] / blockColumns));
  const head = 4 * (blockRows * (blockColumns + vocabularySize / 64) + rows * d);
  const top = 4 * d * (tokens + 2 * rows);
  const compared = comparedBytes(config, job);
  const logits = Math.max(head, training ? 0 : compared);
  if (!training) {
    if (scratch > 0) add("activations", "expanded weights", scratch);
    if (layer >= logits + top) add("activations", `activations of ${tokens} tokens`, layer);
    else {
      const logitRows = compared > head ? Math.min(rows, tileRows(vocabularySize)) : blockRows;
      add("activations", `activations of ${tokens} tokens`, top);
      add("activations", `logits of ${logitRows} rows`, logits);
    }
  } else {
    const { recompute = false } = job;
    const kept = recompute
      ? 4 * tokens * layers * d
      : 4 * tokens * (activationsPerToken(config) + (layers > 0 ? d : 0));
    add("activations", `activations of ${tokens} tokens${recompute ? ", inputs only" : ""}`, kept + top);
    // Down a layer: its slopes, the sum of one weight's gradient over parts of the rows, and what is computed again.
    const parts = Math.max(1, Math.min(Math.ceil(tokens / 128), Math.floor(2 ** 24 / Math.max(1, largest))));
    const derived = recompute ? 0 : derivedPerToken(config);
    const back =
      4 * tokens * (3 * f + 3 * d + derived + delta.backward) +
      4 * largest * Math.min(parts, job.software ? 2 : 8);
    const headBack = head + 4 * blockColumns * d * Math.max(1, Math.min(2, Math.ceil(blockRows / 128)));
    const headSlopes = job.compared === undefined ? headBack : compared;
    add("activations", "one layer backward", Math.max(headSlopes, back + (recompute ? layer : 0)));
  }
  return planOf(items, largestTensor);
}

/** Rows of a block in which a large head's gradient is summed: `webgpu/linear.ts`. */
const GRADIENT_ROWS = { large: 65_536, block: 16_384 };

/**
 * Bytes beside a pass for a tile of rows whose whole distributions are told, or compared with a teacher's
 * (`distribution-tiles.ts`): logits, the teacher's, hidden rows with their slopes, and a block of the head's gradient.
 */
function comparedBytes({ vocabularySize: v, hiddenSize: d }: ModelConfig, job: PlannedWorkload): number {
  const { compared, responseRows: rows } = job;
  if (compared === undefined || (job.kind === "score" && compared === "top-k")) return 0;
  const tile = Math.min(rows, tileRows(v));
  if (job.kind === "score") return 4 * tile * (v + d);
  const block = v > GRADIENT_ROWS.large ? GRADIENT_ROWS.block : v;
  const teacher = compared === "full-vocabulary" ? v : 0;
  return 4 * (rows * d + tile * (v + teacher + 2 * d) + block * d * (tile > 128 ? 2 : 1));
}

/** Tokens of a chunk of the gated delta rule: `webgpu/delta-chunks.ts`. */
const DELTA_CHUNK = 64;

/**
 * Values per token that the gated delta rule takes beside what it is given: by chunks on a GPU, token by token on a software
 * adapter (`webgpu/delta-chunks.ts`, `webgpu/delta-rule.ts`).
 */
function deltaScratch(config: ModelConfig, software: boolean): { forward: number; backward: number } {
  if (config.architecture !== "qwen3_5") return { forward: 0, backward: 0 };
  const { valueHeads, keySize, valueSize } = config.deltaNet;
  const state = (keySize * valueSize) / DELTA_CHUNK;
  if (software) return { forward: 0, backward: valueHeads * (2 * keySize + state + keySize / DELTA_CHUNK) };
  // Decays; triangles of products and of their inverse; keys, values and gradients of the chunk; states at its borders.
  return {
    forward: valueHeads * (2 + 3 * DELTA_CHUNK + keySize + state),
    backward: valueHeads * (2 + 5 * DELTA_CHUNK + 3 * keySize + valueSize + 2 * state),
  };
}

/**
 * How many tokens of a training pass take as much memory as what a branch of a shared prefix adds to it: the 2·dk rows
 * that write and read its state, on the way back through one layer (`planRecurrenceBackward`). 0 without linear layers.
 */
export function branchTokens(config: ModelConfig, recompute: boolean): number {
  if (config.architecture !== "qwen3_5") return 0;
  const { hiddenSize: d, intermediateSize: f, layers, deltaNet } = config;
  const { keyHeads, valueHeads, keySize, valueSize } = deltaNet;
  const { backward } = deltaScratch(config, false);
  // q, k and their slopes; v, o, errors and the slopes of v and o; and two of each again while calls are put together.
  const row = 6 * keyHeads * keySize + 7 * valueHeads * valueSize + backward;
  const kept = activationsPerToken(config);
  const again = kept / layers + derivedPerToken(config) + 3 * (d + f) + backward;
  return Math.ceil((2 * keySize * row) / (layers * d + (recompute ? again : kept)));
}

/** Bytes of one part of a plan. */
export function partBytes({ items }: MemoryPlan, part: PlanPart): number {
  return items.reduce((sum, item) => sum + (item.part === part ? item.bytes : 0), 0);
}

/** The largest tensor where none stays. */
const NOTHING: PlanItem = { name: "nothing", part: "weights", bytes: 0 };

/**
 * Several models on one device that work in turns: what each is stays, and of what comes and goes only the largest counts.
 */
export function combinePlans(plans: Readonly<Record<string, MemoryPlan>>): MemoryPlan {
  const named = Object.entries(plans);
  const passing = (plan: MemoryPlan) => partBytes(plan, "activations");
  const most = Math.max(...named.map(([, plan]) => passing(plan)));
  const largest = named.find(([, plan]) => passing(plan) === most)?.[0];
  return planOf(
    named.flatMap(([name, { items }]) =>
      items
        .filter(({ part }) => part !== "activations" || name === largest)
        .map((item) => ({ ...item, name: `${name}: ${item.name}` })),
    ),
    named
      .map(([name, { largest }]) => ({ ...largest, name: `${name}: ${largest.name}` }))
      .reduce((a, b) => (b.bytes > a.bytes ? b : a), NOTHING),
  );
}

function planOf(items: PlanItem[], largest: PlanItem): MemoryPlan {
  return { items, total: items.reduce((sum, { bytes }) => sum + bytes, 0), largest };
}

/** One line for a person: the total, then the items from the largest on. */
export function describePlan({ items, total }: MemoryPlan): string {
  const parts = [...items]
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes }) => `${name} ${gibibytes(bytes)}`);
  return `memory: about ${gibibytes(total)} (${parts.join(", ")})`;
}

/**
 * Refuses a job that does not fit: more than `limit` bytes, or a tensor of more than `largestBuffer`; either may be unknown.
 *
 * @throws InputError with the plan's numbers
 */
export function checkPlan(plan: MemoryPlan, limit?: number, largestBuffer?: number): void {
  if (limit !== undefined && plan.total > limit)
    throw new InputError(
      `the job needs more than the ${gibibytes(limit)} that it may take: ${describePlan(plan)}; choose frozen weights in fewer bits, shorter sequences or a smaller model`,
    );
  const { name, bytes } = plan.largest;
  if (largestBuffer !== undefined && bytes > largestBuffer)
    throw new InputError(
      `${name} needs ${gibibytes(bytes)} in one buffer, and a buffer of this device has at most ${gibibytes(largestBuffer)}: choose frozen weights in fewer bits or a smaller model`,
    );
}

/**
 * The longest pass, in tokens, that keeps a job within `limit` bytes: at most `most`, halved until it fits, and never
 * shorter than the longest sequence. `job` gives the job with passes of so many tokens.
 */
export function fittingPack(
  config: ModelConfig,
  job: (packTokens: number) => PlannedWorkload,
  limit: number,
  most: number,
): number {
  const { longestSequence } = job(most);
  let tokens = Math.max(most, longestSequence);
  while (tokens > longestSequence && planMemory(config, job(tokens)).total > limit)
    tokens = Math.max(longestSequence, Math.floor(tokens / 2));
  return tokens;
}

/** Bytes as people read them: in GiB, below a tenth of one in MiB. */
export function gibibytes(bytes: number): string {
  const gib = bytes / 2 ** 30;
  return gib >= 0.1 ? `${gib.toFixed(gib < 10 ? 2 : 1)} GiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
