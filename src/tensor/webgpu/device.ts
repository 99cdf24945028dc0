/**
 * A WebGPU device for compute: asked for with the limits that the adapter offers, with what is needed to choose kernels,
 * and with its loss and its errors kept, so that they surface where a caller waits (`sync`, `read`).
 */

import { DeviceError } from "../../core/errors.ts";
import { raceAgainst } from "../../core/race-against.ts";

/** The WebGPU flags used here, as the specification numbers them: nothing depends on globals that Node lacks. */
export const USAGE = {
  mapRead: 0x0001,
  mapWrite: 0x0002,
  copySource: 0x0004,
  copyDestination: 0x0008,
  uniform: 0x0040,
  storage: 0x0080,
} as const;
export const MAP_READ = 0x0001;
export const MAP_WRITE = 0x0002;
export const STAGE_COMPUTE = 0x4;

export const TURN_ON_WEBGPU =
  "No WebGPU adapter was found. In a browser: use a current Chrome, Edge, Safari or Firefox on a machine with a GPU " +
  "and hardware acceleration on (Chromium on Linux: start it with --enable-unsafe-webgpu --enable-features=Vulkan). " +
  "In Node: install a Vulkan driver, or point VK_ICD_FILENAMES to a software driver such as vk_swiftshader_icd.json. " +
  "Or choose the CPU device.";

export interface DeviceOptions {
  powerPreference?: "low-power" | "high-performance";
}

export interface ComputeDevice {
  /** Kept as long as the device: Dawn in Node crashes when its GPU object is collected before its devices. */
  readonly gpu: GPU;
  readonly device: GPUDevice;
  /** Vendor, architecture and description as the adapter names itself. */
  readonly description: string;
  /** True on adapters that compute on the processor (SwiftShader, lavapipe, WARP). */
  readonly software: boolean;
  readonly features: ComputeFeatures;
}

/** A product of matrices that the threads of a subgroup hold together: [m, k] · [k, n] of f16, added up in f32. */
export interface MatrixShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** What the adapter offers beyond the universal kernels; the device has it on. */
export interface ComputeFeatures {
  /** `shader-f16`: f16 as a type of WGSL. */
  readonly f16: boolean;
  /** `subgroups`. */
  readonly subgroups: boolean;
  /** Threads of every subgroup, where there is only one answer; else undefined. */
  readonly subgroupSize: number | undefined;
  /** `timestamp-query`. */
  readonly timestamps: boolean;
  /** Shapes in which f16 matrices are multiplied with f32 sums; empty without `chromium-experimental-subgroup-matrix`. */
  readonly matrices: readonly MatrixShape[];
  /** Bytes of memory that a workgroup may share. */
  readonly workgroupStorage: number;
  readonly vendor: string;
}

/** Limits raised to what the adapter offers; the defaults are far below real devices. */
const RAISED_LIMITS = [
  "maxBufferSize",
  "maxStorageBufferBindingSize",
  "maxStorageBuffersPerShaderStage",
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxComputeWorkgroupsPerDimension",
] as const;

/** @throws Error, one line that says how to turn WebGPU on, when there is no adapter. */
export async function requestDevice(gpu: GPU, options: DeviceOptions = {}): Promise<ComputeDevice> {
  const adapter = await gpu.requestAdapter({
    powerPreference: options.powerPreference ?? "high-performance",
  });
  if (!adapter) throw new Error(TURN_ON_WEBGPU);
  const requiredLimits: Record<string, number> = {};
  for (const name of RAISED_LIMITS) {
    const limit = adapter.limits[name];
    if (limit !== undefined) requiredLimits[name] = limit;
  }
  const wanted = [F16, SUBGROUPS, SUBGROUP_MATRIX, TIMESTAMPS].filter((name) => adapter.features.has(name));
  const device = await adapter.requestDevice({
    requiredLimits,
    // TypeScript's list of features does not know the experimental one.
    requiredFeatures: wanted as GPUFeatureName[],
  });
  const { vendor, architecture, description, device: model } = adapter.info;
  return {
    gpu,
    device,
    description: [vendor, architecture, description || model].filter((part) => part !== "").join(" "),
    software: isSoftware(adapter),
    features: featuresOf(adapter),
  };
}

/**
 * Whether the device gives out `bytes` at one time, in buffers as large as it allows: browsers tell nobody how much memory a
 * card has. The buffers are never written, and gone afterwards.
 */
export async function hasRoom(device: GPUDevice, bytes: number): Promise<boolean> {
  const most = Math.floor(device.limits.maxBufferSize / 256) * 256;
  const buffers: GPUBuffer[] = [];
  device.pushErrorScope("validation");
  device.pushErrorScope("out-of-memory");
  for (let left = bytes; left > 0; left -= most)
    buffers.push(device.createBuffer({ size: Math.min(most, left), usage: USAGE.storage }));
  const errors = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
  for (const buffer of buffers) buffer.destroy();
  return errors.every((error) => error === null);
}

const F16 = "shader-f16";
const SUBGROUPS = "subgroups";
const SUBGROUP_MATRIX = "chromium-experimental-subgroup-matrix";
const TIMESTAMPS = "timestamp-query";

/** What Dawn adds to `GPUAdapterInfo` for subgroup matrices. */
interface MatrixConfig {
  readonly componentType: string;
  readonly resultComponentType: string;
  readonly M: number;
  readonly N: number;
  readonly K: number;
}

