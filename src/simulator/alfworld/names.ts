/** How ALFWorld shows the objects of a game. */
import { compareCodePoints } from "../../core/environment/canonical-text.ts";

const SPELLED: readonly [string, string][] = [
  ["_minus_", "-"],
  ["_plus_", "+"],
  ["_dot_", "."],
  ["_comma_", ","],
];

/**
 * Display names of object ids: `cabinet_bar_…` becomes `cabinet 3`. The name is what stands before `_bar_`, with `basin`
 * added where the id holds it (`sink_bar_…_bar_sinkbasin`); among ids of one name, in ascending order, the numbers count
 * down to 1. An id without `_bar_` keeps its text, and ALFWorld puts a blank behind it (`agent1 `).
 */
export function displayNames(ids: Iterable<string>): Map<string, string> {
  const sorted = [...ids].sort(compareCodePoints);
  const left = new Map<string, number>();
  for (const id of sorted) {
    const name = baseName(id);
    if (name !== null) left.set(name, (left.get(name) ?? 0) + 1);
  }
  return new Map(
    sorted.map((id) => {
      const name = baseName(id);
      if (name === null)
        return [id, `${SPELLED.reduce((text, [from, to]) => text.replaceAll(from, to), id)} `];
      const number = left.get(name)!;
      left.set(name, number - 1);
      return [id, `${name} ${number}`];
    }),
  );
}

function baseName(id: string): string | null {
  const end = id.indexOf("_bar_");
  if (end < 0) return null;
  return id.slice(0, end) + (id.includes("basin") ? "basin" : "");
}
