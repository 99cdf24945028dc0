/** The cards of one host that work together: a process for each, and the way to it. */
import { DeviceError, InputError } from "../../core/errors.ts";
import type { WorkOptions } from "../../core/ports.ts";
import type { PieceFormat } from "../../tensor/index.ts";
import type { DeviceChoice, PlannedDevice } from "../native/index.ts";
import { type CardCalls, type CardLink, type CardMethod, type FromCard, receivedError } from "./protocol.ts";
import { createSlotFiles, type SlotPlan, Slots } from "./slots.ts";

export interface CardsOptions {
  /** Numbers of the cards, for messages and for the links. */
  cards: readonly number[];
  device: DeviceChoice;
  /** Format of the operands of matrix products on WebGPU; f32 when absent. */
  compute?: "f32" | "f16";
  /** How gradients travel between the cards; when absent bf16 where products take f16 operands, else f32. */
  exchange?: PieceFormat;
  /** A way to each card, begun again. */
  link: (card: number) => CardLink;
  /** One line for a person. */
  onNote?: (note: string) => void;
  /** Size of the shared memory, in tests. */
  slots?: Partial<SlotPlan>;
}

interface Call {
  resolve(value: unknown): void;
  reject(error: Error): void;
  onProgress?: WorkOptions["onProgress"];
  onChunk?: (file: string, slot: number, bytes: number | null) => void;
}

interface CallOptions extends WorkOptions {
  onChunk?: Call["onChunk"];
}

/** One card as the main process sees it. */
interface Member {
  link: CardLink;
  name: string;
  calls: Map<number, Call>;
  /** Why it is gone. */
  ended: Error | null;
}

export class Cards {
  kind: "webgpu" | "cpu" = "cpu";
  /** Adapters as reported. */
  description = "";
  /** The first card's, for plans of memory. */
  device: PlannedDevice = { compute: "f32", packTokens: 0 };
  readonly #members: Member[];
  #slots: Slots | null = null;
  #nextId = 1;
  #nextModel = 1;
  #nextRound = 1;
  #failed: Error | null = null;

