import type { Backend } from "./backend.ts";
import { joinRows, rowNumbers } from "./device-rows.ts";
import type { Reach } from "./packed-rows.ts";
import type { Pack } from "./packing.ts";
import type { LayerPrefix } from "./prefix-store.ts";
import { planRecurrence, type RecurrencePlan, type RowsApart } from "./recurrent-plan.ts";
import type { Tensor } from "./tensor.ts";

type LinearPrefix = Extract<LayerPrefix, { type: "linear_attention" }>;

/** Row numbers on the device; null: all rows in their order. */
type Rows = Tensor | null;

/** Some rows of a pack as sequences of their own: `RowsApart` on the device. */
interface Part {
  rows: Rows;
  sequences: Tensor;
}

/** How the rows of a pack with shared prefixes reach those before them in linear layers; see `planRecurrence`. */
export class RecurrentReach {
  readonly plan: RecurrencePlan;
  readonly #whole: Part | null;
  readonly #branches: Part | null;
  /** u32 [P,2] */
  readonly #points: Tensor | null;
  /** u32 [branches] */
  readonly #begin: Tensor | null;
  readonly #keptPoints: Tensor | null;
  readonly #back: Rows;
  readonly #conv: { rows: Tensor; start: Tensor; back: Tensor; kept: Tensor | null };

  /** @param before K − 1 of the convolution */
  constructor(
    private readonly backend: Backend,
    pack: Pack,
    before: number,
  ) {
    const plan = planRecurrence(pack, before);
    this.plan = plan;
    const vector = (values: readonly number[]) => rowNumbers(backend, values);
    const some = (values: readonly number[]) => (values.length === 0 ? null : vector(values));
    const rows = (values: readonly number[]): Rows =>
      values.length === pack.ids.length && values.every((row, i) => row === i) ? null : vector(values);
    const part = (apart: RowsApart): Part | null => {
      const none = apart.offsets.length === 1;
      return none ? null : { rows: rows(apart.rows), sequences: vector(apart.offsets) };
    };
    this.#whole = part(plan.whole);
    this.#branches = part(plan.branches);
    const points = plan.points.flatMap(({ first, end }) => [first, end]);
    this.#points =
      points.length === 0 ? null : backend.fromArray(Uint32Array.from(points), [points.length / 2, 2]);
    this.#begin = some(plan.begin);
    this.#keptPoints = some(plan.keptPoints);
    this.#back = rows(plan.back);
    const { conv } = plan;
    this.#conv = {
      rows: vector(conv.rows),
      start: vector(conv.start),
      back: vector(conv.back),
      kept: some(conv.kept),
    };
  }

  /** What the layers take row numbers from, for whoever keeps this beyond a scope. */
  get tensors(): Tensor[] {
    const parts = [this.#whole, this.#branches].flatMap((part) => [part?.rows, part?.sequences]);
    const { rows, start, back, kept } = this.#conv;
    const all = [...parts, this.#points, this.#begin, this.#keptPoints, this.#back, rows, start, back, kept];
    return all.filter((t) => t !== null && t !== undefined);
  }

  /** The way of one layer. `stored`: what the layer left of the prefix that the pack takes from elsewhere. */
  layer(stored: LinearPrefix | null): {
    reach: Pick<Reach, "convolve" | "recur">;
    /** What the layer leaves of the prefix that the pack is to keep, once it has been computed. */
    kept: () => LinearPrefix;
  } {
    let keptInputs: Tensor | undefined;
    let keptStates: Tensor | undefined;
    return {
      reach: {
        convolve: (x, w) => {
          const { y, inputs } = this.#convolve(x, w, stored);
          keptInputs = inputs;
          return y;
        },
        recur: (q, k, v, gates) => {
          const found = this.backend.scope((keep) => {
            const found = this.#recur(q, k, v, gates, stored);
            for (const t of Object.values<Tensor>({ ...found })) keep(t);
            return found;
          });
          if (this.#keptPoints !== null)
            keptStates = this.backend.gatherRows(found.branchStates!, this.#keptPoints);
          return found;
        },
      },
      kept: () => {
        if (keptInputs === undefined || keptStates === undefined)
          throw new Error("nothing of this layer is to be kept, or it was not computed");
        return { type: "linear_attention", states: keptStates, inputs: keptInputs };
      },
    };
  }

  #convolve(x: Tensor, w: Tensor, stored: LinearPrefix | null): { y: Tensor; inputs: Tensor | undefined } {
    const { backend } = this;
    const { rows, start, back, kept } = this.#conv;
    return backend.scope((keep) => {
      const zeros = backend.zeros([1, x.shape[1]!]);
      const all = joinRows(backend, stored === null ? [x, zeros] : [x, stored.inputs, zeros]);
      const y = keep(backend.gatherRows(backend.causalConv(backend.gatherRows(all, rows), w, start), back));
      return { y, inputs: kept === null ? undefined : keep(backend.gatherRows(all, kept)) };
    });
  }

  #recur(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    gates: Tensor,
    stored: LinearPrefix | null,
  ): ReturnType<Reach["recur"]> {
    const { backend } = this;
    const [, , keySize = 0] = q.shape;
    const [, valueHeads = 0, valueSize = 0] = v.shape;
    const outputs: Tensor[] = [];
    const errors: Tensor[] = [];
    const states: Tensor[] = [];
    const flat = (t: Tensor) => backend.reshape(t, [t.shape[0]!, valueHeads * keySize * valueSize]);
    const rule = ({ rows, sequences }: Part, state?: Tensor) => {
      const [partQ, partK, partV, partGates] = this.#pick(rows, [q, k, v, gates]);
      const result = backend.deltaRule(partQ, partK, partV, partGates, sequences, state);
      outputs.push(result.o);
      errors.push(result.errors);
      return { k: partK, gates: partGates, errors: result.errors };
    };
    if (this.#whole !== null) {
      const done = rule(this.#whole);
      if (this.#points !== null)
        states.push(flat(backend.deltaStates(done.k, done.gates, done.errors, this.#points)));
    }
    const branchStates = states[0];
    if (stored !== null) states.push(stored.states);
    if (this.#branches !== null) {
      const begin = backend.gatherRows(joinRows(backend, states), this.#begin!);
      rule(this.#branches, backend.reshape(begin, [begin.shape[0]!, valueHeads, keySize, valueSize]));
    }
    const together = (parts: readonly Tensor[]) => {
      const all = joinRows(backend, parts);
      return this.#pick(this.#back, [all])[0];
    };
    return {
      o: together(outputs),
      errors: together(errors),
      ...(branchStates && { branchStates }),
    };
  }

  /** The given rows of tensors [T, heads, size]; null: all. */
  #pick<const L extends readonly Tensor[]>(rows: Rows, tensors: L): { [K in keyof L]: Tensor };
  #pick(rows: Rows, tensors: readonly Tensor[]): readonly Tensor[] {
    return rows === null ? tensors : tensors.map((t) => this.backend.gatherRows(t, rows));
  }
}
