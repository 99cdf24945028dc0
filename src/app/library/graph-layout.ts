/**
 * A layered drawing of G_x. The column of a state is given (its first step, or its least remaining cost); the order
 * inside a column comes from a few barycentre sweeps, which keeps most edges short and few of them crossed.
 * Linear in states and edges for each sweep: 500 states with 1,000 edges take a few milliseconds.
 */
import type { GraphLayout } from "../model.ts";

const SWEEPS = 6;

/** `column[i]` ≥ 0 for each state; `edges` by index of the states; order inside a column starts by index. */
export function layoutColumns(
  column: readonly number[],
  edges: readonly { from: number; to: number }[],
  lead = 0,
): GraphLayout {
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
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const forwards = sweep % 2 === 0;
    for (let i = 0; i < columns; i++) {
      const c = forwards ? i : columns - 1 - i;
      const list = members[c]!;
      const weight = new Map<number, number>();
      for (const state of list) {
        const near = neighbours[state]!.filter((other) => column[other]! < c === forwards);
        const used = near.length > 0 ? near : [state];
        weight.set(state, used.reduce((sum, other) => sum + row[other]!, 0) / used.length);
      }
      list.sort((a, b) => weight.get(a)! - weight.get(b)! || a - b);
      place(list);
    }
  }
  return { column: [...column], row, columns, rows, lead };
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
