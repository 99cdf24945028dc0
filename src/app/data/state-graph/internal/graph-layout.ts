/**
 * A layered drawing of G_x. The column of a state is given (its first step, or its least remaining cost); the order
 * inside a column comes from a few barycentre sweeps (Sugiyama, Tagawa and Toda, 1981), which keep most edges short and
 * few of them crossed. Each sweep is linear in states and edges, apart from sorting the columns; of all sweeps the one
 * with the fewest crossings is kept.
 */
import type { GraphLayout } from "../../model.ts";

const SWEEPS = 6;
/** Crossings are counted pair by pair: with more pairs than this side by side the last sweep is taken as it is. */
const MOST_PAIRS = 400_000;

type Edges = readonly { from: number; to: number }[];

/** `column[i]` ≥ 0 for each state; `edges` by index of the states; order inside a column starts by index. */
export function layoutColumns(column: readonly number[], edges: Edges, lead = 0): GraphLayout {
  const columns = column.reduce((most, c) => Math.max(most, c + 1), 0);
  const members: number[][] = Array.from({ length: columns }, () => []);
  column.forEach((c, state) => {
    members[c]!.push(state);
  });
  const rows = members.reduce((most, list) => Math.max(most, list.length), 1);
  const row: number[] = column.map(() => 0);
  const place = (list: readonly number[]): void => {
    list.forEach((state, i) => {
      row[state] = (rows - list.length) / 2 + i;
    });
  };
  members.forEach(place);

  const neighbours: number[][] = column.map(() => []);
  for (const { from, to } of edges) {
    if (column[from] === column[to]) continue;
    neighbours[from]!.push(to);
    neighbours[to]!.push(from);
  }
  const counted = pairsSideBySide(column, columns, edges) <= MOST_PAIRS;
  let best = [...row];
  const count = crossingCounter(column, counted ? edges : []);
  let fewest = counted ? count(row) : Number.POSITIVE_INFINITY;
  const weight = new Float64Array(column.length);
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
    const forwards = sweep % 2 === 0;
    for (let i = 0; i < columns; i++) {
      const c = forwards ? i : columns - 1 - i;
      const list = members[c]!;
      for (const state of list) {
        let sum = 0;
        let near = 0;
        for (const other of neighbours[state]!) {
          if (column[other]! < c !== forwards) continue;
          sum += row[other]!;
          near++;
        }
        weight[state] = near === 0 ? row[state]! : sum / near;
      }
      list.sort((a, b) => weight[a]! - weight[b]! || row[a]! - row[b]!);
      place(list);
    }
    const crossed = counted ? count(row) : -sweep;
    if (crossed < fewest) {
      fewest = crossed;
      best = [...row];
    }
  }
  return { column: [...column], row: best, columns, rows, lead };
}

/** An upper bound of the pairs of edges that share a part of the drawing's width. */
function pairsSideBySide(column: readonly number[], columns: number, edges: Edges): number {
  const begins = new Float64Array(columns + 1);
  const ends = new Float64Array(columns + 1);
  for (const { from, to } of edges) {
    if (from === to) continue;
    begins[Math.min(column[from]!, column[to]!)]!++;
    ends[Math.max(column[from]!, column[to]!)]!++;
  }
  let open = 0;
  let pairs = 0;
  for (let c = 0; c < columns; c++) {
    open -= ends[c]!;
    pairs += begins[c]! * (open + begins[c]! / 2);
    open += begins[c]!;
  }
  return pairs;
}

/** Pairs of edges that cross when all are drawn straight; edges with a common end and self-loops do not count. */
export function crossings(
  { column, row }: { column: readonly number[]; row: readonly number[] },
  edges: Edges,
): number {
  return crossingCounter(column, edges)(row);
}

/** Counts crossings for any rows of the same columns and edges. */
function crossingCounter(column: readonly number[], edges: Edges): (row: readonly number[]) => number {
  const lines = edges
    .filter(({ from, to }) => from !== to)
    .map(({ from, to }) =>
      column[from]! <= column[to]! ? { left: from, right: to } : { left: to, right: from },
    )
    .sort((a, b) => column[a.left]! - column[b.left]!);
  const x0 = Float64Array.from(lines, ({ left }) => column[left]!);
  const x1 = Float64Array.from(lines, ({ right }) => column[right]!);
  const y0 = new Float64Array(lines.length);
  const y1 = new Float64Array(lines.length);
  return (row) => {
    lines.forEach(({ left, right }, i) => {
      y0[i] = row[left]!;
      y1[i] = row[right]!;
    });
    let count = 0;
    for (let i = 0; i < lines.length; i++) {
      const ax = x0[i]!;
      const ay = y0[i]!;
      const bx = x1[i]!;
      const by = y1[i]!;
      for (let j = i + 1; j < lines.length && x0[j]! < bx; j++) {
        const cx = x0[j]!;
        const cy = y0[j]!;
        const dx = x1[j]!;
        const dy = y1[j]!;
        const c = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
        const d = (bx - ax) * (dy - ay) - (by - ay) * (dx - ax);
        if (c * d >= 0) continue;
        const a = (dx - cx) * (ay - cy) - (dy - cy) * (ax - cx);
        const b = (dx - cx) * (by - cy) - (dy - cy) * (bx - cx);
        if (a * b < 0) count++;
      }
    }
    return count;
  };
}

/**
 * Columns by least remaining cost, cost 0 last. States without one are many and would make one very tall column: they
 * are spread by step over as many leading columns as keep the drawing as low as the rest of it.
 */
export function costColumns(states: readonly { cost: number | null; step: number }[]): {
  column: number[];
  lead: number;
} {
  const none = states.map((_, i) => i).filter((i) => states[i]!.cost === null);
  const sizes = new Map<number, number>();
  for (const { cost } of states) if (cost !== null) sizes.set(cost, (sizes.get(cost) ?? 0) + 1);
  const rows = Math.max(8, ...sizes.values());
  const lead = Math.ceil(none.length / rows);
  const largest = Math.max(-1, ...sizes.keys());
  const column = states.map(({ cost }) => (cost === null ? 0 : lead + largest - cost));
  none
    .sort((a, b) => states[a]!.step - states[b]!.step)
    .forEach((state, i) => {
      column[state] = Math.floor((i * lead) / none.length);
    });
  return { column, lead };
}
