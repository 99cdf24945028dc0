import type { Commands } from "./commands.ts";
import type { ComputeFeatures, MatrixShape } from "./device.ts";
import type { ToHalf, ToLostPanels, ToPanels } from "./half.ts";
import type { GpuTensor, Memory } from "./memory.ts";
import type { SharedKernel, Tuning } from "./tuning.ts";

/** What every operation works with. */
export interface Context {
  readonly memory: Memory;
  readonly commands: Commands;
  /** Bytes that one binding may span; longer tensors are seen through windows (`windows.ts`). */
  readonly bindingLimit: number;
  /** The adapter computes on the processor: few workgroups at a time, dear loads, very dear barriers. */
  readonly software: boolean;
  /** `tile`: registers only, no barriers; `shared`: through tiles in workgroup memory; a name: by that kernel of those. */
  readonly matmul: "tile" | "shared" | SharedKernel;
  /** `matmul` was asked for, and is not to be chosen by measuring. */
  readonly matmulFixed: boolean;
  /** What was measured to be best on this adapter. */
  readonly tuning: Tuning;
  /** What the adapter offers beyond the universal kernels. */
  readonly features: ComputeFeatures;
  /**
   * How products with f16 operands are computed, or undefined where operands stay f32. `matrix`: f16 matrices of
   * subgroups; `packed`: f16 in memory, f32 in registers, by core WGSL alone.
   */
  readonly f16: "matrix" | "packed" | undefined;
  /** A tensor's values as f16 operands, cast once for as long as nothing writes to the tensor. */
  readonly half: ToHalf;
  /** The same as a matrix in the panels that the matrix kernels read. */
  readonly panels: ToPanels;
  /** What the cast to those panels lost, in panels of the same scale: free `values` after use. */
  readonly lostPanels: ToLostPanels;
}

/** Threads per workgroup in kernels without shared memory. */
export const GROUP = 64;

/** Workgroups for `threads` threads, one per value (or a vec4). */
export function groupsOf(threads: number): number {
  return Math.ceil(threads / GROUP);
}

/** Refuses host-side ids, rows and positions out of range: on the device they would be clamped in silence. */
export function checkIndices(operation: string, what: string, indices: GpuTensor, limit: number): void {
  if (indices.length > 0 && indices.largest >= limit)
    throw new Error(`${operation}: ${what} ${indices.largest} of ${limit}`);
}

/** The shape in which the matrix kernels hold their operands, or undefined where the adapter has none that they know. */
export function matrixShape({ matrices, subgroupSize }: ComputeFeatures): MatrixShape | undefined {
  if (subgroupSize !== 32) return undefined;
  return matrices.find(({ m, n, k }) => m === 16 && n === 16 && k === 16);
}
