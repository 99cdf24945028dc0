import type { Commands } from "./commands.ts";
import type { GpuTensor, Memory } from "./memory.ts";

/** What every operation works with. */
export interface Context {
  readonly memory: Memory;
  readonly commands: Commands;
  /** The adapter computes on the processor: few workgroups at a time, dear loads, very dear barriers. */
  readonly software: boolean;
  /** `tile`: registers only, no barriers; `shared`: through tiles in workgroup memory. */
  readonly matmul: "tile" | "shared";
}

/** Threads a workgroup in kernels without shared memory. */
export const GROUP = 64;

/** Workgroups for `threads` threads, one a value (or a vec4). */
export function groupsOf(threads: number): number {
  return Math.ceil(threads / GROUP);
}

/** Refuses host-side ids, rows and positions out of range: on the device they would be clamped in silence. */
export function checkIndices(operation: string, what: string, indices: GpuTensor, limit: number): void {
  if (indices.length > 0 && indices.largest >= limit)
    throw new Error(`${operation}: ${what} ${indices.largest} of ${limit}`);
}
