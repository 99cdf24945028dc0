import type { Backend } from "./backend.ts";
import { mixerType } from "./config.ts";
import { joinRows, rowNumbers } from "./device-rows.ts";
import type { Reach } from "./packed-rows.ts";
import { convolutionChannels, type Qwen3_5Config } from "./qwen3-5-config.ts";
import { convolutionRows } from "./recurrent-plan.ts";
import type { Tensor } from "./tensor.ts";

type LinearReach = Pick<Reach, "convolve" | "recur">;

/** Number of a slot; null: a sequence that has not begun. */
export type Begin = number | null;

/** A sequence of a step, by its place there, and the slot of its state. */
export interface Held<S extends Begin = number> {
  sequence: number;
  slot: S;
}

/** Tokens of one sequence that go through the model together, from the state in one slot to that in another or the same. */
export interface SlotSegment {
  begin: Begin;
  to: number;
  count: number;
}

/** What a linear layer has for each slot, and after the last for a sequence that has not begun. */
interface SlotLayer {
  /** [slots + 1, N, dk, dv] */
  states: Tensor;
  /** The last inputs of the convolution, [(slots + 1) · (K−1), C]. */
  inputs: Tensor;
}

/** The states that Gated DeltaNet layers hold after some tokens of a sequence, one per slot. */
export class RecurrentSlots {
  readonly #layers = new Map<number, SlotLayer>();

