import { InputError } from "../core/errors.ts";
import type { ModelConfig } from "./config.ts";
import {
  type Branch,
  commonLength,
  type Group,
  groupAround,
  groupByPrefix,
  SHORTEST_PREFIX,
  type Tokens,
} from "./shared-prefix.ts";
import type { Tensor } from "./tensor.ts";

/** A context and the response after it, in token ids. The prompt has one token at least; the response may be empty. */
export interface Sequence {
  promptIds: readonly number[];
  responseIds: readonly number[];
}

/** Options of work over many sequences. */
export interface ModelWork {
  signal?: AbortSignal;
  /** Called after each pack with the tokens done so far and all tokens. */
  onProgress?: (tokens: number, total: number) => void;
  /** The same in tokens of the sequences given and tokens computed, which are fewer where sequences share a prefix. */
  onComputed?: (tokens: { given: number; computed: number }) => void;
  /** Bound on the tokens of one pass; a longer sequence is a pass of its own. Default: `passTokens`. Training takes shorter ones where they are less work. */
  maxTokensPerPack?: number;
  /**
   * Equal first tokens that are worth computing once; Infinity: every sequence is computed whole. Default: 32, or
   * half the size of a key to train linear layers, where that is more.
   */
  shortestPrefix?: number;
  /** Keep only the input of each layer and compute the rest again on the way back. Default: when memory asks for it. */
  recompute?: boolean;
  /**
   * Backward: called with gradients as soon as no further work changes them, in an order that depends on the model alone
   * and that has each gradient once: from the head down to the embedding. The pass waits for it, and runs at most two
   * layers ahead of the device, so that what is done with them goes on beside the layers below.
   */
  onGradients?: (gradients: readonly Tensor[]) => void | Promise<void>;
}

/** Where the response of one sequence lies among the response rows of a pack. */
export interface Segment {
  /** Place in the list of sequences. */
  index: number;
  row: number;
  count: number;
}

/**
 * Several sequences one after the other, without padding. The last token of each is left out: nothing follows it. A
 * sequence that shares its first tokens with another one has only the tokens after them here (a branch of that trunk).
 *
 * Keys are counted from the first of the `cached` rows that the pack takes from a prefix computed before; the pack's
 * own row i is key cached + i. Arrays are [T], those of rows [R].
 */
export interface Pack {
  ids: Uint32Array;
  /** From 0 within each sequence. */
  positions: Uint32Array;
  /** Keys that a row sees: from the first own row of its sequence to itself … */
  start: Uint32Array;
  end: Uint32Array;
  /** … and those of the tokens that its sequence shares with a trunk before it; null when no row has any. */
  prefixStart: Uint32Array | null;
  prefixEnd: Uint32Array | null;
  /**
   * Rows that see a row's key: from itself to the last of its sequence, or to the last row of the last branch that
   * shares the token. Branches follow their trunk, the one that shares most first, so that these are all rows between.
   */
  queryEnd: Uint32Array;
  /** Row of the token before each response token, and that response token. No row occurs twice. */
  rows: Uint32Array;
  targets: Uint32Array;
  segments: Segment[];
  /** Prompt and response tokens of all its sequences, for progress; `ids` are those computed. */
  tokens: number;
  /** The sequences in the order of their rows. */
  spans: Span[];
  /** Number of rows of a prefix computed before (in `from`) that the pack's rows see, 0 without one. */
  cached: number;
  from: StoredPrefix | null;
  /** Rows whose keys and values a later pack, or a later call, will want. */
  keep: { row: number; prefix: StoredPrefix } | null;
}

/** One sequence's rows in a pack. */
export interface Span {
  first: number;
  /** The row after the last. */
  end: number;
  /** Tokens before its first row, which are taken from a trunk. */
  shared: number;
  /** Whose they are: the place of another span, or the prefix that the pack takes from elsewhere. */
  trunk: number | "stored" | null;
}

/** The first tokens of a trunk. What its layers leave of them outlives the pack that computes them. */
export interface StoredPrefix {
  ids: Uint32Array;
  /** Numbers of tokens, ascending, after which continuations leave it: a recurrent state is kept there alone. */
  points: readonly number[];
}

/** What may be shared among sequences. */
export interface Sharing {
  /** Fewer equal tokens are computed again; Infinity: nothing is shared. Default: SHORTEST_PREFIX. */
  shortest?: number | undefined;
  /** What a trunk leaves may be kept for other packs (scoring). Otherwise each pack has its own trunk. */
  keep: boolean;
  /** What a branch adds to the size of a pack beside its own tokens, in tokens (`branchTokens`). Default: nothing. */
  branchTokens?: number;
  /** A layer has a recurrent state: kept prefixes are taken up where it was kept. Otherwise after any token. */
  recurrent?: boolean;
  /** Prefixes kept from calls before; wanted: a shared prefix is to be kept for calls after this one. */
  stored?: { prefixes: readonly StoredPrefix[]; wanted: boolean } | undefined;
}

