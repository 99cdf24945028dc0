import { type Commands, checkAlive } from "./commands.ts";
import casts from "./half.wgsl?raw";
import common from "./half-common.wgsl?raw";
import order from "./half-panels.wgsl?raw";
import type { GpuTensor, Memory } from "./memory.ts";
import { canExpandHalf, expandHalf, weightScale } from "./weights-half.ts";

const source = `${common}\n${order}\n${casts}`;

/**
 * A tensor's values as operands of f16 products: value i is values[i] · scale[0].
 *
 * `values` is f16 (two per u32, row-major, the shape of the tensor that it copies; zeros up to a whole 16 bytes), `scale`
 * f32 [1], a power of two that is computed on the device and never read back. Both belong to the tensor: do not free them.
 */
export interface Half {
  readonly values: GpuTensor;
  readonly scale: GpuTensor;
}

/** A matrix in panels of 32 columns and `rows` rows (see half.wgsl), as the matrix kernels take it. */
export interface Panels extends Half {
  readonly rows: number;
  /** A copy for this one use: free `values` after it. */
  readonly once: boolean;
}

/** Gives a tensor's values in half precision; see `createHalf`. */
export type ToHalf = (tensor: GpuTensor) => Half;
/** Gives the first `rows` · `columns` values of a tensor as a matrix in panels; see `createHalf`. */
export type ToPanels = (tensor: GpuTensor, rows: number, columns: number) => Panels;
/** Gives what the cast of an f32 tensor to the panels `of` lost; see `createHalf`. */
export type ToLostPanels = (tensor: GpuTensor, of: Panels, columns: number) => Panels;

/** Workgroups that look for the largest value; one thread of a workgroup reads each of their results. */
const MOST_PARTS = 256;
/** Times 2,048 values that a workgroup converts: finding the scale costs it as much as reading 256. */
const ROUNDS = 4;
const constants = { ROUNDS };
/** What panels are padded to: tiles of 128 rows or columns then need no test, nor do 32 of k. */
const PADDING = 128;
/** Values past the end that a tile may read when its first row is not a multiple of the padding. */
const SLACK = PADDING * 32;

/**
 * The casts from f32 to f16. A copy is made once and kept until its tensor is freed; it is made again when the tensor was
 * written to in between (`GpuTensor.version`), also between the runs of a recording. An f16 tensor is its own copy in rows, with the scale that it was stored
 * with or 1; its panels are made for one use. Other frozen weights are expanded straight to f16.
 */
