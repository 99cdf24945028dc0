import type { KernelTime } from "../../src/tensor/index.ts";

/** Share of the time of each kernel. */
export function printProfile(what: string, times: readonly KernelTime[]): void {
  const total = times.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  console.log(`\n${what}: ${total.toFixed(0)} ms in kernels`);
  for (const { entry, dispatches, milliseconds, operations: flop } of times.slice(0, 16)) {
    const share = ((100 * milliseconds) / total).toFixed(1).padStart(5);
    const speed = (flop / milliseconds / 1e9).toFixed(1);
    console.log(
      `${share}%  ${milliseconds.toFixed(1).padStart(9)} ms  ${dispatches} × ${entry}, ${speed} TFLOP/s`,
    );
  }
}
