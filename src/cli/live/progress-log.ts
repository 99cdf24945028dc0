/** What was played in a folder so far: killed at any point, a run goes on with it. */
import { readFileSync } from "node:fs";
import type { PlayEvent, Progress } from "../../core/loop/index.ts";
import type { Attempt, EpisodeDecision } from "../../core/record/schema.ts";
import { AppendFile } from "../../node/append-file.ts";
import { onFileSync } from "../../node/file-error.ts";
import { writeWholeSync } from "../../node/whole-file.ts";

type Entry<R> = PlayEvent | { type: "end"; episode: string; record: R | null };

interface Begun extends Progress {
  decisions: EpisodeDecision[];
  attempts: Attempt[][];
}

/** An append-only file with one line per decision, attempt and finished record. Only its own process writes to it. */
export class ProgressLog<R> {
  readonly #file: AppendFile;
  readonly #begun = new Map<string, Begun>();
  readonly #ended = new Map<string, R | null>();

  /** Reads what is there; a line that a kill cut short is dropped. */
  constructor(path: string) {
    const entries = readEntries<R>(path);
    for (const entry of entries) this.#take(entry);
    writeWholeSync(path, entries.map(line).join(""), { temporary: `${path}.part` });
    this.#file = new AppendFile(path);
  }

  /** Episodes that have ended. */
  get ended(): number {
    return this.#ended.size;
  }

  hasEnded(episode: string): boolean {
    return this.#ended.has(episode);
  }

  /** The record of an ended episode; null where it gave none. */
  record(episode: string): R | null {
    return this.#ended.get(episode) ?? null;
  }

  begun(episode: string): Progress | undefined {
    return this.#begun.get(episode);
  }

  write(event: PlayEvent): void {
    this.#file.append(
      line(event.type === "decision" ? { ...event, decision: withoutIds(event.decision) } : event),
    );
  }

  end(episode: string, record: R | null): void {
    this.#file.append(line({ type: "end", episode, record }));
    this.#file.sync();
    this.#take({ type: "end", episode, record });
  }

  close(): void {
    this.#file.close();
  }

  #take(entry: Entry<R>): void {
    const { episode } = entry;
    const begun = this.#begun.get(episode);
    if (entry.type === "end") {
      this.#begun.delete(episode);
      this.#ended.set(episode, entry.record);
    } else if (entry.type === "start") {
      const { initialObservation } = entry;
      // Played again: its first end no longer counts.
      this.#ended.delete(episode);
      this.#begun.set(episode, { initialObservation, decisions: [], attempts: [[]] });
    } else if (entry.type === "attempt") begun?.attempts.at(-1)?.push(entry.attempt);
    else {
      begun?.decisions.push(entry.decision);
      begun?.attempts.push([]);
    }
  }
}

/** A decision with its texts: the ids and log-probabilities of a record that nobody trains on are left out. */
export function withoutIds(decision: EpisodeDecision): EpisodeDecision {
  const { prompt_ids: _, response_ids: __, rollout_logprobs: ___, ...rest } = decision;
  return rest;
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

function readEntries<R>(path: string): Entry<R>[] {
  const text = onFileSync(path, "read", () => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
      throw error;
    }
  });
  // What follows the last line break was cut short.
  return text
    .split("\n")
    .slice(0, -1)
    .map((each) => JSON.parse(each) as Entry<R>);
}
