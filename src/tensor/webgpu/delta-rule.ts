import type { Backend } from "../backend.ts";
import { checkDeltaRule, checkDeltaRuleBackward, type DeltaRuleSizes } from "../delta-shapes.ts";
import type { Context } from "./context.ts";
import { CHUNK, chunkStateBytes, deltaChunkOperations, type SharedSteps } from "./delta-chunks.ts";
import source from "./delta-rule.wgsl?raw";
import type { GpuTensor } from "./memory.ts";

/** Sequences that are this long on average go by chunks: shorter ones leave little of a chunk. */
const LONG = 2 * CHUNK;

/** How the rule is computed: token by token, or by chunks, which wait for each other but not inside. */
export type DeltaForm = "tokens" | "chunks";

/**
 * The gated delta rule in the form that suits: chunks for long sequences on a GPU, which tokens one after the other leave
 * idle; token by token on a software adapter, in decoding, and where the states at the chunks' borders are too large to
 * bind. `form` settles it for tests and measurements.
 */
export function deltaRuleOperations(
  context: Context,
  form?: DeltaForm,
): Pick<Backend<GpuTensor>, "deltaRule" | "deltaRuleBackward"> {
  const { memory, commands, software, bindingLimit } = context;
  // Few threads in all, each with a long way to go: small workgroups spread over the cores.
  const group = software ? 16 : 32;

  function run(
    entry: string,
    letters: string,
    buffers: GpuTensor[],
    sizes: DeltaRuleSizes,
    threads: number,
    work: number,
    { state = 0, which = 0 } = {},
  ): void {
    const { sequences, keyHeads, valueHeads, tokens, keySize, valueSize } = sizes;
    const constants = {
      GROUP: group,
      DK: keySize,
      DV: valueSize,
      DK4: keySize / 4,
      DV4: valueSize / 4,
      STATE: state,
      CHUNK,
    };
    commands.dispatch({
      kernel: { source, entry, buffers: letters, constants },
      buffers,
      groups: Math.ceil(threads / group),
      uints: [sequences, keyHeads, valueHeads, tokens, which],
      work,
    });
  }

  function values(sizes: DeltaRuleSizes, of: Parameters<SharedSteps["values"]>[1]): void {
    const { v, o, dout, gates, errors, dv, dgates } = of;
    const pairs = sizes.tokens * sizes.valueHeads;
    const buffers = [v, o, dout, gates, errors, dv, dgates];
    run("delta_values", "rrrrrww", buffers, sizes, pairs, 8 * pairs * sizes.valueSize);
  }

  function sumHeads(sizes: DeltaRuleSizes, byValueHead: GpuTensor, q: GpuTensor): [GpuTensor, GpuTensor] {
    const { tokens, keyHeads, valueHeads, keySize } = sizes;
    const sum = (which: number): GpuTensor => {
      const y = memory.allocate(q.shape, "f32");
      const threads = (tokens * keyHeads * keySize) / 4;
      const work = tokens * valueHeads * keySize;
      run("sum_value_heads", "rw", [byValueHead, y], sizes, threads, work, { which });
      return y;
    };
    return [sum(0), sum(1)];
  }

  const chunks = deltaChunkOperations(context, { values, sumHeads });
  const byChunks = (sizes: DeltaRuleSizes): boolean => {
    if (chunkStateBytes(sizes) > bindingLimit) return false;
    if (form !== undefined) return form === "chunks";
    return !software && sizes.tokens >= LONG * sizes.sequences;
  };

  return {
    deltaRule(q, k, v, gates, sequences, state) {
      const sizes = checkDeltaRule("deltaRule", q, k, v, gates, sequences, state);
      checkSizes(sizes, sequences);
      if (byChunks(sizes)) return chunks.deltaRule(q, k, v, gates, sequences, state);
      const o = memory.allocate(v.shape, "f32");
      const errors = memory.allocate(v.shape, "f32");
      const buffers = [q, k, v, gates, sequences, o, errors, ...(state === undefined ? [] : [state])];
      const letters = `rrrrrww${state === undefined ? "" : "w"}`;
      const threads = sizes.sequences * sizes.valueHeads * sizes.valueSize;
      run("delta_forward", letters, buffers, sizes, threads, stateWork(sizes), {
        state: buffers.length - 7,
      });
      return { o, errors };
    },

    deltaRuleBackward(dout, q, k, v, gates, sequences, o, errors) {
      const sizes = checkDeltaRuleBackward(dout, q, k, v, gates, sequences, o, errors);
      checkSizes(sizes, sequences);
      if (byChunks(sizes)) return chunks.deltaRuleBackward(dout, q, k, v, gates, sequences, o, errors);
      const { tokens, valueHeads, keySize, valueSize } = sizes;
      const work = stateWork(sizes);
      const pairs = tokens * valueHeads;
      const chains = sizes.sequences * valueHeads;
      const dv = memory.allocate(v.shape, "f32");
      const dgates = memory.allocate(gates.shape, "f32");
      const columns = [q, k, dout, gates, sequences, dv];
      run("delta_step_gradients", "rrrrrw", columns, sizes, chains * valueSize, work);
      values(sizes, { v, o, dout, gates, errors, dv, dgates });

      // dq and dk of every value head, a state every CHUNK rows, and its product with the gradient, by rows.
      const slots = Math.ceil(tokens / CHUNK);
      const length = 2 * pairs * keySize + slots * valueHeads * keySize * (valueSize + 1);
      const scratch = memory.allocate([length], "f32");
      const rows = [k, dv, dout, gates, sequences, errors, scratch];
      run("delta_rows_forward", "rrrrrrw", rows, sizes, chains * keySize, work);
      const back = [q, dv, dout, gates, sequences, errors, scratch, k];
      run("delta_rows_backward", "rrrrrrwr", back, sizes, chains * keySize, work);
      run("delta_decays", "rrw", [sequences, scratch, dgates], sizes, chains, 4 * pairs);
      const [dq, dk] = sumHeads(sizes, scratch, q);
      memory.free(scratch);
      return { dq, dk, dv, dgates };
    },
  };
}

/** Operations of one walk over the tokens with a state. */
function stateWork({ tokens, valueHeads, keySize, valueSize }: DeltaRuleSizes): number {
  return 7 * tokens * valueHeads * keySize * valueSize;
}

function checkSizes({ tokens, keySize, valueSize }: DeltaRuleSizes, sequences: GpuTensor): void {
  for (const size of [keySize, valueSize])
    if (size % 4 !== 0 || size === 0) throw new Error(`deltaRule: head size ${size} is not a multiple of 4`);
  if (sequences.largest !== tokens)
    throw new Error(`deltaRule: the sequences end at ${sequences.largest} of ${tokens} rows`);
}
