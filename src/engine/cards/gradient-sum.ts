/**
 * Sums tensors over all cards, in place, through shared slots. Tensors are cut into pieces, and piece k belongs to card
 * k mod N: it adds the others' parts to its own, always in the order of their numbers, and hands the sum out. So each
 * piece is summed once, in one order, and all cards hold the same bits afterwards. 2(N−1)/N of all bytes leave each
 * card, and as many come in; reading, adding and handing out overlap.
 */
import type { Backend, Tensor } from "../../tensor/index.ts";
import type { Slots } from "./slots.ts";

/** What the cards tell each other. `slot` is the sender's for `part` and `sum`, the receiver's own for `free`. */
export type SumMessage =
  | { kind: "part" | "sum"; piece: number; slot: number }
  | { kind: "free"; slot: number };

/** Pieces that are under way at once, in each direction. */
const AT_ONCE = 3;

interface Piece {
  tensor: Tensor;
  at: number;
  count: number;
}

export interface GradientSumOptions {
  /** This card's number among the N, from 0. */
  rank: number;
  cards: number;
  slots: Slots;
  send: (to: number, message: SumMessage) => void;
}

export class GradientSum {
  readonly #options: GradientSumOptions;
  /** Slots that came, by kind, piece and sender, before or after somebody waits for them. */
  readonly #arrived = new Map<string, number>();
  readonly #waiting = new Map<string, (slot: number) => void>();
  readonly #free: Record<"part" | "sum", FreeSlots>;

  constructor(options: GradientSumOptions) {
    this.#options = options;
    const { perCard } = options.slots.plan;
    const half = perCard / 2;
    this.#free = {
      part: new FreeSlots(0, half, 1),
      // Everybody else reads a sum.
      sum: new FreeSlots(half, perCard, options.cards - 1),
    };
  }

  receive(from: number, message: SumMessage): void {
    if (message.kind === "free") {
      const { part, sum } = this.#free;
      (message.slot < this.#options.slots.plan.perCard / 2 ? part : sum).release(message.slot);
      return;
    }
    const key = `${message.kind} ${message.piece} ${from}`;
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) this.#arrived.set(key, message.slot);
    else {
      this.#waiting.delete(key);
      waiting(message.slot);
    }
  }

  /**
   * Leaves the sum over all cards in `tensors`; each card calls it with tensors of the same shapes in the same order.
   * After an error the values are undefined and this object is of no further use.
   */
  async run(backend: Backend, tensors: readonly Tensor[], signal?: AbortSignal): Promise<void> {
    const { rank, cards, slots } = this.#options;
    if (cards === 1) return;
    signal?.throwIfAborted();
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => {});
    const pieces = cut(tensors, slots.plan.bytes / 4);
    const mine = [...pieces.keys()].filter((k) => k % cards === rank);
    const others = [...pieces.keys()].filter((k) => k % cards !== rank);
    const contribute = async (k: number) => {
      await this.#publish(backend, pieces[k]!, "part", k, [k % cards], aborted);
    };
    const own = async (k: number) => {
      for (let from = 0; from < cards; from++)
        if (from !== rank) await this.#take(backend, pieces[k]!, "part", k, from, aborted);
      const readers = Array.from({ length: cards }, (_, card) => card).filter((card) => card !== rank);
      await this.#publish(backend, pieces[k]!, "sum", k, readers, aborted);
    };
    const adopt = (k: number) => this.#take(backend, pieces[k]!, "sum", k, k % cards, aborted);
    try {
      await Promise.all([inOrder(others, contribute), inOrder(mine, own), inOrder(others, adopt)]);
      // Errors of the device surface here.
      await backend.sync();
    } finally {
      backend.pieces.release();
    }
  }

  /** Puts a piece into a slot of this card and says so to its readers. */
  async #publish(
    backend: Backend,
    { tensor, at, count }: Piece,
    kind: "part" | "sum",
    piece: number,
    readers: readonly number[],
    aborted: Promise<never>,
  ): Promise<void> {
    const { rank, slots, send } = this.#options;
    const slot = await Promise.race([this.#free[kind].take(), aborted]);
    await backend.pieces.read(tensor, at, count, (bytes) => slots.write(rank, slot, bytes));
    for (const reader of readers) send(reader, { kind, piece, slot });
  }

  /** Waits for a piece of another card and adds it to this card's, or takes it over. */
  async #take(
    backend: Backend,
    { tensor, at, count }: Piece,
    kind: "part" | "sum",
    piece: number,
    from: number,
    aborted: Promise<never>,
  ): Promise<void> {
    const slot = await Promise.race([this.#arrival(`${kind} ${piece} ${from}`), aborted]);
    const how = kind === "part" ? "add" : "replace";
    await backend.pieces.write(tensor, at, count, how, (bytes) =>
      this.#options.slots.read(from, slot, bytes),
    );
    this.#options.send(from, { kind: "free", slot });
  }

  #arrival(key: string): Promise<number> {
    const slot = this.#arrived.get(key);
    if (slot !== undefined) {
      this.#arrived.delete(key);
      return Promise.resolve(slot);
    }
    return new Promise((resolve) => this.#waiting.set(key, resolve));
  }
}

/** Slots that may be written: those that every reader is done with. */
class FreeSlots {
  readonly #free: number[];
  readonly #left = new Map<number, number>();
  readonly #waiting: ((slot: number) => void)[] = [];

  constructor(
    from: number,
    to: number,
    private readonly readers: number,
  ) {
    this.#free = Array.from({ length: to - from }, (_, i) => from + i);
  }

  async take(): Promise<number> {
    const slot = this.#free.shift() ?? (await new Promise<number>((resolve) => this.#waiting.push(resolve)));
    this.#left.set(slot, this.readers);
    return slot;
  }

  release(slot: number): void {
    const left = this.#left.get(slot)! - 1;
    this.#left.set(slot, left);
    if (left > 0) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#free.push(slot);
    else waiting(slot);
  }
}

/** All tensors in pieces of at most `most` values. */
function cut(tensors: readonly Tensor[], most: number): Piece[] {
  return tensors.flatMap((tensor) => {
    const length = tensor.shape.reduce((a, b) => a * b, 1);
    return Array.from({ length: Math.ceil(length / most) }, (_, i) => ({
      tensor,
      at: i * most,
      count: Math.min(most, length - i * most),
    }));
  });
}

/** Runs `work` on each, begun in their order, a few at a time; the first error ends it. */
async function inOrder(list: readonly number[], work: (k: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < list.length) await work(list[next++]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