function featuresOf({ features, info, limits }: GPUAdapter): ComputeFeatures {
  const { subgroupMinSize, subgroupMaxSize } = info;
  const configs =
    (info as GPUAdapterInfo & { subgroupMatrixConfigs?: readonly MatrixConfig[] }).subgroupMatrixConfigs ??
    [];
  const f16 = features.has(F16);
  const matrices = [...configs]
    .filter((config) => config.componentType === "f16" && config.resultComponentType === "f32")
    .map(({ M, N, K }) => ({ m: M, n: N, k: K }));
  return {
    f16,
    subgroups: features.has(SUBGROUPS),
    subgroupSize: subgroupMinSize === subgroupMaxSize ? subgroupMinSize : undefined,
    timestamps: features.has(TIMESTAMPS),
    matrices: f16 && features.has(SUBGROUP_MATRIX) ? matrices : [],
    workgroupStorage: limits.maxComputeWorkgroupStorageSize,
    vendor: info.vendor,
  };
}

/** What turns f16 and matrix units on where Dawn is known to hide them, as the rest of a sentence; else empty. */
export const hiddenF16 = (description: string, { vendor }: ComputeFeatures): string =>
  /nvidia/i.test(`${vendor} ${description}`)
    ? "; on NVIDIA, Dawn hides it unless its toggles vulkan_enable_f16_on_nvidia and, for the matrix units, " +
      "allow_unsafe_apis are on (in Node: GCOPD_DAWN_FEATURES=allow_unsafe_apis,vulkan_enable_f16_on_nvidia; Chromium: " +
      "--enable-dawn-features=allow_unsafe_apis,vulkan_enable_f16_on_nvidia)"
    : "";

/** Why f16 products are refused on a device, and what turns them on. */
export const noF16 = (description: string, features: ComputeFeatures): string =>
  `compute f16: the adapter ${description} lacks shader-f16${hiddenF16(description, features)}; use compute f32`;

function isSoftware(adapter: GPUAdapter): boolean {
  const { vendor, architecture, description, device, isFallbackAdapter } = adapter.info;
  const name = [vendor, architecture, description, device].join(" ").toLowerCase();
  return isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|basic render|warp\b/.test(name);
}

const DISPOSED = "The WebGPU backend was disposed; make a new one.";

/** Collects what goes wrong on a device, which WebGPU reports later and elsewhere. */
export class DeviceHealth {
  private lossError: Error | undefined;
  private disposed = false;
  private uncaptured: DeviceError | undefined;
  private readonly orLost: <R>(work: Promise<R>) => Promise<R>;
  /** Errors found so far: what was made before the last one may be invalid. */
  faults = 0;
  /** The last error that any caller found. */
  lastFault: DeviceError | undefined;

  constructor(
    private readonly device: GPUDevice,
    private readonly describe: () => string,
  ) {
    const lost: Promise<never> = device.lost.then((info) => {
      // Dawn in Node keeps a device that has a handler for ever, with all that was made on it and all that handler reaches.
      device.onuncapturederror = null;
      this.lossError ??= this.disposed
        ? new Error(DISPOSED)
        : new DeviceError(
            `The WebGPU device was lost (${[info.reason, oneLine(info.message)].filter(Boolean).join(": ").replace(/\.$/, "")}).`,
            "lost",
          );
      throw this.lossError;
    });
    this.orLost = raceAgainst(lost);
    device.onuncapturederror = (event) => {
      event.preventDefault?.();
      this.uncaptured ??= this.explain(event.error);
    };
    this.open();
  }

  /** @throws DeviceError when the device is lost, Error when the backend was disposed. */
  check(): void {
    if (this.disposed) throw new Error(DISPOSED);
    if (this.lossError !== undefined) throw this.lossError;
  }

  /** Rejects as soon as the device is lost, whatever `work` does then. */
  async until<R>(work: Promise<R>): Promise<R> {
    try {
      return await this.orLost(work);
    } catch (error) {
      // A loss makes pending work fail first with a message that hides the reason.
      await this.orLost(new Promise((resolve) => setTimeout(resolve, 20)));
      throw error;
    }
  }

  /** The first error since the last call, or undefined. */
  async errors(): Promise<DeviceError | undefined> {
    const scopes = [this.device.popErrorScope(), this.device.popErrorScope()];
    this.open();
    const found = await this.until(Promise.all(scopes));
    const captured = found.find((error) => error !== null);
    const error = this.uncaptured ?? (captured ? this.explain(captured) : undefined);
    this.uncaptured = undefined;
    if (error) {
      this.faults++;
      this.lastFault = error;
    }
    return error;
  }

  dispose(): void {
    this.disposed = true;
  }

  private open(): void {
    this.device.pushErrorScope("validation");
    this.device.pushErrorScope("out-of-memory");
  }

  private explain(error: GPUError): DeviceError {
    const what = oneLine(error.message);
    const memory = /out.?of.?memory|allocat/i.test(`${error.constructor.name} ${what}`);
    return memory
      ? new DeviceError(
          `WebGPU ran out of memory with ${this.describe()}: use smaller packs or a smaller model (${what})`,
          "memory",
        )
      : new DeviceError(`A WebGPU operation failed: ${what}`, "operation");
  }
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").trim();
}
