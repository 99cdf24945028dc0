import { InputError } from "../core/errors.ts";
import type { Backend, Recording, WholeDecoder } from "./backend.ts";
import { type ModelConfig, mixerType } from "./config.ts";
import { prefill, type Segment } from "./decode-prefill.ts";
import { attentionOf, decodeStep } from "./decode-step.ts";
import type { Generated, GenerateOptions } from "./generate.ts";
import type { ModelTensors } from "./passes.ts";
import {
  type Begin,
  type Held,
  RecurrentSlots,
  type RecurrentStep,
  slotBytes,
  stateBytes,
} from "./recurrent-slots.ts";
import type { RopeTable } from "./rope-table.ts";
import { SHORTEST_PREFIX } from "./shared-prefix.ts";
import type { DecodeState, LayerCache, Tensor } from "./tensor.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

/** A prompt to continue. */
export type DecodeRequest = Omit<GenerateOptions, "signal"> & { promptIds: readonly number[] };

export interface DecodeWork {
  signal?: AbortSignal | undefined;
  /** How many sequences have ended. */
  onProgress?: ((done: number) => void) | undefined;
}

/** Sequences that advance together at most. */
const MOST_SEQUENCES = 64;
/** Tokens of a sequence's room grow by this many, so that steps recorded for one length serve others. */
const ROOM = 256;
/** Tokens of each sequence between two looks at which have ended. A look waits for the device; what comes after it does not. */
const TOKENS = { cpu: 1, webgpu: 8, whole: 64 };
/** Bytes of the cache, and of one tensor of it. */
const CACHE = {
  large: { all: 24 * 2 ** 30, one: 2 ** 30 },
  small: { all: 2 ** 30, one: 2 ** 27 },
};

/** A sequence's place in the cache, and the tokens whose keys and values it holds. */
interface Slot {
  index: number;
  /** First row in the cache. */
  start: number;
  ids: number[];
  /** Where the states of linear layers are that the sequence goes on from. */
  state: Begin;
  /** A state after so many of its tokens is kept, 0: none. */
  kept: number;
}

/** Tokens of a prompt up to `end` that go through the model, to a state in slot `to`. */
interface Stretch {
  end: number;
  to: number;
}

interface Sequence {
  request: DecodeRequest;
  index: number;
  slot: Slot;
  /** [maxTokens]: the i-th decides the i-th token. */
  uniforms: Float32Array;
  ids: number[];
  logprobs: number[];
}

/** Tensors of M sequences that advance together. */
interface Plan {
  state: DecodeState;
  longest: number;
  /** Takes each sequence on by some tokens, to one look. */
  advance: (tokens: number) => void;
  /** The sequences' states in linear layers. */
  recurrent: RecurrentStep | null;
  perLook: number;
  dispose: () => void;
}

/**
 * Continues many prompts together, a token of each per step. A step is encoded once and run again: tokens are drawn on the
 * device and stay there as the next step's input, and only every few steps somebody looks which sequences have ended. Keys
 * and values that a prompt shares with the one that its place in the cache held before are not computed again; a model with
 * states goes on from one that was kept (`#resume`).
 */
export class Decoder {
  readonly #plans = new Map<string, Plan>();
  /** Of layers with full attention. */
  #cache: (LayerCache | null)[] = [];
  /** Of linear layers. */
  #recurrent: RecurrentSlots | null = null;
  /** The tensors that hold the cache. */
  #held: Tensor[] = [];
  /** Of models that are small enough. */
  readonly #whole: WholeDecoder | null;
  /** The cache is one that it made. */
  #takesWhole = false;
  #slots: Slot[] = [];
  /** Rows of a slot. */
  #room = 0;
  #tables: { cos: Tensor; sin: Tensor } | null = null;

  constructor(
    private readonly backend: Backend,
    private readonly config: ModelConfig,
    private readonly tensors: ModelTensors,
    private readonly rope: RopeTable,
    /** Folder of the model, for messages. */
    private readonly model: string,
  ) {
    if (config.architecture !== "qwen3" || backend.wholeDecoder === undefined) {
      this.#whole = null;
      return;
    }
    const layers = tensors.layers.map((layer) => {
      const { mixer: _, ...block } = layer;
      return { ...block, ...attentionOf(layer) };
    });
    this.#whole = backend.wholeDecoder({ ...config, ...tensors, layers });
  }

