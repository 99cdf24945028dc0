import type { Backend } from "../backend.ts";
import { checkDeltaRule, checkDeltaRuleBackward, type DeltaRuleSizes } from "../delta-shapes.ts";
import type { Context } from "./context.ts";
import common from "./delta-chunks.wgsl?raw";
import results from "./delta-chunks-results.wgsl?raw";
import walk from "./delta-chunks-walk.wgsl?raw";
import within from "./delta-chunks-within.wgsl?raw";
import type { GpuTensor } from "./memory.ts";

/** Tokens of a chunk. */
export const CHUNK = 64;
/** vec4s of workgroup memory that every device has. */
const SHARED_VEC4S = 1024;

const WITHIN = `${common}\n${within}`;
const WALK = `${common}\n${walk}`;
const RESULTS = `${common}\n${results}`;
/** The module of each kernel. */
const SOURCES = {
  chunk_table: WITHIN,
  chunk_decays: WITHIN,
  chunk_scores: WITHIN,
  chunk_inverse: WITHIN,
  chunk_lower: WITHIN,
  chunk_walk: WALK,
  chunk_walk_back: WALK,
  chunk_outputs: RESULTS,
  chunk_borders: RESULTS,
  chunk_decay_slopes: RESULTS,
  chunk_near: RESULTS,
  chunk_far: RESULTS,
} as const;
type Entry = keyof typeof SOURCES;

type Rule = Pick<Backend<GpuTensor>, "deltaRule" | "deltaRuleBackward">;

/** The part of the rule that both forms share: `delta-rule.wgsl`. */
export interface SharedSteps {
  /** v̄ = β δ̄ in the place of δ̄, and ō·o − v̄·v and β̄ into `dgates`. */
  values(
    sizes: DeltaRuleSizes,
    of: {
      v: GpuTensor;
      o: GpuTensor;
      dout: GpuTensor;
      gates: GpuTensor;
      errors: GpuTensor;
      dv: GpuTensor;
      dgates: GpuTensor;
    },
  ): void;
  /** q̄ and k̄ of key heads from those of value heads [T,N,2,dk]. */
  sumHeads(sizes: DeltaRuleSizes, byValueHead: GpuTensor, q: GpuTensor): [GpuTensor, GpuTensor];
}

/** Chunks that there are at most: every sequence may end in the middle of one. */
function mostChunks({ tokens, sequences }: DeltaRuleSizes): number {
  return Math.floor(tokens / CHUNK) + sequences;
}

/** Bytes of the largest tensor that the chunks need beside those given: the states before each of them. */
export function chunkStateBytes(sizes: DeltaRuleSizes): number {
  const { valueHeads, keySize, valueSize } = sizes;
  return 4 * mostChunks(sizes) * valueHeads * Math.max(keySize * valueSize, CHUNK * CHUNK);
}

