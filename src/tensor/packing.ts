import { InputError } from "../core/errors.ts";
import type { Qwen3Config } from "./config.ts";

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
  /** Bound on the tokens of one pass; a longer sequence is a pass of its own. Default: 4,096, on a CPU 1,024. */
  maxTokensPerPack?: number;
  /** Keep only the input of each layer and compute the rest again on the way back. Default: when memory asks for it. */
  recompute?: boolean;
}

/** Where the response of one sequence lies among the response rows of a pack. */
export interface Segment {
  /** Place in the list of sequences. */
  index: number;
  row: number;
  count: number;
}

/**
 * Several sequences one after the other, without padding. The last token of each is left out: nothing follows it.
 * Arrays are [T], those of rows [R].
 */
export interface Pack {
  ids: Uint32Array;
  /** From 0 within each sequence. */
  positions: Uint32Array;
  /** Keys that a row sees: from the first row of its sequence to itself. */
  start: Uint32Array;
  end: Uint32Array;
  /** Rows that see a key: from itself to the last of its sequence. */
  queryEnd: Uint32Array;
  /** Row of the token before each response token, and that response token. */
  rows: Uint32Array;
  targets: Uint32Array;
  segments: Segment[];
  /** Prompt and response tokens, for progress. */
  tokens: number;
}

/** Refuses ids that the model does not have, empty prompts, and sequences longer than the model's positions. */
export function checkSequences(sequences: readonly Sequence[], config: Qwen3Config, model: string): void {
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

/** Splits the sequences, in order, into packs of at most `maxTokens`. Those without a response need no pass. */
export function makePacks(sequences: readonly Sequence[], maxTokens: number): Pack[] {
  const groups: number[][] = [];
  let size = Infinity;
  for (const [index, { promptIds, responseIds }] of sequences.entries()) {
    if (responseIds.length === 0) continue;
    const length = promptIds.length + responseIds.length - 1;
    if (size + length > maxTokens) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)!.push(index);
    size += length;
  }
  return groups.map((group) => makePack(sequences, group));
}

function makePack(sequences: readonly Sequence[], group: readonly number[]): Pack {
  const lengthOf = ({ promptIds, responseIds }: Sequence) => promptIds.length + responseIds.length - 1;
  const total = group.reduce((sum, index) => sum + lengthOf(sequences[index]!), 0);
  const responses = group.reduce((sum, index) => sum + sequences[index]!.responseIds.length, 0);
  const pack: Pack = {
    ids: new Uint32Array(total),
    positions: new Uint32Array(total),
    start: new Uint32Array(total),
    end: new Uint32Array(total),
    queryEnd: new Uint32Array(total),
    rows: new Uint32Array(responses),
    targets: new Uint32Array(responses),
    segments: [],
    tokens: total + group.length,
  };
  let from = 0;
  let row = 0;
  for (const index of group) {
    const { promptIds, responseIds } = sequences[index]!;
    const length = promptIds.length + responseIds.length - 1;
    pack.ids.set(promptIds, from);
    pack.ids.set(responseIds.slice(0, -1), from + promptIds.length);
    for (let i = 0; i < length; i++) {
      pack.positions[from + i] = i;
      pack.end[from + i] = from + i + 1;
    }
    pack.start.fill(from, from, from + length);
    pack.queryEnd.fill(from + length, from, from + length);
    for (let j = 0; j < responseIds.length; j++) pack.rows[row + j] = from + promptIds.length - 1 + j;
    pack.targets.set(responseIds, row);
    pack.segments.push({ index, row, count: responseIds.length });
    from += length;
    row += responseIds.length;
  }
  return pack;
}
