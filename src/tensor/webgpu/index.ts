import type { Backend } from "../backend.ts";
import { attentionOperations } from "./attention.ts";
import { attendNextOperation, canDecode } from "./attention-decode.ts";
import { causalConvOperations } from "./causal-conv.ts";
import { columnOperations } from "./columns.ts";
import { Commands } from "./commands.ts";
import { type Context, matrixShape } from "./context.ts";
import { wholeOperations } from "./decode-whole.ts";
import { deltaGateOperations } from "./delta-gates.ts";
import { type DeltaForm, deltaRuleOperations } from "./delta-rule.ts";
import { deltaStateOperations } from "./delta-states.ts";
import {
  type ComputeDevice,
  type ComputeFeatures,
  DeviceHealth,
  type DeviceOptions,
  hasRoom,
  hiddenF16,
  noF16,
  requestDevice,
} from "./device.ts";
import { drawOperations } from "./draw.ts";
import { elementwiseOperations } from "./elementwise.ts";
import { createHalf } from "./half.ts";
import { headOperations } from "./head.ts";
import { headDistributionOperations } from "./head-distribution.ts";
import { linearOperations } from "./linear.ts";
import { type GpuTensor, Memory } from "./memory.ts";
import { normOperations } from "./norm.ts";
import { optimizerOperations } from "./optimizer.ts";
import { gpuPieces } from "./pieces.ts";
import type { KernelTime } from "./profile.ts";
import { reverseKlOperations } from "./reverse-kl.ts";
import { ropeOperations } from "./rope.ts";
import { rowOperations } from "./rows.ts";
import { transferOperations } from "./transfer.ts";
import { createTuner, type TuningOptions } from "./tuner.ts";
import type { MatrixPass, MatrixTiles } from "./tuning.ts";
import { Tuning, type TuningEntries } from "./tuning.ts";
import { weightUpload } from "./weight-upload.ts";
import { expandWeight } from "./weights.ts";

export {
  type ComputeDevice,
  type ComputeFeatures,
  type DeviceOptions,
  requestDevice,
  TURN_ON_WEBGPU,
} from "./device.ts";
export type { GpuTensor } from "./memory.ts";
export type { KernelTime } from "./profile.ts";
export type { TuningOptions, TuningStore } from "./tuner.ts";

export interface WebGpuOptions extends DeviceOptions {
  /**
   * How matrices are multiplied: `shared` through workgroup memory (GPUs), `tile` in registers alone (software adapters,
   * for which barriers are dear). By default whichever suits the adapter. A shared kernel's name takes that one wherever
   * a shared kernel would do, and measures no other: for tests and benches.
   */
  matmul?: Context["matmul"];
  /**
   * Format of the operands of linear layers, head and attention: `f32` (default), or `f16` scaled by powers of two, with
   * sums, residual stream, norms, softmax, gradients and optimizer state in f32 all the same. `auto`: f16 where matrix
   * units multiply it, else f32; `whyF32` says why.
   */
  compute?: "f32" | "f16" | "auto";
  /**
   * How f16 operands are multiplied: by `matrix` units, or `packed` (f16 in memory, f32 in registers), which every
   * adapter can and tests ask for. By default what suits the adapter; one without `shader-f16` is refused then.
   */
  f16?: "matrix" | "packed";
  /** Bytes that one binding may span, when less than the device allows: tests of tensors beyond it need no large ones. */
  bindingLimit?: number;
  /** Tiles of the matrix kernels of attention, in place of those that suit: for measurements. */
  attentionTiles?: Partial<Record<MatrixPass, MatrixTiles>>;
  /**
   * How kernels are chosen by measuring (`Backend.tune`); false: by fixed rules alone. Choices may change the last digits
   * of results, so a run that is to be repeated digit by digit on another start keeps its store or sets this to false.
   */
  tuning?: TuningOptions | false;
  /** How the gated delta rule is computed, in place of what suits: for tests and measurements. */
  deltaForm?: DeltaForm;
  /** Bind groups that are kept for reuse, in place of as many as pay: for measurements. */
  keptBindGroups?: number;
}

export interface WebGpuBackend extends Backend<GpuTensor> {
  /** For tests and measurements; its owner is the backend, which ends it in `dispose`. */
  readonly device: GPUDevice;
  /** The adapter computes on the processor. */
  readonly software: boolean;
  /** Bytes of the largest buffer: no tensor is longer. */
  readonly largestBuffer: number;
  /** Format of the operands of matrix products. */
  readonly compute: "f32" | "f16";
  readonly features: ComputeFeatures;
  /** Why `auto` computes in f32 here, as the end of a sentence; null where it takes f16. */
  readonly whyF32: string | null;
  /** What was measured to be best, by class of shape; empty where the fixed rules hold. */
  readonly tuned: TuningEntries;
  /**
   * Times every kernel from now on, where the device has timestamps (`features.timestamps`); or whole passes of kernels,
   * which does not slow them down.
   */
  startProfile(of?: "dispatches" | "passes"): void;
  /** What ran since `startProfile`, by kernel. */
  stopProfile(): Promise<KernelTime[]>;
  /** The most bytes that tensors took at one time since the last call. */
  takePeak(): number;
}

/** Workgroup memory that the kernels with tiles in it ask for at the most (attention_shared_dkv); WebGPU promises 16 KiB. */
const SHARED_BYTES = 28_176;

/** Bytes: who offers buffers this large is a card of a datacenter. */
const LARGE_BUFFERS = 2 ** 35;
/** Browsers offer at most 4 GiB, so that the card is asked for this much at one time. */
const LARGE_MEMORY = 2 ** 35;