/** The gated delta rule by chunks (derived in delta-chunks.wgsl). Sizes are checked by the caller but for the shapes. */
export function deltaChunkOperations({ memory, commands, software }: Context, shared: SharedSteps): Rule {
  const group = software ? 16 : 64;
  const walkers = software ? 32 : 256;

  /** A call's kernels: with its sizes, and with scratch that `end` frees. */
  function begin(sizes: DeltaRuleSizes, sequences: GpuTensor) {
    const { tokens, keyHeads, valueHeads, keySize, valueSize } = sizes;
    const slots = mostChunks(sizes);
    const scratch: GpuTensor[] = [];
    const allocate = (...shape: number[]): GpuTensor => {
      const t = memory.allocate(shape, "f32");
      scratch.push(t);
      return t;
    };
    const run = (
      entry: Entry,
      letters: string,
      buffers: readonly GpuTensor[],
      groups: number,
      work: number,
      changes: Readonly<Record<string, number>> = {},
    ) => {
      // A state of many rows takes fewer columns at a time.
      const steps = entry === "chunk_walk_back" ? 2 * CHUNK : CHUNK;
      const tile = Math.max(1, Math.min(4, Math.floor(SHARED_VEC4S / (keySize + steps))));
      const constants = {
        ...{
          GROUP: group,
          WALK: walkers,
          CHUNK,
          DK: keySize,
          DV: valueSize,
          DK4: keySize / 4,
          DV4: valueSize / 4,
        },
        ...{ SLOPES: 0, SIDE: 0, WIDTH4: 1, BY_KEY: 0, WEIGHT: 0, TRANSPOSED: 0, STATE: 0, UNKNOWN: 0 },
        ...{ TILE: tile, STATE_TILE: keySize * tile, STEP_TILE: CHUNK * tile },
        ...changes,
      };
      commands.dispatch({
        kernel: { source: SOURCES[entry], entry, buffers: letters, constants },
        buffers,
        groups: entry.startsWith("chunk_walk") ? groups * Math.ceil(valueSize / 4 / tile) : groups,
        uints: [sizes.sequences, keyHeads, valueHeads, tokens, slots],
        work,
      });
    };
    const threads = (
      entry: Entry,
      letters: string,
      buffers: readonly GpuTensor[],
      each: number,
      work: number,
      changes = {},
    ) => run(entry, letters, buffers, Math.ceil((slots * each) / group), work, changes);

    const pairs = tokens * valueHeads;
    const table = memory.allocate([slots, 4], "u32");
    scratch.push(table);
    threads("chunk_table", "rw", [sequences, table], 1, slots * sizes.sequences);
    const steps = {
      pairs,
      table,
      triangle: () => allocate(slots, valueHeads, CHUNK, CHUNK),
      states: () => allocate(slots, valueHeads, keySize, valueSize),
      allocate,
      run,
      threads,
      decays(gates: GpuTensor): GpuTensor {
        const decays = allocate(tokens, valueHeads, 2);
        threads("chunk_decays", "rrw", [gates, table, decays], valueHeads, 2 * pairs);
        return decays;
      },
      /** Both triangles of products of rows; see the kernel. */
      scores(
        a: GpuTensor,
        b: GpuTensor,
        c: GpuTensor,
        decays: GpuTensor,
        kind: { SLOPES: number; SIDE: number },
      ) {
        const [first, second] = [steps.triangle(), steps.triangle()];
        const size = kind.SLOPES === 1 ? valueSize : keySize;
        const buffers = [a, b, c, decays, table, first, second];
        threads(
          "chunk_scores",
          "rrrrrww",
          buffers,
          valueHeads * (CHUNK / 4) ** 2,
          2 * pairs * CHUNK * size,
          kind,
        );
        return { first, second };
      },
      inverse(strict: GpuTensor): GpuTensor {
        const inverse = steps.triangle();
        const work = (pairs * CHUNK * CHUNK) / 3;
        threads("chunk_inverse", "rrw", [strict, table, inverse], valueHeads * CHUNK, work);
        return inverse;
      },
      /** `out` of a product with a lower triangle. */
      lower(
        lower: GpuTensor,
        x: GpuTensor,
        decays: GpuTensor,
        out: GpuTensor,
        kind: { BY_KEY: number; WEIGHT: number; TRANSPOSED: number },
      ): GpuTensor {
        const width = kind.BY_KEY === 1 ? keySize : valueSize;
        const each = (valueHeads * (CHUNK / 4) * width) / 4;
        const work = pairs * CHUNK * width;
        threads("chunk_lower", "rrrrw", [lower, x, table, decays, out], each, work, {
          ...kind,
          WIDTH4: width / 4,
        });
        return out;
      },
      end: () => {
        for (const t of scratch) memory.free(t);
      },
    };
    return steps;
  }

  return {
    deltaRule(q, k, v, gates, sequences, state) {
      const sizes = checkDeltaRule("deltaRule", q, k, v, gates, sequences, state);
      const { tokens, valueHeads, keySize, valueSize } = sizes;
      const o = memory.allocate(v.shape, "f32");
      const errors = memory.allocate(v.shape, "f32");
      const steps = begin(sizes, sequences);
      const decays = steps.decays(gates);
      const { first, second } = steps.scores(k, q, k, decays, { SLOPES: 0, SIDE: 0 });
      const inverse = steps.inverse(first);
      steps.lower(inverse, v, decays, errors, { BY_KEY: 0, WEIGHT: 0, TRANSPOSED: 0 });
      const known = steps.allocate(tokens, valueHeads, keySize);
      steps.lower(inverse, k, decays, known, { BY_KEY: 1, WEIGHT: 1, TRANSPOSED: 0 });
      const borders = steps.states();
      const walked = [k, decays, sequences, errors, borders, known, ...(state === undefined ? [] : [state])];
      const letters = `rrrwwr${state === undefined ? "" : "w"}`;
      const work = 4 * steps.pairs * keySize * valueSize;
      const kind = { UNKNOWN: 1, STATE: walked.length - 6 };
      steps.run("chunk_walk", letters, walked, sizes.sequences * valueHeads, work, kind);
      const outputs = [q, second, steps.table, decays, errors, borders, o];
      const each = (valueHeads * (CHUNK / 4) * valueSize) / 4;
      steps.threads(
        "chunk_outputs",
        "rrrrrrw",
        outputs,
        each,
        steps.pairs * valueSize * (2 * keySize + CHUNK),
      );
      steps.end();
      return { o, errors };
    },

    deltaRuleBackward(dout, q, k, v, gates, sequences, o, errors) {
      const sizes = checkDeltaRuleBackward(dout, q, k, v, gates, sequences, o, errors);
      const { tokens, valueHeads, keySize, valueSize } = sizes;
      const dv = memory.allocate(v.shape, "f32");
      const dgates = memory.allocate(gates.shape, "f32");
      const steps = begin(sizes, sequences);
      const { pairs, table } = steps;
      const walks = sizes.sequences * valueHeads;
      const decays = steps.decays(gates);
      const { first, second } = steps.scores(k, q, k, decays, { SLOPES: 0, SIDE: 1 });
      const inverse = steps.inverse(first);
      // Tᵀ Aᵀ Ō, and Tᵀ times the keys.
      const seen = steps.allocate(tokens, valueHeads, valueSize);
      steps.lower(second, dout, decays, seen, { BY_KEY: 0, WEIGHT: 0, TRANSPOSED: 1 });
      steps.lower(inverse, seen, decays, dv, { BY_KEY: 0, WEIGHT: 0, TRANSPOSED: 1 });
      const known = steps.allocate(tokens, valueHeads, keySize);
      steps.lower(inverse, k, decays, known, { BY_KEY: 1, WEIGHT: 2, TRANSPOSED: 1 });
      const [borders, dborders] = [steps.states(), steps.states()];
      const work = 4 * pairs * keySize * valueSize;
      steps.run("chunk_walk", "rrrww", [k, decays, sequences, errors, borders], walks, work);
      const back = [k, q, decays, sequences, dout, known, dv, dborders];
      steps.run("chunk_walk_back", "rrrrrrww", back, walks, 1.5 * work);
      shared.values(sizes, { v, o, dout, gates, errors, dv, dgates });
      const parts = steps.allocate(mostChunks(sizes), valueHeads, keySize);
      const states = [table, borders, dborders, parts];
      steps.threads("chunk_borders", "rrrw", states, valueHeads * keySize, (work * 0.5) / CHUNK);
      steps.threads("chunk_decay_slopes", "rrw", [table, parts, dgates], valueHeads, 4 * pairs);
      const slopes = steps.scores(dv, dout, errors, decays, { SLOPES: 1, SIDE: 0 });
      const both = steps.allocate(tokens, valueHeads, 2, keySize);
      const each = (valueHeads * (CHUNK / 4) * keySize) / 4;
      const near = [q, k, slopes.first, slopes.second, table, both];
      steps.threads("chunk_near", "rrrrrw", near, each, 4 * pairs * CHUNK * keySize);
      const far = [errors, dv, dout, borders, dborders, decays, table, both];
      steps.threads("chunk_far", "rrrrrrrw", far, each, 1.5 * work);
      const [dq, dk] = shared.sumHeads(sizes, both, q);
      steps.end();
      return { dq, dk, dv, dgates };
    },
  };
}