/** Refuses ids that the model does not have, empty prompts, and sequences longer than the model's positions. */
export function checkSequences(sequences: readonly Sequence[], config: ModelConfig, model: string): void {
  for (const [index, { promptIds, responseIds }] of sequences.entries()) {
    if (promptIds.length === 0)
      throw new InputError(`sequence ${index + 1} has an empty prompt; one token is needed`, { file: model });
    const length = promptIds.length + responseIds.length;
    if (length > config.maxPositions)
      throw new InputError(
        `sequence ${index + 1} has ${length} tokens, the model takes ${config.maxPositions} (max_position_embeddings)`,
        { file: model },
      );
    for (const ids of [promptIds, responseIds])
      for (const id of ids)
        if (!Number.isInteger(id) || id < 0 || id >= config.vocabularySize)
          throw new InputError(
            `token id ${id} of sequence ${index + 1} is not in the vocabulary of ${config.vocabularySize}: a tokenizer that does not fit the model`,
            { file: model },
          );
  }
}

/** Below this hidden size a pass takes more tokens, at most MOST_TIMES as many. */
const SMALL_HIDDEN = 512;
const MOST_TIMES = 4;

/** Tokens per pass that keep a device busy: its `packTokens`, or up to four times as many for a small model on a large device. */
export function passTokens(
  { packTokens }: { readonly packTokens: number },
  { hiddenSize }: Pick<ModelConfig, "hiddenSize">,
): number {
  if (packTokens <= 4096) return packTokens;
  return packTokens * Math.min(MOST_TIMES, Math.max(1, Math.floor(SMALL_HIDDEN / hiddenSize)));
}

/** One sequence's place in a pack. */
interface Placed extends Pick<Span, "shared" | "trunk"> {
  index: number;
}

interface Plan {
  placed: Placed[];
  /** Tokens computed, and what branches add to them. */
  size: number;
  from: StoredPrefix | null;
  keep: { trunk: number; prefix: StoredPrefix } | null;
}

/**
 * Splits the sequences into packs of at most `maxTokens` computed tokens, what they share computed once. Sequences
 * without a response need no pass; groups stay in the order of their first sequence. A sequence whose own tokens are
 * more is a pack of its own.
 */
export function makePacks(
  sequences: readonly Sequence[],
  maxTokens: number,
  sharing: Sharing = { keep: false },
): Pack[] {
  const tokens = sequences.map(tokensOf);
  const indices = sequences.flatMap(({ responseIds }, index) => (responseIds.length === 0 ? [] : [index]));
  const shortest = sharing.shortest ?? SHORTEST_PREFIX;
  const plans: Plan[] = [];
  const room = () => (plans.length === 0 ? -1 : maxTokens - plans.at(-1)!.size);
  const open = (from: StoredPrefix | null) => plans.push({ placed: [], size: 0, from, keep: null });
  const own = (index: number, shared: number) =>
    tokens[index]!.ids.length - shared + (shared > 0 ? (sharing.branchTokens ?? 0) : 0);
  const place = (index: number, shared: number, trunk: Placed["trunk"]): number => {
    const plan = plans.at(-1)!;
    plan.size += own(index, shared);
    return plan.placed.push({ index, shared, trunk }) - 1;
  };
  /** Branches of a prefix that already exists, in as many packs as they need. */
  const placeStored = (branches: readonly Branch[], prefix: StoredPrefix) => {
    for (const { index, shared } of branches) {
      const plan = plans.at(-1);
      const fits = own(index, shared) <= room();
      if (plan === undefined || !fits || (plan.from !== null && plan.from !== prefix)) open(prefix);
      plans.at(-1)!.from = prefix;
      place(index, shared, "stored");
    }
  };

  let waiting = groupByPrefix(tokens, indices, shortest);
  while (waiting.length > 0) {
    const [group, ...rest] = waiting as [Group, ...Group[]];
    waiting = rest;
    const stored = bestStored(group, tokens, sharing, shortest);
    if (stored !== null) {
      placeStored(stored.branches, stored.prefix);
      continue;
    }
    const { trunk, branches } = group;
    const size = branches.reduce((sum, { index, shared }) => sum + own(index, shared), own(trunk, 0));
    // A group is not cut only to fill the last pack.
    if (size > room()) open(null);
    const plan = plans.at(-1)!;
    const at = place(trunk, 0, null);
    let next = 0;
    while (next < branches.length) {
      const { index, shared } = branches[next]!;
      if (own(index, shared) > room()) break;
      place(index, shared, at);
      next++;
    }
    const left = branches.slice(next);
    if (left.length > 0 && !sharing.keep) {
      // The others need a trunk in their own pack.
      const [first, ...others] = left.map(({ index }) => index);
      waiting.unshift(groupAround(tokens, first!, others));
      continue;
    }
    if (left.length === 0 && !(branches.length > 0 && sharing.stored?.wanted)) continue;
    // A pack keeps one prefix at most: that of the last group that asks for it.
    const leaving = left.length > 0 ? left : branches.slice(0, 1);
    const points = [...new Set(leaving.map(({ shared }) => shared))].sort((a, b) => a - b);
    const prefix = { ids: tokens[trunk]!.ids.slice(0, points.at(-1)), points };
    plan.keep = { trunk: at, prefix };
    placeStored(left, prefix);
  }
  return plans.map((plan) => makePack(sequences, tokens, plan));
}

