/**
 * Sums tensors over all cards, in place, through shared slots. Tensors are cut into pieces, and piece k belongs to card
 * k mod N: it adds the others' parts to its own, always in the order of their numbers, and hands the sum out (a
 * reduce-scatter and an all-gather, piece by piece). So each piece is summed once, in one order, and all cards hold the
 * same bits afterwards. Tensors may come one after the other, as a backward pass finishes them: reading, adding and
 * handing out go on beside what is still computed.
 *
 * Bytes for G bytes of gradients on each of N cards: G leave a card and 2(N−1)/N G come in; the processor copies each of
 * them once, between the memory that the card reads and writes and the slots. The sum itself is the card's work: on the
 * processor it would take G more of copies (docs/performance.md counts them).
 */
import type { Backend, PieceFormat, Tensor } from "../../tensor/index.ts";
import { pieceBytes } from "../../tensor/pieces.ts";
import type { SlotStore } from "./slots.ts";
import { WorkQueue } from "./work-queue.ts";

/** What the cards tell each other. `slot` is the sender's for `part` and `sum`, the receiver's own for `free`. */
export type SumMessage =
  | { kind: "part" | "sum"; piece: number; slot: number }
  | { kind: "free"; slot: number };

/** Pieces that are under way at once, in each direction. */
const AT_ONCE = 4;

/** What computes and holds the tensors. */
export type SummingBackend = Pick<Backend, "pieces" | "sync">;

interface Piece {
  tensor: Tensor;
  at: number;
  count: number;
}

export interface GradientSumOptions {
  /** This card's number among the N, from 0. */
  rank: number;
  cards: number;
  slots: SlotStore;
  /** How parts and sums travel. */
  format: PieceFormat;
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
   * Leaves the sum over all cards in the tensors that `compute` adds, each as soon as nothing changes it any more. Every
   * card adds tensors of the same shapes in the same order. Resolves to what `compute` gave when all sums are on the card.
   * May be called once; after an error the values are undefined.
   *
   * @throws what `compute` threw, the signal's reason, or what went wrong with the sum
   */
  async run<R>(
    backend: SummingBackend,
    compute: (add: (tensors: readonly Tensor[]) => void) => Promise<R>,
    signal?: AbortSignal,
  ): Promise<R> {
    const { rank, cards, slots, format } = this.#options;
    if (cards === 1) return compute(() => {});
    signal?.throwIfAborted();
    const stopped = new AbortController();
    const fail = (error: unknown) => stopped.abort(error);
    const aborted = new Promise<never>((_, reject) => {
      stopped.signal.addEventListener("abort", () => reject(stopped.signal.reason), { once: true });
    });
    aborted.catch(() => {});
    const abort = () => fail(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });

    const pieces: Piece[] = [];
    const readers = Array.from({ length: cards }, (_, card) => card).filter((card) => card !== rank);
    const contribute = new WorkQueue(
      AT_ONCE,
      (k) => this.#publish(backend, pieces[k]!, "part", k, [k % cards], aborted),
      fail,
    );
    const own = new WorkQueue(
      AT_ONCE,
      async (k) => {
        for (const from of readers) await this.#take(backend, pieces[k]!, "part", k, from, aborted);
        await this.#publish(backend, pieces[k]!, "sum", k, readers, aborted);
      },
      fail,
    );
    const adopt = new WorkQueue(
      AT_ONCE,
      (k) => this.#take(backend, pieces[k]!, "sum", k, k % cards, aborted),
      fail,
    );
    const queues = [contribute, own, adopt];
    const add = (tensors: readonly Tensor[]) => {
      stopped.signal.throwIfAborted();
      for (const piece of cut(tensors, slots.plan.bytes / pieceBytes(1, format))) {
        const k = pieces.push(piece) - 1;
        for (const queue of k % cards === rank ? [own] : [contribute, adopt]) queue.push(k);
      }
    };
    try {
      const result = await compute(add);
      await Promise.race([Promise.all(queues.map((queue) => queue.idle())), aborted]);
      // Errors of the device surface here.
      await backend.sync();
      return result;
    } catch (error) {
      fail(error);
      throw stopped.signal.reason;
    } finally {
      // Nothing may write to the tensors afterwards.
      for (const queue of queues) queue.stop();
      await Promise.all(queues.map((queue) => queue.idle()));
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Puts a piece into a slot of this card and says so to its readers. */
  async #publish(
    backend: SummingBackend,
    { tensor, at, count }: Piece,
    kind: "part" | "sum",
    piece: number,
    readers: readonly number[],
    aborted: Promise<never>,
  ): Promise<void> {
    const { rank, slots, format, send } = this.#options;
    const slot = await Promise.race([this.#free[kind].take(), aborted]);
    await backend.pieces.read(tensor, at, count, format, (bytes) => slots.write(rank, slot, bytes));
    for (const reader of readers) send(reader, { kind, piece, slot });
  }

  /** Waits for a piece of another card and adds it to this card's, or takes it over. */
  async #take(
    backend: SummingBackend,
    { tensor, at, count }: Piece,
    kind: "part" | "sum",
    piece: number,
    from: number,
    aborted: Promise<never>,
  ): Promise<void> {
    const slot = await Promise.race([this.#arrival(`${kind} ${piece} ${from}`), aborted]);
    const { slots, format, send } = this.#options;
    const how = kind === "part" ? "add" : "replace";
    await backend.pieces.write(tensor, at, count, format, how, (bytes) => slots.read(from, slot, bytes));
    send(from, { kind: "free", slot });
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