  /** The parameters have changed: what the cache holds no longer stands for its tokens. */
  forget(): void {
    for (const slot of this.#slots) Object.assign(slot, { ids: [], kept: 0 });
  }

  /**
   * @param requests all with the same stop ids and drawable ids
   * @throws InputError when a log-probability is not finite; the signal's reason when it is aborted
   */
  async decode(requests: readonly DecodeRequest[], work: DecodeWork = {}): Promise<Generated[]> {
    const results = requests.map(
      (): Generated => ({ ids: [], logprobs: new Float32Array(0), stopped: false }),
    );
    const waiting = requests.flatMap((request, index) => (request.maxTokens > 0 ? [{ request, index }] : []));
    if (waiting.length === 0) return results;
    const limits = ({ stopIds, drawable }: DecodeRequest) => JSON.stringify([stopIds, drawable]);
    if (requests.some((request) => limits(request) !== limits(requests[0]!)))
      throw new Error("decode: prompts that advance together have the same stop ids and drawable ids");
    this.#makeRoom(waiting.map(({ request }) => request));
    const live: Sequence[] = [];
    const free = new Set(this.#slots);
    let done = requests.length - waiting.length;
    try {
      while (waiting.length > 0 || live.length > 0) {
        work.signal?.throwIfAborted();
        const fresh = waiting.splice(0, free.size).map((entry) => this.#seat(entry, free));
        await this.#prefill(fresh, work.signal);
        live.push(...fresh);
        for (const sequence of await this.#advance(live, waiting.length > 0, work.signal)) {
          live.splice(live.indexOf(sequence), 1);
          // Its states went on with the steps after its end, and so did the keys of its last token.
          if (this.#recurrent !== null) sequence.slot.ids.pop();
          free.add(sequence.slot);
          const { ids, logprobs, request } = sequence;
          const stopped = request.stopIds?.includes(ids.at(-1)!) ?? false;
          results[sequence.index] = { ids, logprobs: Float32Array.from(logprobs), stopped };
          done += 1;
          work.onProgress?.(done);
        }
      }
    } catch (error) {
      // What is in the cache of sequences that were under way is not known.
      this.forget();
      throw error;
    }
    return results;
  }

  #dropPlans(): void {
    for (const { dispose } of this.#plans.values()) dispose();
    this.#plans.clear();
    this.#tables = this.rope.tables(this.#room);
  }

  dispose(): void {
    for (const { dispose } of this.#plans.values()) dispose();
    this.#plans.clear();
    this.#tables = null;
    this.backend.free(...this.#held);
    this.#held = [];
    this.#whole?.dispose();
    this.#recurrent?.dispose();
    this.#recurrent = null;
    this.#cache = [];
    this.#slots = [];
    this.#room = 0;
  }

  /** A cache in which the longest request fits, of as many slots as there are requests or as memory allows. */
  #makeRoom(requests: readonly DecodeRequest[]): void {
    const { config } = this;
    const { keyValueHeads, headSize, maxPositions } = config;
    const attends = Array.from(
      { length: config.layers },
      (_, i) => mixerType(config, i) === "full_attention",
    );
    const layers = attends.filter((does) => does).length;
    const recurrent = config.architecture === "qwen3_5" ? config : null;
    // A state goes on and one is kept; recorded steps of all, a half, a quarter … of the sequences have two more.
    const states = recurrent === null ? 0 : 4 * slotBytes(recurrent);
    const longest = Math.max(...requests.map(({ promptIds, maxTokens }) => promptIds.length + maxTokens));
    // A longer sequence elsewhere makes new tables, and what was recorded names the old ones.
    if (this.#tables !== null && this.rope.tables(this.#room) !== this.#tables) this.#dropPlans();
    const { all, one } = this.backend.packTokens > 4096 ? CACHE.large : CACHE.small;
    const needed = Math.ceil(longest / ROOM) * ROOM;
    const whole = this.#whole?.fits(1, needed) ? this.#whole : null;
    const format = whole === null ? this.backend.cacheFormat(headSize) : "f32";
    const rowBytes = (format === "f16" ? 2 : 4) * keyValueHeads * headSize;
    const slotsOf = (room: number) =>
      Math.min(
        (one / rowBytes - 1) / room,
        all / (2 * layers * rowBytes * room + states),
        recurrent === null ? Infinity : (one / stateBytes(recurrent) - 1) / 2,
      );
    const wanted = Math.min(MOST_SEQUENCES, requests.length);
    if (
      longest <= this.#room &&
      (wanted <= this.#slots.length || slotsOf(this.#room) < this.#slots.length + 1)
    )
      return;
    const slots = Math.max(wanted, this.#slots.length);
    // Growing drops the cache, so the room grows by half where memory allows.
    const ample = Math.ceil((1.5 * this.#room) / ROOM) * ROOM;
    this.dispose();
    this.#room = Math.min(maxPositions, slotsOf(ample) < slots ? needed : Math.max(needed, ample));
    const count = Math.max(1, Math.min(slots, Math.floor(slotsOf(this.#room))));
    this.#slots = Array.from({ length: count }, (_, index) => {
      return { index, start: index * this.#room, ids: [], state: null, kept: 0 };
    });
    const rows = count * this.#room;
    this.#takesWhole = whole?.fits(count, this.#room) ?? false;
    try {
      if (whole !== null && this.#takesWhole) {
        const cache = whole.allocateCache(rows);
        this.#held = [cache.all];
        this.#cache = cache.layers;
      } else
        this.#cache = attends.map((does) => {
          if (!does) return null;
          const tensor = () => {
            const t = this.backend.allocateWeight(format, [rows + 1, keyValueHeads, headSize]);
            this.#held.push(t);
            return t;
          };
          return { k: tensor(), v: tensor() };
        });
      if (recurrent !== null) this.#recurrent = new RecurrentSlots(this.backend, recurrent, 2 * count);
    } catch (error) {
      this.dispose();
      throw error;
    }
    this.#tables = this.rope.tables(this.#room);
  }

  /** Gives a request the free slot that shares most of its prompt. */
  #seat({ request, index }: Pick<Sequence, "request" | "index">, free: Set<Slot>): Sequence {
    let [slot] = free;
    let most = -1;
    for (const candidate of free) {
      const shared = commonStart(candidate.ids, request.promptIds);
      if (shared <= most) continue;
      most = shared;
      slot = candidate;
    }
    if (slot === undefined) throw new Error("decode: no free slot");
    free.delete(slot);
    const { maxTokens, temperature, uniform } = request;
    if (temperature > 0 && uniform === undefined)
      throw new Error("decode: uniform is needed unless the temperature is 0");
    const uniforms = Float32Array.from({ length: maxTokens }, () => (temperature > 0 ? uniform!() : 0));
    return { request, index, slot, uniforms, ids: [], logprobs: [] };
  }

  /**
   * How a prompt of which the slot has seen `shared` tokens goes to its token `end` in linear layers. A state stands for
   * all tokens before it, so that one can only go on from a kept one: after as many as two prompts before it had in
   * common, as those of an episode do. It keeps the next where the prompt leaves the one before.
   */
  #resume(slot: Slot, shared: number, end: number): { from: number; begin: Begin; stretches: Stretch[] } {
    const keeps = this.#slots.length + slot.index;
    const from = slot.kept <= shared ? slot.kept : 0;
    const stretches: Stretch[] = [];
    if (shared - from >= SHORTEST_PREFIX) stretches.push({ end: shared, to: keeps });
    slot.kept = stretches.length > 0 ? shared : from;
    if (slot.kept < end) stretches.push({ end, to: slot.index });
    slot.state = slot.kept < end ? slot.index : slot.kept > 0 ? keeps : null;
    return { from, begin: from > 0 ? keeps : null, stretches };
  }

  /** All tokens of the prompts but the last, which the first step takes. */
  async #prefill(sequences: readonly Sequence[], signal: AbortSignal | undefined): Promise<void> {
    const { backend, config, tensors } = this;
    const left = sequences.flatMap(({ slot, request: { promptIds } }) => {
      const end = promptIds.length - 1;
      const shared = Math.min(commonStart(slot.ids, promptIds), end);
      const whole = { slot, from: shared, begin: null, stretches: [{ end, to: 0 }] };
      const way = this.#recurrent === null ? whole : { slot, ...this.#resume(slot, shared, end) };
      slot.ids = promptIds.slice(0, end);
      return way.from < end ? [way] : [];
    });
    while (left.length > 0) {
      signal?.throwIfAborted();
      const segments: Segment[] = [];
      let room = backend.packTokens;
      for (const entry of [...left]) {
        const { slot, from, begin, stretches } = entry;
        const [{ end, to }] = stretches as [Stretch];
        const count = Math.min(room, end - from);
        if (count === 0) break;
        segments.push({ ids: slot.ids.slice(from, from + count), from, start: slot.start, begin, to });
        entry.from += count;
        entry.begin = to;
        room -= count;
        if (entry.from === end) stretches.shift();
        if (stretches.length === 0) left.splice(left.indexOf(entry), 1);
      }
      prefill(backend, config, tensors, this.#tables!, this.#cache, this.#recurrent, segments);
      // The last part is waited for together with what is drawn behind it.
      if (left.length > 0) await backend.sync();
      await yieldToEventLoop(backend);
    }
  }

  /**
   * Takes the sequences on until one of them ends whose place is needed, or half of them have ended, or all. Returns
   * those that have ended.
   */
  async #advance(
    live: readonly Sequence[],
    isAwaited: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Sequence[]> {
    signal?.throwIfAborted();
    const { backend } = this;
    const plan = this.#plan(live);
    this.#write(plan, live);
    const { progress, results } = plan.state;
    let left = Math.max(...live.map(({ request, ids }) => request.maxTokens - ids.length));
    const look = (): Promise<Float32Array> => {
      const tokens = Math.min(left, plan.perLook);
      plan.advance(tokens);
      left -= tokens;
      const read = backend.read(progress);
      // An error of the device comes to light where it is waited for.
      read.catch(() => {});
      return read;
    };
    const enough = isAwaited ? 1 : Math.max(1, Math.ceil(live.length / 2));
    let now = look();
    while (left > 0) {
      signal?.throwIfAborted();
      const next = look();
      const ended = endedOf(await now, live.length);
      await yieldToEventLoop(backend);
      now = next;
      if (ended >= enough || ended === live.length) break;
    }
    signal?.throwIfAborted();
    const [reached, drawn] = await Promise.all([now, backend.read(results)]);
    await yieldToEventLoop(backend);
    const over: Sequence[] = [];
    const going: Held[] = [];
    for (const [m, sequence] of live.entries()) {
      const count = reached[2 * m]!;
      for (let i = 0; i < count; i++) this.#take(sequence, drawn, m * plan.longest + i);
      const { slot } = sequence;
      if (reached[2 * m + 1] === 0) {
        over.push(sequence);
        continue;
      }
      slot.state = slot.index;
      going.push({ sequence: m, slot: slot.index });
    }
    if (plan.recurrent !== null) this.#recurrent!.store(plan.recurrent, going);
    return over;
  }

  #take(sequence: Sequence, drawn: Float32Array, at: number): void {
    const { request, slot, ids, logprobs } = sequence;
    const [id, logprob] = [drawn[2 * at]!, drawn[2 * at + 1]!];
    if (!Number.isFinite(logprob))
      throw new InputError(`the log-probability of token ${ids.length + 1} is not finite`, {
        file: this.model,
      });
    // The cache has the keys of the token before it, which went through the model to draw it.
    slot.ids.push(ids.at(-1) ?? request.promptIds.at(-1)!);
    ids.push(id);
    logprobs.push(logprob);
  }

  /** The plan for so many sequences, recorded where the backend can. */
  #plan(live: readonly Sequence[]): Plan {
    const { backend } = this;
    const power = Math.min(this.#slots.length, 2 ** Math.ceil(Math.log2(live.length)));
    const count = backend.record === undefined ? live.length : power;
    const left = Math.max(...live.map(({ request, ids }) => request.maxTokens - ids.length));
    const stops = Math.max(1, ...live.map(({ request }) => request.stopIds?.length ?? 0));
    const ranges = Math.max(1, ...live.map(({ request }) => request.drawable?.length ?? 0));
    const whole = this.#takesWhole && !live.some(({ request }) => isBounded(request)) ? this.#whole : null;
    const name = `${count}${whole === null ? "" : " whole"}`;
    const found = this.#plans.get(name);
    if (
      found !== undefined &&
      found.longest >= left &&
      found.state.stops.shape[0] === stops &&
      found.state.drawable.shape[0] === 2 * ranges
    )
      return found;
    found?.dispose();
    this.#plans.delete(name);
    const longest = 2 ** Math.ceil(Math.log2(Math.max(left, 16)));
    const vector = (length: number) => backend.zeros([length], "u32");
    const state: DecodeState = {
      temperatures: backend.zeros([count]),
      bounds: backend.zeros([count, 2]),
      uniforms: backend.zeros([count, longest]),
      limits: vector(count),
      stops: vector(stops),
      drawable: vector(2 * ranges),
      results: backend.zeros([count, longest, 2]),
      progress: backend.zeros([count, 2]),
      ids: vector(count),
      positions: vector(count),
      rows: vector(count),
      ends: vector(count),
      starts: vector(count),
      most: this.#room,
    };
    const recurrent = this.#recurrent?.step(count) ?? null;
    const step = () =>
      decodeStep(backend, this.config, this.tensors, this.#tables!, this.#cache, recurrent, state);
    const recording: Recording | undefined = whole === null ? backend.record?.(step) : undefined;
    const once = recording === undefined ? () => backend.scope(step) : recording.run;
    const plan: Plan = {
      state,
      longest,
      recurrent,
      advance: (tokens) => {
        if (whole !== null) whole.decode(this.#held[0]!, this.#tables!, state, tokens);
        else for (let i = 0; i < tokens; i++) once();
      },
      perLook: TOKENS[whole === null ? backend.kind : "whole"],
      dispose() {
        recording?.dispose();
        recurrent?.dispose();
        const { most: _, ...tensors } = state;
        backend.free(...Object.values<Tensor>(tensors));
      },
    };
    this.#plans.set(name, plan);
    return plan;
  }

  /**
   * Puts the sequences' state on the device. Rows without a sequence repeat the first one's and never begin. They must not
   * write into its rows of the cache, which it reads meanwhile, and their states of linear layers drift from its own: they
   * share a spare row. A cache for whole sequences has none; what they write there is what the first one wrote.
   */
  #write({ state, longest, recurrent }: Plan, live: readonly Sequence[]): void {
    const { backend } = this;
    const count = state.ids.shape[0]!;
    const rows = Array.from({ length: count }, (_, m) => live[m] ?? live[0]!);
    const words = (t: Tensor, value: (sequence: Sequence) => number) =>
      backend.write(t, Uint32Array.from(rows, value));
    const uniforms = new Float32Array(count * longest);
    const temperatures = new Float32Array(count);
    const bounds = Float32Array.from({ length: 2 * count }, (_, i) => i % 2);
    const progress = new Float32Array(2 * count);
    for (const [m, sequence] of live.entries()) {
      const { temperature, topK = 0, topP = 1 } = sequence.request;
      temperatures[m] = temperature;
      bounds.set([topK, topP], 2 * m);
      progress[2 * m + 1] = 1;
      uniforms.set(sequence.uniforms.subarray(sequence.ids.length), m * longest);
    }
    backend.write(state.temperatures, temperatures);
    backend.write(state.bounds, bounds);
    backend.write(state.uniforms, uniforms);
    backend.write(state.progress, progress);
    const length = ({ request, ids }: Sequence) => request.promptIds.length + ids.length;
    words(state.limits, ({ request, ids }) => request.maxTokens - ids.length);
    words(state.ids, ({ request, ids }) => ids.at(-1) ?? request.promptIds.at(-1)!);
    const spare = this.#takesWhole ? null : this.#slots.length * this.#room;
    const cacheRows = (t: Tensor, value: (sequence: Sequence) => number, ofSpare: number) =>
      backend.write(
        t,
        Uint32Array.from(rows, (sequence, m) =>
          spare === null || m < live.length ? sequence.slot.start + value(sequence) : spare + ofSpare,
        ),
      );
    backend.write(
      state.positions,
      Uint32Array.from(rows, (sequence, m) => (spare === null || m < live.length ? length(sequence) - 1 : 0)),
    );
    cacheRows(state.starts, () => 0, 0);
    cacheRows(state.rows, (sequence) => length(sequence) - 1, 0);
    cacheRows(state.ends, length, 1);
    if (recurrent !== null)
      this.#recurrent!.load(
        recurrent,
        rows.map(({ slot }, m) => ({ sequence: m, slot: slot.state })),
      );
    const [{ request }] = live as [Sequence];
    const stops = Uint32Array.from(request.stopIds?.length ? request.stopIds : [0xffffffff]);
    backend.write(state.stops, stops);
    const drawable = request.drawable ?? [[0, this.config.vocabularySize]];
    backend.write(state.drawable, Uint32Array.from(drawable.flat()));
  }
}

function isBounded({ temperature, topK = 0, topP = 1 }: DecodeRequest): boolean {
  return temperature > 0 && (topK > 0 || topP < 1);
}

function commonStart(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  let i = 0;
  while (i < most && a[i] === b[i]) i++;
  return i;
}

/** How many of the first `count` sequences have ended. */
function endedOf(progress: Float32Array, count: number): number {
  let ended = 0;
  for (let m = 0; m < count; m++) if (progress[2 * m + 1] === 0) ended++;
  return ended;
}
