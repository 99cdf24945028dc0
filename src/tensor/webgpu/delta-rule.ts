import type { Backend } from "../backend.ts";
import { checkDeltaRule, checkDeltaRuleBackward, type DeltaRuleSizes } from "../delta-shapes.ts";
import type { Context } from "./context.ts";
import source from "./delta-rule.wgsl?raw";
import type { GpuTensor } from "./memory.ts";

/** Rows between the states that the backward pass stores. */
const CHUNK = 64;

export function deltaRuleOperations({
  memory,
  commands,
  software,
}: Context): Pick<Backend<GpuTensor>, "deltaRule" | "deltaRuleBackward"> {
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

  return {
    deltaRule(q, k, v, gates, sequences, state) {
      const sizes = checkDeltaRule("deltaRule", q, k, v, gates, sequences, state);
      checkSizes(sizes, sequences);
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
      const { tokens, keyHeads, valueHeads, keySize, valueSize } = sizes;
      const work = stateWork(sizes);
      const pairs = tokens * valueHeads;
      const chains = sizes.sequences * valueHeads;
      const dv = memory.allocate(v.shape, "f32");
      const dgates = memory.allocate(gates.shape, "f32");
      const columns = [q, k, dout, gates, sequences, dv];
      run("delta_step_gradients", "rrrrrw", columns, sizes, chains * valueSize, work);
      const values = [v, o, dout, gates, errors, dv, dgates];
      run("delta_values", "rrrrrww", values, sizes, pairs, 8 * pairs * valueSize);

      // dq and dk of every value head, a state every CHUNK rows, and its product with the gradient, by rows.
      const slots = Math.ceil(tokens / CHUNK);
      const length = 2 * pairs * keySize + slots * valueHeads * keySize * (valueSize + 1);
      const scratch = memory.allocate([length], "f32");
      const rows = [k, dv, dout, gates, sequences, errors, scratch];
      run("delta_rows_forward", "rrrrrrw", rows, sizes, chains * keySize, work);
      const back = [q, dv, dout, gates, sequences, errors, scratch, k];
      run("delta_rows_backward", "rrrrrrwr", back, sizes, chains * keySize, work);
      run("delta_decays", "rrw", [sequences, scratch, dgates], sizes, chains, 4 * pairs);
      const [dq, dk] = [0, 1].map((which) => {
        const y = memory.allocate(q.shape, "f32");
        const threads = (tokens * keyHeads * keySize) / 4;
        run("sum_value_heads", "rw", [scratch, y], sizes, threads, pairs * keySize, { which });
        return y;
      });
      memory.free(scratch);
      return { dq: dq!, dk: dk!, dv, dgates };
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
