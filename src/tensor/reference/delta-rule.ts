import type { Backend } from "../backend.ts";
import {
  checkDeltaRule,
  checkDeltaRuleBackward,
  checkDeltaStates,
  type DeltaRuleSizes,
} from "../delta-shapes.ts";
import type { HostMemory, HostTensor } from "./memory.ts";

/** Tokens between the states that the backward pass keeps; those between them are computed again. */
const CHUNK = 64;

export function deltaRuleOperations(
  memory: HostMemory,
): Pick<Backend<HostTensor>, "deltaRule" | "deltaStates" | "deltaRuleBackward"> {
  return {
    deltaRule(q, k, v, gates, sequences, state) {
      const sizes = checkDeltaRule("deltaRule", q, k, v, gates, sequences, state);
      const o = memory.zeros(v.shape);
      const errors = memory.zeros(v.shape);
      const { keySize: dk, valueSize: dv } = sizes;
      for (const { sequence, head, from, end } of chains(sizes, sequences.u32)) {
        const stateAt = (sequence * sizes.valueHeads + head) * dk * dv;
        const s = new Float64Array(dk * dv);
        if (state !== undefined) s.set(state.f32.subarray(stateAt, stateAt + dk * dv));
        const error = new Float64Array(dv);
        for (let t = from; t < end; t++) {
          const at = places(sizes, t, head);
          decay(s, Math.exp(gates.f32[at.gate]!));
          for (let j = 0; j < dv; j++) error[j] = v.f32[at.value + j]!;
          for (let i = 0; i < dk; i++) {
            const key = k.f32[at.key + i]!;
            for (let j = 0; j < dv; j++) error[j]! -= s[i * dv + j]! * key;
          }
          const beta = gates.f32[at.gate + 1]!;
          const out = new Float64Array(dv);
          for (let i = 0; i < dk; i++) {
            const [key, query] = [k.f32[at.key + i]!, q.f32[at.key + i]!];
            for (let j = 0; j < dv; j++) {
              const value = s[i * dv + j]! + key * beta * error[j]!;
              s[i * dv + j] = value;
              out[j]! += value * query;
            }
          }
          o.f32.set(out, at.value);
          errors.f32.set(error, at.value);
        }
        state?.f32.set(s, stateAt);
      }
      return { o, errors };
    },

    deltaStates(k, gates, errors, spans) {
      const sizes = checkDeltaStates(k, gates, errors, spans);
      const { states, valueHeads, keySize: dk, valueSize: dv } = sizes;
      const all = memory.zeros([states, valueHeads, dk, dv]);
      for (let p = 0; p < states; p++) {
        const [first, end] = [spans.u32[2 * p]!, spans.u32[2 * p + 1]!];
        if (end > sizes.tokens) throw new Error(`deltaStates: row ${end} of ${sizes.tokens}`);
        for (let head = 0; head < valueHeads; head++) {
          const s = new Float64Array(dk * dv);
          for (let t = first; t < end; t++) advance(s, sizes, { k, gates, errors }, t, head);
          all.f32.set(s, (p * valueHeads + head) * dk * dv);
        }
      }
      return all;
    },

    // Backwards in time with dS, the gradient of S_t; δ = β error, S̃ = α S_{t−1}, α = exp(g):
    //   dS += q doᵀ,  dq = S_t do,  dδ = dSᵀ k,  dv = β dδ,  dβ = dδ·error,  dk = dS δ − S̃ dv,
    //   dS̃ = dS − k dvᵀ,  dg = ⟨dS̃, S̃⟩,  dS_{t−1} = α dS̃.
    deltaRuleBackward(dout, q, k, v, gates, sequences, o, errors) {
      const sizes = checkDeltaRuleBackward(dout, q, k, v, gates, sequences, o, errors);
      const { keySize: dk, valueSize: dv } = sizes;
      const dq = memory.zeros(q.shape);
      const dkeys = memory.zeros(k.shape);
      const dvalues = memory.zeros(v.shape);
      const dgates = memory.zeros(gates.shape);
      for (const { head, from, end } of chains(sizes, sequences.u32)) {
        const next = (s: Float64Array, t: number) => advance(s, sizes, { k, gates, errors }, t, head);
        const borders: Float64Array[] = [];
        const s = new Float64Array(dk * dv);
        for (let t = from; t < end; t++) {
          if ((t - from) % CHUNK === 0) borders.push(s.slice());
          next(s, t);
        }
        const ds = new Float64Array(dk * dv);
        for (let chunk = borders.length - 1; chunk >= 0; chunk--) {
          const first = from + chunk * CHUNK;
          const last = Math.min(first + CHUNK, end);
          // before[t − first] is S_{t−1}
          const before = [borders[chunk]!];
          for (let t = first; t < last; t++) {
            const after = before[t - first]!.slice();
            next(after, t);
            before.push(after);
          }
          for (let t = last - 1; t >= first; t--) {
            const at = places(sizes, t, head);
            const [earlier, state] = [before[t - first]!, before[t - first + 1]!];
            const [alpha, beta] = [Math.exp(gates.f32[at.gate]!), gates.f32[at.gate + 1]!];
            const ddelta = new Float64Array(dv);
            for (let i = 0; i < dk; i++) {
              const [key, query] = [k.f32[at.key + i]!, q.f32[at.key + i]!];
              let slope = 0;
              for (let j = 0; j < dv; j++) {
                const d = dout.f32[at.value + j]!;
                slope += state[i * dv + j]! * d;
                const value = ds[i * dv + j]! + query * d;
                ds[i * dv + j] = value;
                ddelta[j]! += value * key;
              }
              dq.f32[at.key + i]! += slope;
            }
            let dbeta = 0;
            for (let j = 0; j < dv; j++) {
              dbeta += ddelta[j]! * errors.f32[at.value + j]!;
              dvalues.f32[at.value + j] = beta * ddelta[j]!;
            }
            let dg = 0;
            for (let i = 0; i < dk; i++) {
              const key = k.f32[at.key + i]!;
              let slope = 0;
              for (let j = 0; j < dv; j++) {
                const kept = alpha * earlier[i * dv + j]!;
                const dvalue = beta * ddelta[j]!;
                const value = ds[i * dv + j]!;
                slope += value * beta * errors.f32[at.value + j]! - kept * dvalue;
                const through = value - key * dvalue;
                dg += through * kept;
                ds[i * dv + j] = alpha * through;
              }
              dkeys.f32[at.key + i]! += slope;
            }
            dgates.f32[at.gate] = dg;
            dgates.f32[at.gate + 1] = dbeta;
          }
        }
      }
      return { dq, dk: dkeys, dv: dvalues, dgates };
    },
  };
}

