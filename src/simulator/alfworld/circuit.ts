/**
 * The truth of many conditions over a set of atoms, kept up to date as single atoms change. Conditions become gates that
 * count how many of their parts hold; a change runs upward only through gates that flip.
 */
import type { Condition } from "./condition.ts";

export class Circuit {
  readonly #atoms: number;
  /** Parts that must hold: all of a conjunction, one of a disjunction. Literals are nodes `2 · atom` and one more. */
  readonly #need: Int32Array;
  /** Gates above node n: `#above` from `#first[n]` up to `#first[n + 1]`. */
  readonly #first: Int32Array;
  readonly #above: Int32Array;
  /** Roots listed at a node: `#roots` from `#firstRoot[n]`. */
  readonly #firstRoot: Int32Array;
  readonly #roots: Int32Array;
  /** Node of each root. */
  readonly nodes: Int32Array;

  /** @param roots the conditions; roots that are always true or false are gates without parts */
  constructor(atoms: number, roots: readonly Condition[]) {
    this.#atoms = atoms;
    const need: number[] = new Array(2 * atoms).fill(1);
    const below: number[] = [];
    const above: number[] = [];
    const place = (condition: Condition): number => {
      if (typeof condition === "number") return condition;
      const node = need.length;
      // A disjunction without parts never holds: it needs one part and has none.
      need.push(condition.every ? condition.parts.length : 1);
      for (const part of condition.parts) {
        below.push(place(part));
        above.push(node);
      }
      return node;
    };
    this.nodes = Int32Array.from(roots, place);
    this.#need = Int32Array.from(need);
    [this.#first, this.#above] = lists(need.length, below, above);
    [this.#firstRoot, this.#roots] = lists(need.length, this.nodes, [...this.nodes.keys()]);
  }

  /** A state in which no atom holds. */
  start(): CircuitState {
    const have = new Int32Array(this.#need.length);
    for (let atom = 0; atom < this.#atoms; atom++) this.#change(have, 2 * atom + 1, 1, ignore);
    return { have };
  }

  holds(state: CircuitState, root: number): boolean {
    const node = this.nodes[root]!;
    return state.have[node]! >= this.#need[node]!;
  }

  /** Whether an atom holds. */
  has(state: CircuitState, atom: number): boolean {
    return state.have[2 * atom] === 1;
  }

  set(
    state: CircuitState,
    atom: number,
    holds: boolean,
    onRoot: (root: number, holds: boolean) => void,
  ): void {
    if (this.has(state, atom) === holds) return;
    this.#change(state.have, 2 * atom, holds ? 1 : -1, onRoot);
    this.#change(state.have, 2 * atom + 1, holds ? -1 : 1, onRoot);
  }

  #change(have: Int32Array, node: number, by: number, onRoot: (root: number, holds: boolean) => void): void {
    const before = have[node]!;
    have[node] = before + by;
    const need = this.#need[node]!;
    const holds = before + by >= need;
    if (holds === before >= need) return;
    for (let i = this.#firstRoot[node]!; i < this.#firstRoot[node + 1]!; i++) onRoot(this.#roots[i]!, holds);
    for (let i = this.#first[node]!; i < this.#first[node + 1]!; i++)
      this.#change(have, this.#above[i]!, by, onRoot);
  }
}

/** How many parts of each node hold. */
export interface CircuitState {
  have: Int32Array;
}

function ignore(): void {}

/** Values by key, as one array and the place where each key's begin: `values[i]` belongs to `keys[i]`. */
function lists(
  keys: number,
  keyOf: ArrayLike<number>,
  values: ArrayLike<number>,
): [first: Int32Array, values: Int32Array] {
  const first = new Int32Array(keys + 1);
  for (let i = 0; i < keyOf.length; i++) first[keyOf[i]! + 1]! += 1;
  for (let key = 0; key < keys; key++) first[key + 1]! += first[key]!;
  const next = first.slice();
  const sorted = new Int32Array(keyOf.length);
  for (let i = 0; i < keyOf.length; i++) {
    const key = keyOf[i]!;
    sorted[next[key]!] = values[i]!;
    next[key]! += 1;
  }
  return [first, sorted];
}
