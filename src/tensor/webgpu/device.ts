/**
 * A WebGPU device for compute: asked for with the limits that the adapter offers, with what is needed to choose kernels,
 * and with its loss and its errors kept, so that they surface where a caller waits (`sync`, `read`).
 */

/** The WebGPU flags used here, as the specification numbers them: nothing depends on globals that Node lacks. */
export const USAGE = {
  mapRead: 0x0001,
  copySource: 0x0004,
  copyDestination: 0x0008,
  uniform: 0x0040,
  storage: 0x0080,
} as const;
export const MAP_READ = 0x0001;
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
  const device = await adapter.requestDevice({ requiredLimits });
  const { vendor, architecture, description, device: model } = adapter.info;
  return {
    gpu,
    device,
    description: [vendor, architecture, description || model].filter((part) => part !== "").join(" "),
    software: isSoftware(adapter),
  };
}

function isSoftware(adapter: GPUAdapter): boolean {
  const { vendor, architecture, description, device, isFallbackAdapter } = adapter.info;
  const name = [vendor, architecture, description, device].join(" ").toLowerCase();
  return isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|basic render|warp\b/.test(name);
}

/** Collects what goes wrong on a device, which WebGPU reports later and elsewhere. */
export class DeviceHealth {
  private lostMessage: string | undefined;
  private disposed = false;
  private uncaptured: string | undefined;
  private readonly lost: Promise<never>;

  constructor(
    private readonly device: GPUDevice,
    private readonly describe: () => string,
  ) {
    this.lost = device.lost.then((info) => {
      this.lostMessage ??= this.disposed
        ? "The WebGPU backend was disposed; make a new one."
        : `The WebGPU device was lost (${info.reason}${info.message ? `: ${oneLine(info.message)}` : ""}); its tensors are gone: make a new backend.`;
      throw new Error(this.lostMessage);
    });
    this.lost.catch(() => {});
    device.onuncapturederror = (event) => {
      event.preventDefault?.();
      this.uncaptured ??= this.explain(event.error);
    };
    this.open();
  }

  /** @throws Error when the device is lost or the backend was disposed. */
  check(): void {
    if (this.disposed) throw new Error("The WebGPU backend was disposed; make a new one.");
    if (this.lostMessage !== undefined) throw new Error(this.lostMessage);
  }

  /** Rejects as soon as the device is lost, whatever `work` does then. */
  async until<R>(work: Promise<R>): Promise<R> {
    try {
      return await Promise.race([work, this.lost]);
    } catch (error) {
      // A loss makes pending work fail first with a message that hides the reason.
      await Promise.race([this.lost, new Promise((resolve) => setTimeout(resolve, 20))]);
      throw error;
    }
  }

  /** The first error since the last call, as one line, or undefined. */
  async errors(): Promise<string | undefined> {
    const scopes = [this.device.popErrorScope(), this.device.popErrorScope()];
    this.open();
    const found = await this.until(Promise.all(scopes));
    const captured = found.find((error) => error !== null);
    const message = this.uncaptured ?? (captured ? this.explain(captured) : undefined);
    this.uncaptured = undefined;
    return message;
  }

  dispose(): void {
    this.disposed = true;
  }

  private open(): void {
    this.device.pushErrorScope("validation");
    this.device.pushErrorScope("out-of-memory");
  }

  private explain(error: GPUError): string {
    const what = oneLine(error.message);
    const memory = /out.?of.?memory|allocat/i.test(`${error.constructor.name} ${what}`);
    return memory
      ? `WebGPU ran out of memory with ${this.describe()}: use smaller packs or a smaller model (${what})`
      : `A WebGPU operation failed: ${what}`;
  }
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").trim();
}
