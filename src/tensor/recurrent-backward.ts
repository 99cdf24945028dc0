import type { Backend } from "./backend.ts";
import { joinRows, rowNumbers } from "./device-rows.ts";
import type { LinearBackward, RuleRows } from "./packed-rows.ts";
import type { Pack } from "./packing.ts";
import type { DeltaNetSizes } from "./qwen3-5-config.ts";
import { type BackwardRows, planRecurrenceBackward, type RecurrencePlan } from "./recurrent-plan.ts";
import type { Tensor } from "./tensor.ts";

/** `BackwardRows` on the device. */
type Part = Readonly<Record<keyof BackwardRows, Tensor>>;

/** The gradients of what `RecurrentReach` reaches, for packs whose trunks are all their own; see `planRecurrenceBackward`. */
export class RecurrentBackward implements LinearBackward {
  readonly #parts: { branches: Part; whole: Part };
  readonly #written: Tensor;
  readonly #read: Uint32Array;
  readonly #back: Tensor;
  /** Row of a state's [N,dk,dv] for each of its rows [dk,N,dv]. */
  readonly #stateRows: Tensor;
  /** The identity of each key head and then zeros, [dk+1, G, dk]. */
  readonly #unit: Tensor;
  /** g and β of a row that reads a state, and of one that writes it, [2,N,2]. */
  readonly #gates: Tensor;
  readonly #conv: { rows: Tensor; start: Tensor; end: Tensor; back: Tensor; again: Tensor };
  /** Rows of the pack that the convolution sees once more before branches; `again` has their places there. */
  readonly #seenAgain: Uint32Array;