/** The group as branches of the stored prefix that saves the most, if that is more than the group saves by itself. */
function bestStored(
  { trunk, branches }: Group,
  tokens: readonly Tokens[],
  sharing: Sharing,
  shortest: number,
): { branches: Branch[]; prefix: StoredPrefix } | null {
  let most = branches.reduce((sum, { shared }) => sum + shared, 0);
  let best: { branches: Branch[]; prefix: StoredPrefix } | null = null;
  for (const prefix of sharing.stored?.prefixes ?? []) {
    const all = [trunk, ...branches.map(({ index }) => index)].map((index) => {
      const common = Math.min(commonLength(prefix.ids, tokens[index]!.ids), tokens[index]!.mostShared);
      const shared = sharing.recurrent ? (prefix.points.findLast((point) => point <= common) ?? 0) : common;
      return { index, shared };
    });
    const saved = all.reduce((sum, { shared }) => sum + shared, 0);
    if (saved <= most || all.some(({ shared }) => shared < shortest)) continue;
    most = saved;
    best = { prefix, branches: all };
  }
  return best;
}

/** All tokens of a sequence that are computed, without its last. */
function tokensOf({ promptIds, responseIds }: Sequence): Tokens {
  const ids = new Uint32Array(promptIds.length + Math.max(0, responseIds.length - 1));
  ids.set(promptIds);
  if (responseIds.length > 1) ids.set(responseIds.slice(0, -1), promptIds.length);
  return { ids, mostShared: promptIds.length - 1 };
}

function makePack(sequences: readonly Sequence[], tokens: readonly Tokens[], plan: Plan): Pack {
  const { placed, from, keep } = plan;
  const total = placed.reduce((sum, { index, shared }) => sum + tokens[index]!.ids.length - shared, 0);
  const cached = from?.ids.length ?? 0;
  const count = ({ index }: Placed) => sequences[index]!.responseIds.length;
  const responses = placed.reduce((sum, entry) => sum + count(entry), 0);
  const shares = placed.some(({ shared }) => shared > 0);
  const pack: Pack = {
    ids: new Uint32Array(total),
    positions: new Uint32Array(total),
    start: new Uint32Array(total),
    end: new Uint32Array(total),
    prefixStart: shares ? new Uint32Array(total) : null,
    prefixEnd: shares ? new Uint32Array(total) : null,
    queryEnd: new Uint32Array(total),
    rows: new Uint32Array(responses),
    targets: new Uint32Array(responses),
    segments: [],
    spans: [],
    tokens: 0,
    cached,
    from,
    keep: null,
  };
  let at = 0;
  let row = 0;
  for (const entry of placed) {
    const { index, shared, trunk } = entry;
    const { promptIds, responseIds } = sequences[index]!;
    const ids = tokens[index]!.ids;
    const length = ids.length - shared;
    pack.spans.push({ first: at, end: at + length, shared, trunk });
    pack.ids.set(ids.subarray(shared), at);
    for (let i = 0; i < length; i++) {
      pack.positions[at + i] = shared + i;
      pack.end[at + i] = cached + at + i + 1;
    }
    pack.start.fill(cached + at, at, at + length);
    pack.queryEnd.fill(at + length, at, at + length);
    if (shared > 0) {
      // The shared tokens' rows begin at the trunk's first row, or at the first key of all.
      const first = trunk === "stored" ? 0 : cached + pack.spans[trunk!]!.first;
      pack.prefixStart!.fill(first, at, at + length);
      pack.prefixEnd!.fill(first + shared, at, at + length);
      if (trunk !== "stored") {
        const trunkRow = pack.spans[trunk!]!.first;
        pack.queryEnd.fill(at + length, trunkRow, trunkRow + shared);
      }
    }
    for (let j = 0; j < responseIds.length; j++) pack.rows[row + j] = at + promptIds.length - shared - 1 + j;
    pack.targets.set(responseIds, row);
    pack.segments.push({ index, row, count: responseIds.length });
    pack.tokens += promptIds.length + responseIds.length;
    at += length;
    row += responseIds.length;
  }
  if (keep !== null) pack.keep = { row: pack.spans[keep.trunk]!.first, prefix: keep.prefix };
  // Rows without a prefix have an empty one, just before their own keys.
  if (pack.prefixStart !== null && pack.prefixEnd !== null)
    for (let i = 0; i < total; i++)
      if (pack.prefixEnd[i] === 0) pack.prefixStart[i] = pack.prefixEnd[i] = pack.start[i]!;
  return pack;
}
