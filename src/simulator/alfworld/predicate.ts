/** Predicates over objects with integer ids. */

/** A predicate and its ground atoms. */
export class Predicate {
  /** Atoms by their arguments, read as digits of one number. */
  readonly #ids = new Map<number, number>();
  /** Arguments of the facts at the start. */
  readonly facts: Int32Array[] = [];
  readonly #byArgument: (Int32Array[] | undefined)[][] = [];
  /** Number of different objects in each place. */
  readonly #distinct: (number | undefined)[] = [];

  constructor(
    readonly name: string,
    /** Whether any action changes it. */
    readonly fluent: boolean,
    readonly arity: number,
    private readonly base: number,
  ) {}

  find(terms: ArrayLike<number>): number | undefined {
    return this.#ids.get(this.#key(terms));
  }

  set(terms: ArrayLike<number>, atom: number): void {
    this.#ids.set(this.#key(terms), atom);
  }

  #key(terms: ArrayLike<number>): number {
    let key = 0;
    for (let i = 0; i < terms.length; i++) key = key * this.base + terms[i]!;
    return key;
  }

  /** Facts at the start with an object in one place. Called when all facts are in. */
  factsWith(place: number, object: number): readonly Int32Array[] {
    let lists = this.#byArgument[place];
    if (lists === undefined) {
      lists = [];
      for (const fact of this.facts) {
        const at = fact[place]!;
        lists[at] ??= [];
        lists[at].push(fact);
      }
      this.#byArgument[place] = lists;
    }
    return lists[object] ?? [];
  }

  /** About how many facts agree with given objects in some places. Called when all facts are in. */
  estimate(places: readonly number[]): number {
    let distinct = 1;
    for (const place of places) {
      this.#distinct[place] ??= new Set(this.facts.map((fact) => fact[place])).size;
      distinct = Math.max(distinct, this.#distinct[place]);
    }
    return this.facts.length / distinct;
  }
}

/** Lists of objects in ascending order of their names. */
export function compareArguments(a: Int32Array, b: Int32Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}