type HeadSizes = Omit<DeltaRuleSizes, "sequences">;

/** S_t of a value head from S_{t−1}, in place, by what the rule found to be the error. */
function advance(
  s: Float64Array,
  sizes: HeadSizes,
  { k, gates, errors }: Readonly<Record<"k" | "gates" | "errors", HostTensor>>,
  t: number,
  head: number,
): void {
  const { keySize: dk, valueSize: dv } = sizes;
  const at = places(sizes, t, head);
  decay(s, Math.exp(gates.f32[at.gate]!));
  const beta = gates.f32[at.gate + 1]!;
  for (let i = 0; i < dk; i++) {
    const step = beta * k.f32[at.key + i]!;
    for (let j = 0; j < dv; j++) s[i * dv + j]! += step * errors.f32[at.value + j]!;
  }
}

/** One value head of one sequence: its states follow each other. */
function* chains(
  { tokens, sequences: count, valueHeads }: DeltaRuleSizes,
  sequences: Uint32Array,
): Generator<{ sequence: number; head: number; from: number; end: number }> {
  if (sequences.at(-1) !== tokens)
    throw new Error(`deltaRule: the sequences end at ${sequences.at(-1)} of ${tokens} rows`);
  for (let sequence = 0; sequence < count; sequence++)
    for (let head = 0; head < valueHeads; head++)
      yield { sequence, head, from: sequences[sequence]!, end: sequences[sequence + 1]! };
}

/** Where the vectors of a token and value head begin. */
function places(
  { keyHeads, valueHeads, keySize, valueSize }: HeadSizes,
  t: number,
  head: number,
): { key: number; value: number; gate: number } {
  const keyHead = Math.floor((head * keyHeads) / valueHeads);
  const row = t * valueHeads + head;
  return { key: (t * keyHeads + keyHead) * keySize, value: row * valueSize, gate: 2 * row };
}

function decay(s: Float64Array, alpha: number): void {
  for (let i = 0; i < s.length; i++) s[i] = s[i]! * alpha;
}
