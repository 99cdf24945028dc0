/** The one component of its kind that is on the screen, for keys and buttons elsewhere on the page. */
export class Shown<T> {
  #present: T | null = null;
  #waiting: ((shown: T) => void) | null = null;

  /** Null while none is drawn. */
  get present(): T | null {
    return this.#present;
  }

  /** Makes a component the shown one. Returns the undo, which leaves a later one alone. */
  show(component: T): () => void {
    this.#present = component;
    this.#waiting?.(component);
    this.#waiting = null;
    return () => {
      if (this.#present === component) this.#present = null;
    };
  }

  /** Calls back with the shown one: at once, or when the next one is drawn. The latest question counts. */
  whenShown(callback: (shown: T) => void): void {
    this.#waiting = this.#present === null ? callback : null;
    if (this.#present !== null) callback(this.#present);
  }
}
