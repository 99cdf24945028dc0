/** Values by key, those that were used last: the least recently used goes when there are too many. */
export class Lru<V> {
  readonly #most: number;
  /** In the order of their last use. */
  readonly #kept = new Map<string, { value: V; size: number }>();
  #size = 0;

  /** @param most that the sizes of all values may come to; the newest value is kept at any size */
  constructor(most: number) {
    this.#most = most;
  }

  /** The value of a key, which is used by that; undefined where there is none. */
  get(key: string): V | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, found);
    return found.value;
  }

  /** The same, made where there is none. What `make` throws is thrown, and nothing kept. */
  getOrMake(key: string, make: () => V): V {
    const found = this.get(key);
    if (found !== undefined) return found;
    const value = make();
    this.set(key, value);
    return value;
  }

  set(key: string, value: V, size = 1): void {
    this.delete(key);
    this.#kept.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#most || oldest === key) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0;
    this.#kept.delete(key);
  }

  /** Least recently used first. */
  keys(): string[] {
    return [...this.#kept.keys()];
  }
}
