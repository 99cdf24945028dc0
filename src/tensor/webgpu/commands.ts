import { BindGroups } from "./bind-groups.ts";
import common from "./common.wgsl?raw";
import { type ComputeDevice, type DeviceHealth, STAGE_COMPUTE, USAGE } from "./device.ts";
import { type GpuTensor, mebibytes } from "./memory.ts";
import { Profile } from "./profile.ts";
import { joinModules, specialise } from "./wgsl.ts";

/**
 * A compute kernel: an entry point of a WGSL file. Binding 0 is its uniform `base: u32` (first workgroup of this
 * dispatch), followed by the `uints` and then the `floats` of a dispatch; bindings 1, 2, … are its buffers.
 */
export interface Kernel {
  readonly source: string;
  readonly entry: string;
  /**
   * One letter per buffer: `r` read only, `w` written, `h` only read, but bound as written. A compiler may move loads from
   * what nobody writes to where they are first used, past everything that was to hide how long they take; with `h` they
   * are held before the next barrier. WebGPU wants such a buffer bound once.
   */
  readonly buffers: string;
  /** Compiled into the text (see `specialise`). */
  readonly constants?: Readonly<Record<string, number | string>>;
}

export interface Dispatch {
  readonly kernel: Kernel;
  readonly buffers: readonly GpuTensor[];
  readonly groups: number;
  readonly uints?: readonly number[];
  readonly floats?: readonly number[];
  /** Floating-point operations, roughly: decides when to submit. */
  readonly work: number;
}

/** A dispatch that was encoded to be run again. */
interface Call {
  readonly entry: string;
  readonly work: number;
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly offset: number;
  readonly x: number;
  readonly y: number;
}

interface Recorded {
  readonly calls: Call[];
  readonly uniforms: GPUBuffer;
  readonly words: Uint32Array;
  readonly floats: Float32Array;
  /** All tensors that the calls use, and those of them that they write. */
  readonly used: Set<GpuTensor>;
  readonly written: Set<GpuTensor>;
  /** What has to be up to date before each run. */
  readonly before: (() => void)[];
}

/** Words. */
const LONGEST_WRITE = 2 ** 24;
/** Share of a batch. Counted by operations that is a fraction of a millisecond; small layers, bound by latency, take longer. */
const WORTH_SUBMITTING = 1 / 400;
const SLOT = 256;
const SLOTS = 512;
/** Dispatches of a recording. */
const MOST_CALLS = 8192;

/**
 * Encodes dispatches and submits them in short batches: browsers end a device whose submission takes
 * seconds. A dispatch with too much work is cut into several.
 */
export class Commands {
  private encoder: GPUCommandEncoder | undefined;
  private pass: GPUComputePassEncoder | undefined;
  private readonly uniforms = new ArrayBuffer(SLOT * SLOTS);
  private readonly uints = new Uint32Array(this.uniforms);
  private readonly floats = new Float32Array(this.uniforms);
  private readonly uniformBuffer: GPUBuffer;
  private used = 0;
  private pendingWork = 0;
  private submission = 0;
  private readonly layouts = new Map<string, { group: GPUBindGroupLayout; pipeline: GPUPipelineLayout }>();
  private readonly pipelines = new Map<string, GPUComputePipeline>();
  private readonly device: GPUDevice;
  readonly limits: GPUSupportedLimits;
  /** Times of kernels, when asked for. */
  readonly profile: Profile;
  /** Operations after which a batch is submitted. */
  private readonly batchWork: number;
  private readonly groups: BindGroups;
  /** Errors that were known when the groups were made. */
  private groupFaults = 0;
  private recorded: Recorded | undefined;

  constructor(
    compute: ComputeDevice,
    private readonly health: DeviceHealth,
    /** Bytes that one binding may span. */
    private readonly bindingLimit: number = compute.device.limits.maxStorageBufferBindingSize,
    /** Bind groups that are kept; by default as many as pay. */
    keptGroups?: number,
  ) {
    this.groups = new BindGroups(keptGroups);
    this.device = compute.device;
    this.limits = compute.device.limits;
    this.profile = new Profile(this.device);
    // About a second on a software adapter, tens of milliseconds on a GPU with and without matrix units.
    const fast = compute.features.matrices.length > 0;
    this.batchWork = compute.software ? 0.3e9 : fast ? 4e12 : 100e9;
    this.uniformBuffer = this.device.createBuffer({
      size: SLOT * SLOTS,
      usage: USAGE.uniform | USAGE.copyDestination,
    });
  }

