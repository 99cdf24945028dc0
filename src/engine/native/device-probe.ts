/** What a device reaches in about a second: the speed of its products, and of its memory. */
import type { Backend } from "../../tensor/index.ts";

export interface DeviceSpeed {
  /** 10^12 floating-point operations per second of a product of matrices, operands as the backend computes. */
  teraflops: number;
  /** 10^9 bytes per second, read and written, of a sum in place. */
  gigabytes: number;
}

/** Side of the matrices and values of the sum: large enough for a GPU, small enough for a processor. */
const SIZES = {
  gpu: { side: 4096, values: 2 ** 26 },
  processor: { side: 256, values: 2 ** 20 },
};

/** Milliseconds that one of both is measured for. */
const ENOUGH = 400;

/** Runs more and more of the same work, until it takes long enough to be told apart from starting it. */
async function perSecond(backend: Backend, work: () => void, signal?: AbortSignal): Promise<number> {
  // The first run makes pipelines.
  work();
  await backend.sync();
  for (let times = 1; ; times *= 2) {
    signal?.throwIfAborted();
    const began = performance.now();
    for (let i = 0; i < times; i += 1) work();
    await backend.sync();
    const milliseconds = performance.now() - began;
    if (milliseconds >= ENOUGH) return (1000 * times) / milliseconds;
  }
}

/** Measures a device that does nothing else. What it takes of memory is free again. `gpu`: not a processor. */
export async function probeDevice(
  backend: Backend,
  gpu: boolean,
  signal?: AbortSignal,
): Promise<DeviceSpeed> {
  const { side, values } = SIZES[gpu ? "gpu" : "processor"];
  const square = backend.zeros([side, side]);
  const other = backend.zeros([side, side]);
  const [sum, part] = [backend.zeros([values]), backend.zeros([values])];
  try {
    const products = await perSecond(backend, () => backend.free(backend.linear(square, other)), signal);
    const sums = await perSecond(backend, () => backend.addInPlace(sum, part), signal);
    return { teraflops: (products * 2 * side ** 3) / 1e12, gigabytes: (sums * 3 * 4 * values) / 1e9 };
  } finally {
    backend.free(square, other, sum, part);
  }
}