  private constructor({ cards, link }: CardsOptions) {
    this.#members = cards.map((card, rank) => {
      const member: Member = { link: link(card), name: `card ${card}`, calls: new Map(), ended: null };
      member.link.listen({
        message: (message) => this.#receive(rank, message),
        ended: (why) => this.#ended(member, why),
      });
      return member;
    });
  }

  /**
   * Starts a process on each card and opens its device.
   *
   * @throws InputError when a card has no device
   */
  static async open(options: CardsOptions): Promise<Cards> {
    const { cards: numbers, device, compute = "f32", onNote } = options;
    const exchange = options.exchange ?? (compute === "f16" ? "bf16" : "f32");
    const plan = await createSlotFiles(numbers.length, options.slots);
    const cards = new Cards(options);
    try {
      cards.#slots = await Slots.open(plan);
      const opened = await cards.all("open", (rank) => ({
        rank,
        cards: numbers.length,
        device,
        compute,
        exchange,
        slots: plan,
      }));
      opened.forEach(({ description, notes }, rank) => {
        const member = cards.#members[rank]!;
        for (const note of notes) onNote?.(`${member.name}: ${note}`);
        member.name = `${member.name} (${description})`;
      });
      const kinds = new Set(opened.map(({ kind }) => kind));
      if (kinds.size > 1) {
        const found = cards.#members.map(({ name }) => name).join(", ");
        throw new InputError(`some cards offer WebGPU and some do not: ${found}`);
      }
      cards.kind = opened[0]!.kind;
      cards.device = opened[0]!.device;
      cards.description = adapterNames(opened.map(({ description }) => description));
      return cards;
    } catch (error) {
      cards.dispose();
      throw error;
    } finally {
      await Slots.unlink(plan);
    }
  }

  get count(): number {
    return this.#members.length;
  }

  newModel(): number {
    return this.#nextModel++;
  }

  newRound(): number {
    return this.#nextRound++;
  }

  /** @throws what the card threw; an Error that names the card when its process is gone */
  async call<M extends CardMethod>(
    rank: number,
    method: M,
    of: Parameters<CardCalls[M]>[0],
    { signal, onProgress, onChunk }: CallOptions = {},
  ): Promise<ReturnType<CardCalls[M]>> {
    signal?.throwIfAborted();
    const member = this.#members[rank]!;
    if (this.#failed !== null) throw this.#failed;
    if (member.ended !== null) throw member.ended;
    const id = this.#nextId++;
    const abort = () => member.link.send({ type: "abort", id });
    signal?.addEventListener("abort", abort);
    try {
      const answer = await new Promise<unknown>((resolve, reject) => {
        member.calls.set(id, { resolve, reject, onProgress, onChunk });
        member.link.send({ type: "call", id, method, of });
      });
      return answer as ReturnType<CardCalls[M]>;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
      member.calls.delete(id);
    }
  }

  /** Asks every card at once. The first error stops the others, and is thrown when all have answered. */
  async all<M extends CardMethod>(
    method: M,
    of: (rank: number) => Parameters<CardCalls[M]>[0],
    options: { signal?: AbortSignal; onProgress?: (rank: number, done: number, total: number) => void } = {},
  ): Promise<ReturnType<CardCalls[M]>[]> {
    const { onProgress } = options;
    return this.onEveryCard(
      (rank, signal) =>
        this.call(rank, method, of(rank), {
          signal,
          onProgress: onProgress && (({ done, total }) => onProgress(rank, done, total)),
        }),
      options.signal,
    );
  }

  /** Runs `work` for every card at once. The first error aborts the others, and is thrown when all are over. */
  async onEveryCard<R>(
    work: (rank: number, signal: AbortSignal) => Promise<R>,
    signal?: AbortSignal,
  ): Promise<R[]> {
    const controller = new AbortController();
    const stop = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
    let first: unknown;
    const running = this.#members.map(async (_, rank) => {
      try {
        return await work(rank, stop);
      } catch (error) {
        first ??= error;
        controller.abort(error);
        throw error;
      }
    });
    const settled = await Promise.allSettled(running);
    return settled.map((result) => {
      if (result.status === "rejected") throw first;
      return result.value;
    });
  }

  /** A chunk that card 0 put into a slot. */
  async readChunk(slot: number, bytes: number): Promise<Uint8Array> {
    const chunk = new Uint8Array(bytes);
    await this.#slots!.read(0, slot, chunk);
    this.#members[0]!.link.send({ type: "taken", slot });
    return chunk;
  }

  /** Refuses all further work, for this reason: the cards do not hold the same any more. */
  fail(error: Error): void {
    this.#failed ??= error;
  }

  dispose(): void {
    this.fail(new Error("the cards were given back"));
    for (const { link } of this.#members) link.end();
    void this.#slots?.close().catch(() => {});
    this.#slots = null;
  }

  #receive(rank: number, message: FromCard): void {
    const member = this.#members[rank]!;
    if (message.type === "mail") {
      const { to, round, message: mail } = message;
      this.#members[to]!.link.send({ type: "mail", from: rank, round, message: mail });
      return;
    }
    const call = member.calls.get(message.id);
    switch (message.type) {
      case "progress":
        call?.onProgress?.(message);
        return;
      case "chunk":
        call?.onChunk?.(message.file, message.slot, message.bytes);
        return;
      case "result":
        call?.resolve(message.value);
        return;
      case "error":
        call?.reject(receivedError(message.error, member.name));
    }
  }

  #ended(member: Member, why: string): void {
    member.ended = new DeviceError(`${member.name}: its process ended (${why})`, "lost");
    this.fail(member.ended);
    for (const call of member.calls.values()) call.reject(member.ended);
  }
}

function adapterNames(adapters: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const adapter of adapters) counts.set(adapter, (counts.get(adapter) ?? 0) + 1);
  return [...counts].map(([adapter, count]) => (count === 1 ? adapter : `${count} × ${adapter}`)).join(", ");
}
