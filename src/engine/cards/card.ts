/** One card's side: it holds a device and models, and does what it is asked, one call at a time. */
import { createHash } from "node:crypto";
import type { FolderWriter, WorkOptions } from "../../core/ports.ts";
import type { Backend, PieceFormat } from "../../tensor/index.ts";
import { ModelScorer, ModelTrainer, type PlannedDevice } from "../native/index.ts";
import { createNodeBackend } from "../native/node.ts";
import { openFolder } from "../native/node-folder.ts";
import { GradientSum, type SumMessage } from "./gradient-sum.ts";
import { type CardCalls, type CardMethod, type FromCard, sentError, type ToCard } from "./protocol.ts";
import { Slots } from "./slots.ts";

/** Values of one parameter that a digest looks at. */
const DIGEST_VALUES = 2 ** 20;

type Handlers = {
  [M in CardMethod]: (
    of: Parameters<CardCalls[M]>[0],
    work: CardWork,
  ) => Promise<ReturnType<CardCalls[M]>> | ReturnType<CardCalls[M]>;
};

interface CardWork extends WorkOptions {
  id: number;
  signal: AbortSignal;
}

interface OpenDevice {
  backend: Backend;
  rank: number;
  cards: number;
  exchange: PieceFormat;
  slots: Slots;
}

/** SHA-256 of the first values of one parameter; which one goes by the steps taken. */
async function weightsDigest(backend: Backend, { parameters, steps }: ModelTrainer): Promise<string> {
  const tensor = parameters[steps % parameters.length]!;
  const length = tensor.shape.reduce((a, b) => a * b, 1);
  let digest = "";
  await backend.pieces.read(tensor, 0, Math.min(DIGEST_VALUES, length), "f32", async (bytes) => {
    digest = createHash("sha256").update(bytes).digest("hex");
  });
  return digest;
}

export class Card {
  readonly #post: (message: FromCard) => void;
  readonly #models = new Map<number, ModelScorer>();
  readonly #aborts = new Map<number, AbortController>();
  /** Chunks that are not taken yet, by slot. */
  readonly #chunks = new Map<number, () => void>();
  #device: OpenDevice | null = null;
  /** The sum at work or to come, by round. */
  readonly #sums = new Map<number, GradientSum>();
  #round = 0;

  constructor(post: (message: FromCard) => void) {
    this.#post = post;
  }

