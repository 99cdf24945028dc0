import type { PlayEvent } from "./live-episode.ts";
import type { PlayLog } from "./play-planned.ts";

/** A log of ended episodes in memory. What was begun and did not end is not kept: it begins again. */
export class MemoryLog<R extends object> implements PlayLog<R> {
  readonly #ended: Map<string, R | null>;
  readonly #onEnd: (episode: string, record: R | null) => void | Promise<void>;

  /**
   * @param ended what was played before, by episode
   * @param onEnd called with each further end
   */
  constructor(
    ended: Iterable<readonly [string, R | null]> = [],
    onEnd: (episode: string, record: R | null) => void | Promise<void> = () => undefined,
  ) {
    this.#ended = new Map(ended);
    this.#onEnd = onEnd;
  }

  get ended(): number {
    return this.#ended.size;
  }

  hasEnded(episode: string): boolean {
    return this.#ended.has(episode);
  }

  begun(): undefined {
    return undefined;
  }

  write(event: PlayEvent): void {
    // Played again: its first end no longer counts.
    if (event.type === "start") this.#ended.delete(event.episode);
  }

  end(episode: string, record: R | null): void | Promise<void> {
    this.#ended.set(episode, record);
    return this.#onEnd(episode, record);
  }

  /** The records of these episodes, in their order; those that gave none are passed over. */
  records(planned: readonly { id: string }[]): R[] {
    return planned.flatMap(({ id }) => this.#ended.get(id) ?? []);
  }
}
