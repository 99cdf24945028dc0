/** Differences in the form that all environments use. */

/** One difference, from the left state to the right one. */
export interface StateChange {
  /** Where in the state, outermost first: an object and its property, a fact, a field of the page. */
  at: string[];
  /** `moved`: the object is inside another one; `left` and `right` name the two. */
  kind: "added" | "removed" | "changed" | "moved";
  /** What is there on each side; null where nothing is. */
  left: string | null;
  right: string | null;
}

/** Differences of two flat records, by name. */
export function entryChanges(
  at: readonly string[],
  left: Readonly<Record<string, string>>,
  right: Readonly<Record<string, string>>,
): StateChange[] {
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
  return names.flatMap((name): StateChange[] => {
    const before = Object.hasOwn(left, name) ? left[name]! : null;
    const after = Object.hasOwn(right, name) ? right[name]! : null;
    if (before === after) return [];
    const kind = before === null ? "added" : after === null ? "removed" : "changed";
    return [{ at: [...at, name], kind, left: before, right: after }];
  });
}