  receive(message: ToCard): void {
    switch (message.type) {
      case "call":
        void this.#call(message.id, message.method, message.of);
        return;
      case "abort":
        this.#aborts.get(message.id)?.abort();
        return;
      case "taken":
        this.#chunks.get(message.slot)?.();
        return;
      case "mail":
        // What is left of a sum that failed is of no use.
        if (message.round >= this.#round) this.#sum(message.round).receive(message.from, message.message);
    }
  }

  async close(): Promise<void> {
    for (const controller of this.#aborts.values()) controller.abort();
    const device = this.#device;
    this.#device = null;
    this.#models.clear();
    device?.backend.dispose();
    await device?.slots.close();
  }

  async #call(id: number, method: CardMethod, of: unknown): Promise<void> {
    const controller = new AbortController();
    this.#aborts.set(id, controller);
    const work: CardWork = {
      id,
      signal: controller.signal,
      onProgress: (progress) => this.#post({ type: "progress", id, ...progress }),
    };
    try {
      const handler = this.#handlers[method] as (of: unknown, work: CardWork) => unknown;
      this.#post({ type: "result", id, value: await handler(of, work) });
    } catch (error) {
      this.#post({ type: "error", id, error: sentError(error) });
    } finally {
      this.#aborts.delete(id);
    }
  }

  readonly #handlers: Handlers = {
    open: async ({ rank, cards, device, compute, exchange, slots: plan }) => {
      const notes: string[] = [];
      const slots = await Slots.open(plan);
      const backend = await createNodeBackend(device, { compute, onNote: (note) => notes.push(note) });
      this.#device = { backend, rank, cards, exchange, slots };
      const planned: PlannedDevice = backend;
      const { kind, description, compute: format, packTokens } = backend;
      const { software = false, largestBuffer = Number.POSITIVE_INFINITY } = planned;
      const told = { compute: format, packTokens, software, largestBuffer };
      return { kind, description, notes, device: told };
    },

    load: async ({ model, folder, optimizer, weights, passes }, work) => {
      const { backend } = this.#opened();
      const reader = openFolder(folder);
      const opened =
        optimizer === null
          ? await ModelScorer.open(backend, reader, { ...work, ...passes, weights })
          : await ModelTrainer.open(backend, reader, { ...work, ...passes, optimizer });
      this.#models.set(model, opened);
      const steps = opened instanceof ModelTrainer ? opened.steps : 0;
      return { info: opened.info, steps, maxPositions: opened.maxPositions };
    },

    score: ({ model, requests, wanted }, work) => {
      const scorer = this.#model(model);
      // Which card takes a unit is a matter of time: its digits must not depend on what this one scored before.
      scorer.forget();
      return scorer.score(requests, { ...work, ...wanted });
    },

    sample: ({ model, requests }, work) => this.#model(model).sample(requests, work),

    forget: ({ model }) => {
      this.#model(model).forget();
      return null;
    },

    gradient: async ({ model, items, settings, round }, work) => {
      const { backend } = this.#opened();
      const trainer = this.#trainer(model);
      const sum = this.#sum(round);
      this.#round = round;
      for (const old of this.#sums.keys()) if (old < round) this.#sums.delete(old);
      const began = performance.now();
      let computed = began;
      const report = await sum.run(
        backend,
        async (onGradients) => {
          const part = await trainer.backward(items, settings, { ...work, onGradients });
          computed = performance.now();
          return part;
        },
        work.signal,
      );
      const seconds = { backward: (computed - began) / 1e3, sum: (performance.now() - computed) / 1e3 };
      return { ...report, seconds };
    },

    update: async ({ model, settings }) => {
      const trainer = this.#trainer(model);
      const updated = await trainer.update(settings);
      return { ...updated, digest: await weightsDigest(this.#opened().backend, trainer) };
    },

    save: async ({ model, optimizer }, { id, signal }) => {
      await this.#trainer(model).save(this.#chunkWriter(id, signal), { optimizer });
      return null;
    },

    dispose: ({ model }) => {
      this.#models.get(model)?.dispose();
      this.#models.delete(model);
      return null;
    },
  };

  /** Files as chunks in this card's slots, each used again once it was taken. */
  #chunkWriter(id: number, signal: AbortSignal): FolderWriter {
    const { rank, slots } = this.#opened();
    const { bytes: most, perCard } = slots.plan;
    let next = 0;
    const taken: (Promise<void> | undefined)[] = [];
    return {
      write: async (file, chunks) => {
        for await (const chunk of chunks)
          for (let at = 0; at < chunk.length; at += most) {
            signal.throwIfAborted();
            const slot = next++ % perCard;
            await taken[slot];
            const part = chunk.subarray(at, at + most);
            await slots.write(rank, slot, part);
            taken[slot] = new Promise((resolve) => this.#chunks.set(slot, resolve));
            this.#post({ type: "chunk", id, file, slot, bytes: part.length });
          }
        await Promise.all(taken);
        this.#post({ type: "chunk", id, file, slot: -1, bytes: null });
      },
      commit: async () => {},
      abort: async () => {},
    };
  }

  /** Made by whoever comes first: another card's mail, or the call. */
  #sum(round: number): GradientSum {
    const { rank, cards, exchange, slots } = this.#opened();
    let sum = this.#sums.get(round);
    if (sum === undefined) {
      const send = (to: number, message: SumMessage) => this.#post({ type: "mail", to, round, message });
      sum = new GradientSum({ rank, cards, slots, format: exchange, send });
      this.#sums.set(round, sum);
    }
    return sum;
  }

  #opened(): OpenDevice {
    if (this.#device === null) throw new Error("no device is open");
    return this.#device;
  }

  #model(model: number): ModelScorer {
    const found = this.#models.get(model);
    if (found === undefined) throw new Error(`no model ${model} is open`);
    return found;
  }

  #trainer(model: number): ModelTrainer {
    const found = this.#model(model);
    if (!(found instanceof ModelTrainer)) throw new Error(`model ${model} is not a student`);
    return found;
  }
}