/**
 * Every operation as WGSL kernels, in f32 and without optional features unless `options` ask for more, on the adapter that `gpu` offers
 * (`navigator.gpu` in a browser, `create([])` of npm `webgpu` in Node), or on a device that `requestDevice` gave.
 * @throws Error, one line: how to turn WebGPU on, when there is no adapter; what the adapter lacks, when it cannot
 * compute in f16.
 */
export async function createWebGpuBackend(
  gpu: GPU | ComputeDevice,
  options: WebGpuOptions = {},
): Promise<WebGpuBackend> {
  const compute = "device" in gpu ? gpu : await requestDevice(gpu, options);
  const { device, software, description, features } = compute;
  const wanted = options.compute === "auto" ? (whyF32(compute) === null ? "f16" : "f32") : options.compute;
  const f16 = wanted === "f16" ? (options.f16 ?? f16Kernels(features)) : undefined;
  if (f16 === null) {
    if (compute !== gpu) device.destroy();
    throw new Error(noF16(description, features));
  }
  // Held until `dispose`, and let go then, since it also keeps Node alive.
  const held = new Set([compute.gpu]);
  const health = new DeviceHealth(device, () => memory.describe());
  const memory = new Memory(
    device,
    () => health.check(),
    (coming) => {
      commands.flush();
      commands.forget(memory.trim(coming));
    },
  );
  const bindingLimit = Math.min(
    options.bindingLimit ?? Number.POSITIVE_INFINITY,
    device.limits.maxStorageBufferBindingSize,
  );
  const commands = new Commands(compute, health, bindingLimit, options.keptBindGroups);
  const context: Context = {
    memory,
    commands,
    bindingLimit,
    software,
    matmul: options.matmul ?? (software || features.workgroupStorage < SHARED_BYTES ? "tile" : "shared"),
    matmulFixed: options.matmul !== undefined,
    tuning: new Tuning(),
    features,
    f16,
    ...createHalf(memory, commands),
  };
  // Only of discrete cards: where memory is shared with the processor, a buffer that is never written costs nothing.
  const discrete = !software && matrixShape(features) !== undefined;
  const large =
    (!software && device.limits.maxBufferSize >= LARGE_BUFFERS) ||
    (discrete && (await hasRoom(device, LARGE_MEMORY)));
  const elementwise = elementwiseOperations(context);
  const rows = rowOperations(context);
  const columns = columnOperations(context);
  const norms = normOperations(context);
  const pieces = gpuPieces(device, memory, commands, health, elementwise.addInPlace);
  const transfer = transferOperations(device, memory, commands, health, (t) => expandWeight(context, t));
  const upload = weightUpload(context, device, health, transfer.read);
  const attention = attentionOperations(context, options.attentionTiles);
  const tuner =
    options.tuning === false
      ? undefined
      : createTuner({
          context,
          description,
          operations: { ...transfer, ...attention },
          options: options.tuning ?? {},
        });
  return {
    kind: "webgpu",
    description,
    packTokens: large ? 16_384 : 4096,
    device,
    software,
    largestBuffer: device.limits.maxBufferSize,
    compute: f16 ? "f16" : "f32",
    cacheFormat: (size) => (f16 !== undefined && !software && canDecode(size) ? "f16" : "f32"),
    features,
    whyF32: whyF32(compute),
    takePeak() {
      const { peakBytes } = memory;
      memory.peakBytes = 0;
      return peakBytes;
    },
    ...transfer,
    weightUpload: upload,
    ...linearOperations(context, { ...elementwise, ...norms, ...columns }),
    ...elementwise,
    pieces,
    ...rows,
    ...columns,
    ...norms,
    ...ropeOperations(context),
    ...attention,
    ...attendNextOperation(context, { ...transfer, ...rows, ...columns, ...norms, ...attention }),
    ...causalConvOperations(context),
    ...deltaGateOperations(context),
    ...deltaRuleOperations(context, options.deltaForm),
    ...deltaStateOperations(context),
    ...headOperations(context),
    ...drawOperations(context),
    ...wholeOperations(context),
    ...headDistributionOperations(context),
    ...reverseKlOperations(context),
    ...optimizerOperations(context),
    get lastFault() {
      return health.lastFault;
    },
    get tuned() {
      return context.tuning.entries;
    },
    async tune(shapes) {
      await tuner?.(shapes);
    },
    record(work) {
      // Opened before, so that a failure of the device is not found halfway.
      health.check();
      let recorded: ReturnType<Commands["record"]> | undefined;
      const release = memory.hold(() => {
        recorded = commands.record(() => memory.scope(work));
      });
      return {
        run: () => recorded?.run(),
        dispose() {
          recorded?.dispose();
          release();
        },
      };
    },
    startProfile(of) {
      commands.flush();
      commands.profile.start(of);
    },
    stopProfile() {
      commands.flush();
      return commands.profile.stop();
    },
    dispose() {
      health.dispose();
      pieces.release();
      upload.release();
      memory.reset();
      device.destroy();
      held.clear();
    },
  };
}

/** Why f16 would not be multiplied by matrix units, and what turns them on; null where it is. */
function whyF32({ description, features, software }: ComputeDevice): string | null {
  if (software) return "the adapter is software, which has no matrix units";
  if (f16Kernels(features) === "matrix") return null;
  return `the adapter shows no matrix units that multiply f16${hiddenF16(description, features)}`;
}

/** The fastest f16 products of an adapter, or null when it has none. */
function f16Kernels(features: ComputeFeatures): "matrix" | "packed" | null {
  if (!features.f16) return null;
  return matrixShape(features) ? "matrix" : "packed";
}
