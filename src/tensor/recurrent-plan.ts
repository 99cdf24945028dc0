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
   * then a row of zeros. `start`, `end`: the first row of its sequence and the one after the last, of each row; `back`:
   * place of each row of the pack.
   */
  conv: { rows: number[]; start: number[]; end: number[]; back: number[]; kept: number[] };
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

/** A call of the delta rule on the way back: from which row of which tensor each of its rows comes. */
export interface BackwardRows {
  /** Among the pack's rows, then dk rows of the identity, then one of zeros. */
  q: number[];
  k: number[];
  /** Of v and of the errors: among the pack's rows, then dk rows of each state, then one of zeros. */
  v: number[];
  o: number[];
  /** Among the pack's rows, then one of zeros. */
  dout: number[];
  /** Among the pack's rows, then those of a row that reads a state and of one that writes it. */
  gates: number[];
  /** The first row of each sequence, then their number. */
  offsets: number[];
}

/**
 * The way back through the delta rule where branches begin with a state that another sequence has in its middle. Rows of
 * their own write and read such a state S, so that its gradient S̄ goes through the rule as those of all rows do:
 *
 *   before a branch, dk rows with k = e_i, v = S[i,:], β = 1 and q = 0 make S out of nothing; then v̄ of row i is S̄[i,:];
 *   where branches leave a sequence, dk rows with q = e_i, β = 0 and k = v = 0 have o = S[i,:], and take S̄[i,:] as ō.
 *
 * With g = 0, neither changes anything else.
 */
export interface BackwardPlan {
  branches: BackwardRows;
  whole: BackwardRows;
  /** Rows of `branches` that write, and the rows of `whole` that read the same row of the same state. */
  written: number[];
  read: number[];
  /** Place of each row of the pack among the rows of `whole`, then `branches`. */
  back: number[];
}

/** @param keySize dk */
export function planRecurrenceBackward(pack: Pack, plan: RecurrencePlan, keySize: number): BackwardPlan {
  const tokens = pack.ids.length;
  const zeros = { key: tokens + keySize, value: tokens + plan.points.length * keySize, dout: tokens };
  const begin = (): BackwardRows => ({ q: [], k: [], v: [], o: [], dout: [], gates: [], offsets: [0] });
  const [whole, branches] = [begin(), begin()];
  const add = (to: BackwardRows, q: number, k: number, v: number, o: number, dout: number, gates: number) => {
    to.k.push(k);
    to.v.push(v);
    to.o.push(o);
    to.dout.push(dout);
    to.gates.push(gates);
    return to.q.push(q) - 1;
  };
  const back = new Array<number>(tokens);
  const component = Array.from({ length: keySize }, (_, i) => i);
  /** Place of the first row that reads each point's state. */
  const reads: number[] = [];

  const { rows, offsets } = plan.whole;
  for (const [s, first] of offsets.slice(0, -1).entries()) {
    for (let i = first; i < offsets[s + 1]!; i++) {
      const row = rows[i]!;
      back[row] = add(whole, row, row, row, row, row, row);
      const point = plan.points[reads.length];
      if (point?.first !== first || point.end !== i + 1) continue;
      const state = tokens + reads.push(whole.q.length) * keySize - keySize;
      for (const c of component)
        add(whole, tokens + c, zeros.key, zeros.value, state + c, zeros.dout, tokens);
    }
    whole.offsets.push(whole.q.length);
  }
  const [written, read]: [number[], number[]] = [[], []];
  for (const [b, point] of plan.begin.entries()) {
    for (const c of component) {
      const state = tokens + point * keySize + c;
      written.push(add(branches, zeros.key, tokens + c, state, zeros.value, zeros.dout, tokens + 1));
      read.push(reads[point]! + c);
    }
    for (const row of plan.branches.rows.slice(plan.branches.offsets[b], plan.branches.offsets[b + 1]))
      back[row] = whole.q.length + add(branches, row, row, row, row, row, row);
    branches.offsets.push(branches.q.length);
  }
  return { whole, branches, written, read, back };
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
  const rows = convolutionRows(
    spans.map(({ first, end, shared, trunk }) => ({
      ...{ first, end },
      before: shared > 0 ? inputs(trunkOf(spans, trunk), shared) : [],
    })),
  );
  return { ...rows, kept: kept.flatMap((tokens) => inputs(keptSpan, tokens)) };
}

/**
 * Row numbers in what a convolution is given, for rows `first` … `end` − 1 of each sequence behind the rows `before`; see
 * `RecurrencePlan`.
 */
export function convolutionRows(
  sequences: readonly { before: readonly number[]; first: number; end: number }[],
): Omit<RecurrencePlan["conv"], "kept"> {
  const [rows, start, end, back]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const sequence of sequences) {
    const first = rows.length;
    rows.push(...sequence.before);
    for (let row = sequence.first; row < sequence.end; row++) back.push(rows.push(row) - 1);
    while (start.length < rows.length) {
      start.push(first);
      end.push(rows.length);
    }
  }
  return { rows, start, end, back };
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