export function createHalf(
  memory: Memory,
  commands: Commands,
): { half: ToHalf; panels: ToPanels; lostPanels: ToLostPanels } {
  let one: GpuTensor | undefined;

  function storedScale(tensor: GpuTensor): GpuTensor {
    if (tensor.half) return tensor.half.scale;
    return commands.beforeRuns(() => {
      if (!one || one.freed) {
        one = memory.allocateCopy([1], "f32");
        commands.write(one, Float32Array.of(1));
      }
      return one;
    });
  }

  function check(tensor: GpuTensor): void {
    checkAlive(tensor);
    if (tensor.dtype !== "f32" && tensor.dtype !== "f16" && !canExpandHalf(tensor))
      throw new Error(`cast: expected a tensor of f32, got ${tensor.dtype}`);
  }

  /** Runs a cast of `pieces` of eight values after a search for the largest. */
  function cast(entry: string, tensor: GpuTensor, to: Half, pieces: number, more: readonly number[]): void {
    const { length } = tensor;
    const parts = Math.max(1, Math.min(MOST_PARTS, Math.ceil(length / 4096)));
    const peaks = memory.allocateCopy([parts], "f32");
    commands.dispatch({
      kernel: { source, entry: "half_peaks", buffers: "rw", constants },
      buffers: [tensor, peaks],
      groups: parts,
      uints: [length, parts],
      work: length,
    });
    commands.dispatch({
      kernel: { source, entry, buffers: "rrww", constants },
      buffers: [tensor, peaks, to.values, to.scale],
      groups: Math.ceil(pieces / (256 * ROUNDS)),
      uints: [length, parts, ...more],
      work: 2 * length,
    });
    memory.free(peaks);
  }

  function half(tensor: GpuTensor): Half {
    check(tensor);
    if (tensor.dtype === "f16") return { values: tensor, scale: storedScale(tensor) };
    return commands.fromTensor(tensor, () => keptHalf(tensor));
  }

  function keptHalf(tensor: GpuTensor): Half {
    if (tensor.half?.version === tensor.version) return tensor.half;
    if (canExpandHalf(tensor)) {
      memory.freeCopies(tensor, "half");
      const scale = weightScale(memory, commands, tensor);
      const values = memory.allocateCopy(tensor.shape, "f16");
      expandHalf(commands, tensor, scale, values, tensor.length / 8);
      tensor.half = { values, scale, ownScale: true, version: tensor.version };
      return tensor.half;
    }
    tensor.half ??= {
      values: memory.allocateCopy(tensor.shape, "f16"),
      scale: memory.allocateCopy([1], "f32"),
      version: -1,
    };
    tensor.half.version = tensor.version;
    cast("half_cast", tensor, tensor.half, Math.ceil(tensor.length / 8), []);
    return tensor.half;
  }

  function panels(tensor: GpuTensor, rows: number, columns: number): Panels {
    check(tensor);
    const panelRows = padded(rows);
    const length = panelRows * padded(columns);
    const sizes = [rows, columns, panelRows, length / 8] as const;
    if (tensor.dtype === "f16") {
      const values = memory.allocateCopy([length + SLACK], "f16");
      commands.dispatch({
        kernel: { source, entry: "panels_copy", buffers: "rw", constants },
        buffers: [tensor, values],
        groups: Math.ceil(length / (2048 * ROUNDS)),
        uints: [0, 0, ...sizes],
        work: length,
      });
      return { values, scale: storedScale(tensor), rows: panelRows, once: true };
    }
    return commands.fromTensor(tensor, () => keptPanels(tensor, sizes));
  }

  function keptPanels(tensor: GpuTensor, sizes: readonly [number, number, number, number]): Panels {
    const [rows, columns, panelRows, pieces] = sizes;
    const length = 8 * pieces;
    const kept = tensor.panels;
    if (kept && (kept.columns !== columns || kept.matrixRows !== rows)) memory.freeCopies(tensor, "panels");
    else if (kept?.version === tensor.version) return kept;
    if (canExpandHalf(tensor)) {
      memory.freeCopies(tensor, "panels");
      const scale = weightScale(memory, commands, tensor);
      const values = memory.allocateCopy([length + SLACK], "f16");
      expandHalf(commands, tensor, scale, values, pieces, panelRows);
      const matrix = { rows: panelRows, matrixRows: rows, columns, once: false } as const;
      tensor.panels = { values, scale, ownScale: true, version: tensor.version, ...matrix };
      return tensor.panels;
    }
    tensor.panels ??= {
      values: memory.allocateCopy([length + SLACK], "f16"),
      scale: memory.allocateCopy([1], "f32"),
      version: -1,
      rows: panelRows,
      matrixRows: rows,
      columns,
      once: false,
    };
    tensor.panels.version = tensor.version;
    cast("panels_cast", tensor, tensor.panels, pieces, sizes);
    return tensor.panels;
  }

  function lostPanels(tensor: GpuTensor, { scale, rows: panelRows }: Panels, columns: number): Panels {
    check(tensor);
    if (tensor.dtype !== "f32") throw new Error(`lost panels: expected a tensor of f32, got ${tensor.dtype}`);
    const { length } = tensor;
    const pieces = (panelRows * padded(columns)) / 8;
    const values = memory.allocateCopy([8 * pieces + SLACK], "f16");
    commands.dispatch({
      kernel: { source, entry: "panels_lost", buffers: "rrw", constants },
      buffers: [tensor, scale, values],
      groups: Math.ceil(pieces / (256 * ROUNDS)),
      uints: [length, 0, length / columns, columns, panelRows, pieces],
      work: 2 * length,
    });
    return { values, scale, rows: panelRows, once: true };
  }

  return { half, panels, lostPanels };
}

function padded(count: number): number {
  return Math.ceil(count / PADDING) * PADDING;
}
