import type { Pack, Span } from "./packing.ts";

/** Some rows of a pack as sequences of their own. */
export interface RowsApart {
  rows: number[];
  /** The first of each sequence among them, then their number. */
  offsets: number[];
}

/**
 * How a pack goes through a layer with a recurrent state: the sequences that have all their tokens in the pack first.
 * Where others leave them their state is worked out (`Backend.deltaStates`), and the others, the branches, begin with it.
 * The convolution sees the last inputs before a branch once more.
 */
export interface RecurrencePlan {
  whole: RowsApart;
  branches: RowsApart;
  /** Where whole sequences are left: rows from the first to that place, counted among `whole.rows`. */
  points: { first: number; end: number }[];
  /** The state that each branch begins with: one of the points, or after them one of the stored prefix's points. */
  begin: number[];
  /** The points whose states the pack is to keep. */
  keptPoints: number[];
  /** Place of each row of the pack among those of whole sequences, then branches. */
  back: number[];
  /**
   * Row numbers in what the convolution is given: the pack's own inputs, then those stored for each point of the prefix,
   * then a row of zeros. `start`: the first row of its sequence, of each row; `back`: place of each row of the pack.
   */
  conv: { rows: number[]; start: number[]; back: number[]; kept: number[] };
}

/** @param before rows that the convolution looks back, K − 1 */
export function planRecurrence(pack: Pack, before: number): RecurrencePlan {
  const { spans, keep } = pack;
  const whole = spans.filter(({ shared }) => shared === 0);
  const branches = spans.filter(({ shared }) => shared > 0);
  const apart = { whole: rowsApart(whole), branches: rowsApart(branches) };
  const keptSpan = whole.find(({ first }) => first === keep?.row);
  const kept = keptSpan === undefined ? [] : keep!.prefix.points;

  const points: { span: Span; shared: number; first: number }[] = [];
  for (const [i, span] of whole.entries()) {
    const left = branches.flatMap(({ trunk, shared }) => (trunkOf(spans, trunk) === span ? [shared] : []));
    const all = new Set([...left, ...(span === keptSpan ? kept : [])]);
    for (const shared of [...all].sort((a, b) => a - b))
      points.push({ span, shared, first: apart.whole.offsets[i]! });
  }
  const pointOf = (span: Span | undefined, tokens: number) =>
    points.findIndex((point) => point.span === span && point.shared === tokens);
  const storedPoint = (tokens: number) => pack.from!.points.indexOf(tokens);

  const order = [...apart.whole.rows, ...apart.branches.rows];
  const back = new Array<number>(order.length);
  for (const [i, row] of order.entries()) back[row] = i;
  return {
    ...apart,
    points: points.map(({ first, shared }) => ({ first, end: first + shared })),
    begin: branches.map(({ trunk, shared }) =>
      trunk === "stored" ? points.length + storedPoint(shared) : pointOf(trunkOf(spans, trunk), shared),
    ),
    keptPoints: kept.map((tokens) => pointOf(keptSpan, tokens)),
    back,
    conv: planConvolution(pack, before, storedPoint, keptSpan, kept),
  };
}

function planConvolution(
  { spans, ids, from }: Pack,
  before: number,
  storedPoint: (tokens: number) => number,
  keptSpan: Span | undefined,
  kept: readonly number[],
): RecurrencePlan["conv"] {
  const zeros = ids.length + (from?.points.length ?? 0) * before;
  /** The inputs before token `at` of what a trunk begins with. */
  const inputs = (trunk: Span | undefined, at: number) =>
    Array.from({ length: before }, (_, i) => {
      if (trunk === undefined) return ids.length + storedPoint(at) * before + i;
      const token = at - before + i;
      return token < 0 ? zeros : trunk.first + token;
    });
  const [rows, start, back]: [number[], number[], number[]] = [[], [], []];
  for (const span of spans) {
    const first = rows.length;
    if (span.shared > 0) rows.push(...inputs(trunkOf(spans, span.trunk), span.shared));
    for (let row = span.first; row < span.end; row++) back.push(rows.push(row) - 1);
    while (start.length < rows.length) start.push(first);
  }
  return { rows, start, back, kept: kept.flatMap((tokens) => inputs(keptSpan, tokens)) };
}

/** The sequence of the pack that a branch leaves; undefined for one that leaves the stored prefix, or none. */
function trunkOf(spans: readonly Span[], trunk: Span["trunk"]): Span | undefined {
  return typeof trunk === "number" ? spans[trunk] : undefined;
}

function rowsApart(spans: readonly Span[]): RowsApart {
  const rows: number[] = [];
  const offsets = [0];
  for (const { first, end } of spans) {
    for (let row = first; row < end; row++) rows.push(row);
    offsets.push(rows.length);
  }
  return { rows, offsets };
}
