/** A WebGPU device that counts its buffers and fails when it is told to, in the ways that real ones do. */
import { requestDevice } from "../../src/tensor/webgpu/device.ts";

/** Buffers of all devices so far. Those of a device that ended are gone with it. */
export class BufferCount {
  created = 0;
  createdBytes = 0;
  destroyed = 0;
  destroyedBytes = 0;

  /** Buffers that exist. */
  get live(): { buffers: number; bytes: number } {
    return { buffers: this.created - this.destroyed, bytes: this.createdBytes - this.destroyedBytes };
  }
}

export interface FaultyDevice {
  compute: Awaited<ReturnType<typeof requestDevice>>;
  /** The device is destroyed at the so-many-th command encoder from now on: in the middle of some work. */
  loseAfter(encoders: number): void;
  /** The so-many-th buffer from now on is refused for want of memory. */
  refuseAfter(buffers: number): void;
  /** A fault that was asked for and has not come yet. */
  readonly pending: boolean;
  /** Takes back a fault that has not come. */
  calm(): void;
}

export async function openFaultyDevice(gpu: GPU, count: BufferCount): Promise<FaultyDevice> {
  const compute = await requestDevice(gpu);
  const { device } = compute;
  const { createBuffer, createCommandEncoder, destroy } = device;
  const live = new Map<GPUBuffer, number>();
  let loseIn = 0;
  let refuseIn = 0;

  const gone = (buffer: GPUBuffer) => {
    const size = live.get(buffer);
    if (size === undefined) return;
    live.delete(buffer);
    count.destroyed++;
    count.destroyedBytes += size;
  };
  const count1 = (buffer: GPUBuffer, size: number) => {
    live.set(buffer, size);
    count.created++;
    count.createdBytes += size;
    const end = buffer.destroy;
    buffer.destroy = () => {
      gone(buffer);
      return end.call(buffer);
    };
    return buffer;
  };

  device.createBuffer = (descriptor) => {
    if (refuseIn > 0 && --refuseIn === 0) {
      // More than a software adapter gives to one buffer: the driver itself says that it is out of memory.
      const size = device.limits.maxBufferSize;
      return count1(createBuffer.call(device, { ...descriptor, size }), 0);
    }
    return count1(createBuffer.call(device, descriptor), descriptor.size);
  };
  device.createCommandEncoder = (descriptor) => {
    const encoder = createCommandEncoder.call(device, descriptor);
    if (loseIn > 0 && --loseIn === 0) device.destroy();
    return encoder;
  };
  device.destroy = () => {
    for (const buffer of [...live.keys()]) gone(buffer);
    return destroy.call(device);
  };
  return {
    compute,
    loseAfter(encoders) {
      loseIn = encoders;
    },
    refuseAfter(buffers) {
      refuseIn = buffers;
    },
    get pending() {
      return loseIn > 0 || refuseIn > 0;
    },
    calm() {
      loseIn = 0;
      refuseIn = 0;
    },
  };
}