  constructor(
    private readonly backend: Backend,
    pack: Pack,
    plan: RecurrencePlan,
    private readonly sizes: DeltaNetSizes,
  ) {
    const { keyHeads, valueHeads, keySize } = sizes;
    const vector = (values: readonly number[]) => rowNumbers(backend, values);
    const part = (rows: BackwardRows): Part => ({
      ...{ q: vector(rows.q), k: vector(rows.k), v: vector(rows.v), o: vector(rows.o) },
      ...{ dout: vector(rows.dout), gates: vector(rows.gates), offsets: vector(rows.offsets) },
    });
    const way = planRecurrenceBackward(pack, plan, keySize);
    this.#parts = { branches: part(way.branches), whole: part(way.whole) };
    this.#written = vector(way.written);
    this.#read = Uint32Array.from(way.read);
    this.#back = vector(way.back);
    const heads = plan.points.length * valueHeads;
    this.#stateRows = vector(
      Array.from({ length: heads * keySize }, (_, n) => {
        const [head, row] = [n % valueHeads, Math.floor(n / valueHeads)];
        const [i, point] = [row % keySize, Math.floor(row / keySize)];
        return (point * valueHeads + head) * keySize + i;
      }),
    );
    const unit = new Float32Array((keySize + 1) * keyHeads * keySize);
    for (let i = 0; i < keySize; i++)
      for (let head = 0; head < keyHeads; head++) unit[(i * keyHeads + head) * keySize + i] = 1;
    this.#unit = backend.fromArray(unit, [keySize + 1, keyHeads, keySize]);
    const gates = new Float32Array(2 * valueHeads * 2);
    for (let head = 0; head < valueHeads; head++) gates[2 * (valueHeads + head) + 1] = 1;
    this.#gates = backend.fromArray(gates, [2, valueHeads, 2]);
    const { conv } = plan;
    const own = new Set(conv.back);
    const again = conv.rows.flatMap((row, place) =>
      own.has(place) || row >= pack.ids.length ? [] : [place],
    );
    this.#seenAgain = Uint32Array.from(again, (place) => conv.rows[place]!);
    const { rows, start, end, back } = conv;
    this.#conv = {
      ...{ rows: vector(rows), start: vector(start), end: vector(end), back: vector(back) },
      again: vector(again),
    };
  }

  /** What the layers take row numbers and constants from, for whoever keeps this beyond a scope. */
  get tensors(): Tensor[] {
    const parts = [this.#parts.branches, this.#parts.whole, this.#conv].flatMap((part) =>
      Object.values<Tensor>(part),
    );
    return [...parts, this.#written, this.#back, this.#stateRows, this.#unit, this.#gates];
  }

  convolve(dw: Tensor, dy: Tensor, x: Tensor, w: Tensor): Tensor {
    const { backend } = this;
    const { rows, start, end, back, again } = this.#conv;
    return backend.scope((keep) => {
      const inputs = backend.gatherRows(joinRows(backend, [x, backend.zeros([1, x.shape[1]!])]), rows);
      const slopes = backend.scatterRows(dy, back, rows.shape[0]!);
      const dinputs = backend.causalConvBackward(dw, slopes, inputs, w, start, end);
      const dx = keep(backend.gatherRows(dinputs, back));
      if (this.#seenAgain.length > 0)
        backend.embeddingBackward(dx, this.#seenAgain, backend.gatherRows(dinputs, again));
      return dx;
    });
  }

  recur(
    dout: Tensor,
    { q, k, v, gates, o, errors, branchStates }: RuleRows,
  ): ReturnType<LinearBackward["recur"]> {
    const { backend } = this;
    const { valueHeads, keySize, valueSize } = this.sizes;
    if (branchStates === undefined) throw new Error("RecurrentBackward: no branch left a sequence");
    return backend.scope((keep) => {
      const points = branchStates.shape[0]!;
      backend.reshape(branchStates, [points * valueHeads * keySize, valueSize]);
      const states = backend.gatherRows(branchStates, this.#stateRows);
      backend.reshape(branchStates, [points, valueHeads * keySize * valueSize]);
      backend.reshape(states, [points * keySize, valueHeads, valueSize]);
      const zeros = backend.zeros([1, valueHeads, valueSize]);
      const pick = (t: Tensor, rows: Tensor) => backend.gatherRows(t, rows);
      /** Rows of both calls out of those of the pack and of some more. */
      const deal = (parts: readonly Tensor[], key: Exclude<keyof BackwardRows, "offsets">) => {
        const all = joinRows(backend, parts);
        const both = {
          branches: pick(all, this.#parts.branches[key]),
          whole: pick(all, this.#parts.whole[key]),
        };
        backend.free(all);
        return both;
      };
      const given = {
        dout: deal([dout, zeros], "dout"),
        q: deal([q, this.#unit], "q"),
        k: deal([k, this.#unit], "k"),
        v: deal([v, states, zeros], "v"),
        gates: deal([gates, this.#gates], "gates"),
        o: deal([o, states, zeros], "o"),
        errors: deal([errors, states, zeros], "v"),
      };
      backend.free(states);
      const rule = (part: "branches" | "whole") => {
        const { dout, q, k, v, gates, o, errors } = given;
        const rows = [dout[part], q[part], k[part], v[part], gates[part]] as const;
        const [outputs, found] = [o[part], errors[part]];
        const slopes = backend.deltaRuleBackward(...rows, this.#parts[part].offsets, outputs, found);
        backend.free(...rows, outputs, found);
        return slopes;
      };
      const branches = rule("branches");
      // What the branches want of the states that they began with is what the whole sequences give.
      const dWhole = given.dout.whole;
      const dStates = pick(branches.dv, this.#written);
      const flat = (t: Tensor) => backend.reshape(t, [t.shape[0]!, valueHeads * valueSize]);
      backend.embeddingBackward(flat(dWhole), this.#read, flat(dStates));
      backend.reshape(dWhole, [dWhole.shape[0]!, valueHeads, valueSize]);
      const whole = rule("whole");
      const together = (a: Tensor, b: Tensor) => {
        const all = joinRows(backend, [a, b]);
        backend.free(a, b);
        const rows = keep(pick(all, this.#back));
        backend.free(all);
        return rows;
      };
      return {
        dq: together(whole.dq, branches.dq),
        dk: together(whole.dk, branches.dk),
        dv: together(whole.dv, branches.dv),
        dgates: together(whole.dgates, branches.dgates),
      };
    });
  }
}
