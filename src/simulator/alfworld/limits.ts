/**
 * What a game file may ask for. A full ALFRED kitchen has 400 objects, 4,000 atoms and 5,000 operators; a file that asks
 * for far more was not written to be played, and is refused before the memory is taken.
 */
export const LIMITS = {
  /** Characters of the domain, the problem or the grammar. */
  text: 8 * 2 ** 20,
  /** How deep expressions nest. */
  depth: 100,
  objects: 20_000,
  /** Arguments of a predicate. */
  arity: 8,
  /** Ground atoms. */
  atoms: 2 ** 20,
  /** Ground operators, before those that can never be applied are dropped. */
  operators: 2 ** 16,
  /** Literals and gates of all ground formulas. */
  formula: 2 ** 20,
  /** Conditions joined by "and" in one precondition or query. */
  conjuncts: 1000,
  /** Conditions that are looked at to find out which operators can ever be applied. */
  reachability: 2 ** 26,
  /** Bindings of variables that are tried while grounding. */
  bindings: 2 ** 23,
  /** Facts that the queries of one text look at, and the symbols it expands. */
  textWork: 2 ** 20,
} as const;