  constructor(
    private readonly backend: Backend,
    private readonly config: Qwen3_5Config,
    readonly slots: number,
  ) {
    const { valueHeads, keySize, valueSize, kernel } = config.deltaNet;
    backend.scope((keep) => {
      for (const layer of linearLayers(config))
        this.#layers.set(layer, {
          states: keep(backend.zeros([slots + 1, valueHeads, keySize, valueSize])),
          inputs: keep(backend.zeros([(slots + 1) * (kernel - 1), convolutionChannels(config.deltaNet)])),
        });
    });
  }

  /** How segments go through a layer; no two of them end in one slot. */
  reach(segments: readonly SlotSegment[]): (layer: number) => LinearReach {
    const { backend } = this;
    const vector = (values: readonly number[]) => rowNumbers(backend, values);
    const before = this.config.deltaNet.kernel - 1;
    const tokens = segments.reduce((sum, { count }) => sum + count, 0);
    const offsets = [0];
    const sequences = segments.map(({ begin, count }) => {
      const first = offsets.at(-1)!;
      offsets.push(first + count);
      const held = this.#inputRows(begin).map((row) => tokens + row);
      return { before: held, first, end: first + count };
    });
    const conv = convolutionRows(sequences);
    const last = sequences.flatMap(({ first, end, before: held }) => {
      const all = [...held, ...Array.from({ length: end - first }, (_, i) => first + i)];
      return all.slice(all.length - before);
    });
    const [rows, start, back, lastInputs] = [conv.rows, conv.start, conv.back, last].map(vector) as [
      Tensor,
      Tensor,
      Tensor,
      Tensor,
    ];
    const begin = vector(segments.map(({ begin }) => begin ?? this.slots));
    const ends = vector(segments.map(({ to }) => to));
    const inputRows = vector(segments.flatMap(({ to }) => this.#inputRows(to)));
    const starts = vector(offsets);
    return (layer) => {
      const { states, inputs } = this.#layers.get(layer)!;
      return {
        convolve: (x, w) => {
          const all = joinRows(backend, [x, inputs]);
          backend.putRows(inputs, inputRows, backend.gatherRows(all, lastInputs));
          return backend.gatherRows(backend.causalConv(backend.gatherRows(all, rows), w, start), back);
        },
        recur: (q, k, v, gates) => {
          const state = backend.gatherRows(states, begin);
          const found = backend.deltaRule(q, k, v, gates, starts, state);
          backend.putRows(states, ends, state);
          return found;
        },
      };
    };
  }

  /** Tensors of `count` sequences that advance one token at a time. */
  step(count: number): RecurrentStep {
    return new RecurrentStep(this.backend, this.config, count);
  }

  /** Puts what slots hold into a step's sequences, all of them in order. */
  load(step: RecurrentStep, held: readonly Held<Begin>[]): void {
    this.#exchange(step, held, ({ states, inputs }, rows, { state, window }) => {
      this.backend.copyRows(state, 0, this.backend.gatherRows(states, rows.slots));
      this.backend.putRows(window, rows.window, this.backend.gatherRows(inputs, rows.inputs));
    });
  }

  /** Puts what sequences of a step hold into slots. */
  store(step: RecurrentStep, held: readonly Held[]): void {
    if (held.length === 0) return;
    this.#exchange(step, held, ({ states, inputs }, rows, { state, window }) => {
      this.backend.putRows(states, rows.slots, this.backend.gatherRows(state, rows.sequences));
      this.backend.putRows(inputs, rows.inputs, this.backend.gatherRows(window, rows.window));
    });
  }

  #exchange(
    step: RecurrentStep,
    pairs: readonly Held<Begin>[],
    move: (
      held: SlotLayer,
      rows: Readonly<Record<"slots" | "inputs" | "sequences" | "window", Tensor>>,
      moving: StepLayer,
    ) => void,
  ): void {
    const { backend } = this;
    const vector = (values: readonly number[]) => rowNumbers(backend, values);
    backend.scope(() => {
      const rows = {
        slots: vector(pairs.map(({ slot }) => slot ?? this.slots)),
        inputs: vector(pairs.flatMap(({ slot }) => this.#inputRows(slot))),
        sequences: vector(pairs.map(({ sequence }) => sequence)),
        window: vector(pairs.flatMap(({ sequence }) => step.heldRows(sequence))),
      };
      for (const [layer, held] of this.#layers)
        backend.scope(() => move(held, rows, step.layers.get(layer)!));
    });
  }

  #inputRows(slot: Begin): number[] {
    const before = this.config.deltaNet.kernel - 1;
    return Array.from({ length: before }, (_, i) => (slot ?? this.slots) * before + i);
  }

  dispose(): void {
    for (const { states, inputs } of this.#layers.values()) this.backend.free(states, inputs);
    this.#layers.clear();
  }
}

/** What a linear layer has of M sequences that advance together. */
interface StepLayer {
  /** [M,N,dk,dv] */
  state: Tensor;
  /** The last K − 1 inputs of the convolution and the present one, [M·K, C]. */
  window: Tensor;
}

/** The states of M sequences in the order in which they advance. A step takes nothing from the host. */
export class RecurrentStep {
  readonly layers = new Map<number, StepLayer>();
  readonly #kernel: number;
  readonly #rows: Readonly<Record<"sequences" | "start" | "present" | "held" | "following", Tensor>>;

  constructor(
    private readonly backend: Backend,
    config: Qwen3_5Config,
    count: number,
  ) {
    const { valueHeads, keySize, valueSize, kernel } = config.deltaNet;
    this.#kernel = kernel;
    const vector = (values: readonly number[]) => rowNumbers(backend, values);
    const sequences = Array.from({ length: count }, (_, m) => m);
    const held = sequences.flatMap((m) => this.heldRows(m));
    this.#rows = {
      sequences: vector([...sequences, count]),
      start: vector(sequences.flatMap((m) => new Array<number>(kernel).fill(m * kernel))),
      present: vector(sequences.map((m) => (m + 1) * kernel - 1)),
      held: vector(held),
      following: vector(held.map((row) => row + 1)),
    };
    for (const layer of linearLayers(config))
      this.layers.set(layer, {
        state: backend.zeros([count, valueHeads, keySize, valueSize]),
        window: backend.zeros([count * kernel, convolutionChannels(config.deltaNet)]),
      });
  }

  /** Rows of the window that hold the inputs before sequence m's present one. */
  heldRows(m: number): number[] {
    return Array.from({ length: this.#kernel - 1 }, (_, i) => m * this.#kernel + i);
  }

  /** How a token of each sequence goes through a layer. */
  reach(layer: number): LinearReach {
    const { backend } = this;
    const { state, window } = this.layers.get(layer)!;
    const { sequences, start, present, held, following } = this.#rows;
    return {
      convolve: (x, w) => {
        backend.putRows(window, present, x);
        const y = backend.gatherRows(backend.causalConv(window, w, start), present);
        backend.putRows(window, held, backend.gatherRows(window, following));
        return y;
      },
      recur: (q, k, v, gates) => backend.deltaRule(q, k, v, gates, sequences, state),
    };
  }

  dispose(): void {
    this.backend.free(...Object.values<Tensor>(this.#rows));
    for (const { state, window } of this.layers.values()) this.backend.free(state, window);
  }
}

/** Bytes of a state of one layer. */
export function stateBytes({ deltaNet: { valueHeads, keySize, valueSize } }: Qwen3_5Config): number {
  return 4 * valueHeads * keySize * valueSize;
}

/** Bytes of one slot, about as many as of one sequence of a step. */
export function slotBytes(config: Qwen3_5Config): number {
  const { deltaNet } = config;
  const inputs = 4 * deltaNet.kernel * convolutionChannels(deltaNet);
  return linearLayers(config).length * (stateBytes(config) + inputs);
}

function linearLayers(config: Qwen3_5Config): number[] {
  return Array.from({ length: config.layers }, (_, layer) => layer).filter(
    (layer) => mixerType(config, layer) === "linear_attention",
  );
}