  dispatch({ kernel, buffers, groups, uints = [], floats = [], work }: Dispatch): void {
    this.health.check();
    for (const tensor of buffers) checkAlive(tensor);
    if (groups === 0) return;
    buffers.forEach((tensor, i) => {
      if (kernel.buffers[i] === "w") tensor.version++;
    });
    const pipeline = this.pipeline(kernel);
    const most = this.device.limits.maxComputeWorkgroupsPerDimension;
    if (this.recorded) {
      this.recordDispatch(this.recorded, pipeline, { kernel, buffers, groups, uints, floats, work });
      return;
    }
    const pieces = Math.min(groups, Math.max(1, Math.ceil(work / this.batchWork)));
    const piece = Math.min(Math.ceil(groups / pieces), most * most);
    for (let base = 0; base < groups; base += piece) {
      if (this.used === SLOTS || this.pendingWork >= this.batchWork || this.profile.full) this.flush();
      const slot = this.used++;
      let at = (slot * SLOT) / 4;
      this.uints[at++] = base;
      for (const value of uints) this.uints[at++] = value;
      for (const value of floats) this.floats[at++] = value;
      const count = Math.min(piece, groups - base);
      const pass =
        this.profile.recording === "dispatches"
          ? this.timedPass(kernel.entry, (work * count) / groups)
          : this.openPass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, this.bind(kernel, buffers), [slot * SLOT]);
      const x = Math.min(count, most);
      pass.dispatchWorkgroups(x, Math.ceil(count / x));
      for (const { pooled } of buffers) pooled.lastUse = this.submission;
      this.pendingWork += (work * count) / groups;
    }
  }

  /** Encodes what `work` dispatches to be run again by the function returned; `dispose` lets its buffer go. */
  record(work: () => void): { run(): void; dispose(): void } {
    if (this.recorded) throw new Error("record: a recording is under way");
    const words = new ArrayBuffer(SLOT * MOST_CALLS);
    const recorded: Recorded = {
      calls: [],
      uniforms: this.device.createBuffer({
        size: SLOT * MOST_CALLS,
        usage: USAGE.uniform | USAGE.copyDestination,
      }),
      words: new Uint32Array(words),
      floats: new Float32Array(words),
      used: new Set(),
      written: new Set(),
      before: [],
    };
    this.recorded = recorded;
    try {
      work();
    } catch (error) {
      recorded.uniforms.destroy();
      throw error;
    } finally {
      this.recorded = undefined;
    }
    this.device.queue.writeBuffer(recorded.uniforms, 0, words, 0, recorded.calls.length * SLOT);
    return { run: () => this.runRecorded(recorded), dispose: () => recorded.uniforms.destroy() };
  }

  /** What must hold before the dispatches that follow: done now, and before each run of a recording. */
  beforeRuns<R>(work: () => R): R {
    const { recorded } = this;
    if (!recorded) return work();
    recorded.before.push(work);
    this.recorded = undefined;
    try {
      return work();
    } finally {
      this.recorded = recorded;
    }
  }

  /** As `beforeRuns`, for work that reads this tensor alone; a tensor that the recording writes is read in the recording. */
  fromTensor<R>({ pooled }: GpuTensor, work: () => R): R {
    const written = [...(this.recorded?.written ?? [])].some((tensor) => tensor.pooled === pooled);
    return written ? work() : this.beforeRuns(work);
  }

  private recordDispatch(
    recorded: Recorded,
    pipeline: GPUComputePipeline,
    { kernel, buffers, groups, uints = [], floats = [], work }: Dispatch,
  ): void {
    const most = this.device.limits.maxComputeWorkgroupsPerDimension;
    if (groups > most * most) throw new Error(`record: ${kernel.entry} has ${groups} workgroups`);
    if (recorded.calls.length === MOST_CALLS) throw new Error(`record: more than ${MOST_CALLS} dispatches`);
    const offset = recorded.calls.length * SLOT;
    let at = offset / 4 + 1;
    for (const value of uints) recorded.words[at++] = value;
    for (const value of floats) recorded.floats[at++] = value;
    const x = Math.min(groups, most);
    const group = this.makeGroup(kernel, buffers, recorded.uniforms);
    const y = Math.ceil(groups / x);
    recorded.calls.push({ entry: kernel.entry, work, pipeline, group, offset, x, y });
    buffers.forEach((tensor, i) => {
      recorded.used.add(tensor);
      if (kernel.buffers[i] === "w") recorded.written.add(tensor);
    });
  }

  private runRecorded({ calls, used, written, before }: Recorded): void {
    this.health.check();
    for (const work of before) work();
    for (const { entry, work, pipeline, group, offset, x, y } of calls) {
      if (this.pendingWork >= this.batchWork || this.profile.full) this.flush();
      const pass = this.profile.recording === "dispatches" ? this.timedPass(entry, work) : this.openPass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group, [offset]);
      pass.dispatchWorkgroups(x, y);
      this.pendingWork += work;
    }
    for (const tensor of written) tensor.version++;
    for (const { pooled } of used) pooled.lastUse = this.submission;
  }

  private refuseInRecording(what: string): void {
    if (this.recorded) throw new Error(`record: ${what} cannot be recorded`);
  }

  /** Copies `bytes` between buffers in order with the dispatches; all in multiples of 4. */
  copy(from: GpuTensor, fromByte: number, to: GpuTensor, toByte: number, bytes: number): void {
    checkAlive(from);
    checkAlive(to);
    this.copyRaw(from.buffer, from.offset + fromByte, to.buffer, to.offset + toByte, bytes);
    from.pooled.lastUse = this.submission;
    to.pooled.lastUse = this.submission;
    to.version++;
  }

  copyRaw(from: GPUBuffer, fromByte: number, to: GPUBuffer, toByte: number, bytes: number): void {
    this.health.check();
    this.refuseInRecording("a copy");
    if (bytes === 0) return;
    this.openEncoder().copyBufferToBuffer(from, fromByte, to, toByte, bytes);
  }

  clear(tensor: GpuTensor): void {
    this.health.check();
    this.refuseInRecording("clearing a tensor");
    checkAlive(tensor);
    this.openEncoder().clearBuffer(tensor.buffer, tensor.offset, tensor.bindingBytes);
    tensor.version++;
    tensor.pooled.lastUse = this.submission;
  }

  /** Writes from the host at a word of the tensor, after all commands that were encoded before. */
  write(tensor: GpuTensor, data: Float32Array | Uint32Array, word = 0): void {
    this.health.check();
    this.refuseInRecording("writing from the host");
    checkAlive(tensor);
    // The queue's writes overtake commands that are not submitted yet.
    if (tensor.pooled.lastUse === this.submission) this.flush();
    tensor.version++;
    // In pieces: the queue copies each into memory of the driver before it returns.
    for (let at = 0; at < data.length; at += LONGEST_WRITE) {
      const piece = data.subarray(at, at + LONGEST_WRITE) as BufferSource;
      this.device.queue.writeBuffer(tensor.buffer, tensor.offset + (word + at) * 4, piece);
    }
  }

  /** Submits what is pending where that is work enough to be worth a submission of its own. */
  submitAhead(): void {
    if (this.pendingWork >= this.batchWork * WORTH_SUBMITTING) this.flush();
  }

  flush(): void {
    this.health.check();
    if (!this.encoder) return;
    this.pass?.end();
    this.profile.resolve(this.encoder);
    if (this.used > 0)
      this.device.queue.writeBuffer(this.uniformBuffer, 0, this.uniforms, 0, this.used * SLOT);
    this.device.queue.submit([this.encoder.finish()]);
    this.encoder = undefined;
    this.pass = undefined;
    this.used = 0;
    this.pendingWork = 0;
    this.submission++;
  }

  private openEncoder(): GPUCommandEncoder {
    this.pass?.end();
    this.pass = undefined;
    this.encoder ??= this.device.createCommandEncoder();
    return this.encoder;
  }

  private openPass(): GPUComputePassEncoder {
    this.encoder ??= this.device.createCommandEncoder();
    this.pass ??= this.encoder.beginComputePass(
      this.profile.recording ? { timestampWrites: this.profile.next("pass", 0) } : undefined,
    );
    return this.pass;
  }

  /** A pass for one dispatch alone. */
  private timedPass(entry: string, work: number): GPUComputePassEncoder {
    this.pass = this.openEncoder().beginComputePass({ timestampWrites: this.profile.next(entry, work) });
    return this.pass;
  }

  /** Call with the ids of buffers that are destroyed. */
  forget(buffers: ReadonlySet<number>): void {
    this.groups.forget(buffers);
  }

  private bind(kernel: Kernel, buffers: readonly GpuTensor[]): GPUBindGroup {
    // One that was refused for want of memory must not be found again.
    if (this.health.faults !== this.groupFaults) {
      this.groups.clear();
      this.groupFaults = this.health.faults;
    }
    return this.groups.get(kernel.buffers, buffers, () => this.makeGroup(kernel, buffers));
  }

  private makeGroup(
    kernel: Kernel,
    buffers: readonly GpuTensor[],
    uniforms: GPUBuffer = this.uniformBuffer,
  ): GPUBindGroup {
    const entries: GPUBindGroupEntry[] = [
      { binding: 0, resource: { buffer: uniforms, offset: 0, size: SLOT } },
    ];
    buffers.forEach((tensor, i) => {
      const { buffer, offset, bindingBytes } = tensor;
      if (bindingBytes > this.bindingLimit)
        throw new Error(
          `${kernel.entry}: a tensor [${tensor.shape.join(", ")}] takes ${mebibytes(bindingBytes)} MiB in one binding, but this ` +
            `WebGPU device binds at most ${mebibytes(this.bindingLimit)} MiB: use smaller packs or a smaller model.`,
        );
      const size = tensor.boundBytes(this.bindingLimit);
      entries.push({ binding: i + 1, resource: { buffer, offset, size } });
    });
    return this.device.createBindGroup({ layout: this.layout(kernel.buffers).group, entries });
  }

  private layout(buffers: string): { group: GPUBindGroupLayout; pipeline: GPUPipelineLayout } {
    let layout = this.layouts.get(buffers);
    if (!layout) {
      const entries: GPUBindGroupLayoutEntry[] = [
        { binding: 0, visibility: STAGE_COMPUTE, buffer: { type: "uniform", hasDynamicOffset: true } },
      ];
      [...buffers].forEach((letter, i) => {
        const type = letter === "r" ? "read-only-storage" : "storage";
        entries.push({ binding: i + 1, visibility: STAGE_COMPUTE, buffer: { type } });
      });
      const group = this.device.createBindGroupLayout({ entries });
      layout = { group, pipeline: this.device.createPipelineLayout({ bindGroupLayouts: [group] }) };
      this.layouts.set(buffers, layout);
    }
    return layout;
  }

  private pipeline(kernel: Kernel): GPUComputePipeline {
    const constants = kernel.constants ?? {};
    // By hand: JSON takes several times as long, for every dispatch.
    let key = kernel.entry;
    for (const name in constants) key += ` ${name}=${constants[name]}`;
    let pipeline = this.pipelines.get(key);
    if (!pipeline) {
      const code = joinModules(common, specialise(kernel.source, constants));
      pipeline = this.device.createComputePipeline({
        label: key,
        layout: this.layout(kernel.buffers).pipeline,
        compute: { module: this.device.createShaderModule({ label: key, code }), entryPoint: kernel.entry },
      });
      this.pipelines.set(key, pipeline);
    }
    return pipeline;
  }
}

export function checkAlive(tensor: GpuTensor): void {
  if (tensor.freed) throw new Error(`tensor [${tensor.shape.join(",")}] was used after it was freed`);
}
