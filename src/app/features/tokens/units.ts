/** Tokens taken together: whole words, or the whole thought and the whole action of a response. */
import type { Compared } from "./comparison.ts";
import { largestChanges } from "./largest-changes.ts";

export const UNITS = ["pieces", "words", "actions"] as const;
export type Unit = (typeof UNITS)[number];

/** What one of them is called. */
export const UNIT_NAMES: Record<Unit, string> = { pieces: "token", words: "word", actions: "part" };

/** The tokens [from, to) of a response, read as one. */
export interface TokenRange {
  from: number;
  to: number;
}

/** Tags and special tokens stand by themselves. */
const TAG = /<\/?[a-z_]+>|<\|[^|<>]*\|>/gi;

/** The response in units, each token in exactly one: of what it reaches into, text before tags, then what is first. */
export function tokenRanges(pieces: readonly string[], unit: Unit): TokenRange[] {
  if (unit === "pieces") return pieces.map((_, from) => ({ from, to: from + 1 }));
  const text = pieces.join("");
  const starts = new Set([0]);
  const tags = new Set<number>();
  for (const { 0: tag, index } of text.matchAll(TAG)) {
    starts.add(index).add(index + tag.length);
    tags.add(index);
  }
  if (unit === "words")
    // A word takes the white space before it along, as tokens do.
    for (const { index } of text.matchAll(/(?<!\s)\s+/g)) starts.add(index);
  const parts = [...starts].sort((a, b) => a - b);
  const ranges: TokenRange[] = [];
  let offset = 0;
  let first = 0;
  let last = -1;
  for (const [at, piece] of pieces.entries()) {
    const end = offset + piece.length;
    while (first + 1 < parts.length && parts[first + 1]! <= offset) first += 1;
    let part = first;
    while (tags.has(parts[part]!) && part + 1 < parts.length && parts[part + 1]! < end) part += 1;
    if (tags.has(parts[part]!)) part = first;
    if (part > last) ranges.push({ from: at, to: at + 1 });
    else ranges.at(-1)!.to = at + 1;
    last = Math.max(last, part);
    offset = end;
  }
  return ranges;
}

/** The response in units, with the log-probabilities of each unit's tokens added up. */
export interface InUnits {
  unit: Unit;
  ranges: readonly TokenRange[];
  /** [units] texts. */
  texts: readonly string[];
  /** The two sides over units: their distributions are of single tokens, and left out of all others. */
  compared: Compared;
  /** [units] the token that moved most in each: the one that is selected with the unit. */
  leads: readonly number[];
}

export function inUnits(pieces: readonly string[], compared: Compared, unit: Unit): InUnits {
  const ranges = tokenRanges(pieces, unit);
  const { deltas } = compared;
  const leads = ranges.map(({ from, to }) =>
    deltas === null ? from : from + (largestChanges(deltas.subarray(from, to))[0] ?? 0),
  );
  if (unit === "pieces") return { unit, ranges, texts: pieces, compared, leads };
  const sums = (values: ArrayLike<number>): Float32Array =>
    Float32Array.from(ranges, (range) => sumOf(values, range));
  const columns = compared.columns.map((side) => ({
    ...side,
    logprobs: sums(side.logprobs),
    distribution: null,
  }));
  const summed = (side: Compared["side"]) => columns.find(({ key }) => key === side.key) ?? side;
  return {
    unit,
    ranges,
    texts: ranges.map(({ from, to }) => pieces.slice(from, to).join("")),
    compared: {
      ...compared,
      columns,
      base: summed(compared.base),
      side: summed(compared.side),
      deltas: deltas && sums(deltas),
    },
    leads,
  };
}

/** "token 4", "tokens 4 to 6" */
export function rangeName({ from, to }: TokenRange): string {
  return to - from === 1 ? `token ${from}` : `tokens ${from} to ${to - 1}`;
}

/** Σ of the values of a unit's tokens. */
export function sumOf(values: ArrayLike<number>, { from, to }: TokenRange): number {
  let sum = 0;
  for (let i = from; i < to; i++) sum += values[i]!;
  return sum;
}

/** Which unit a token is in. */
export function unitOf({ ranges }: Pick<InUnits, "ranges">, token: number): number {
  return ranges.findIndex(({ from, to }) => from <= token && token < to);
}

/** The token that is selected by itself: in the unit that moved most; null where nothing is compared. */
export function mostMoved({ compared: { deltas }, leads }: InUnits): number | null {
  const unit = deltas === null ? undefined : largestChanges(deltas)[0];
  return unit === undefined ? null : leads[unit]!;
}
