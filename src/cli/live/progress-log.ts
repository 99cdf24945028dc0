/** What was played in a folder so far: killed at any point, a run goes on with it. */
import { closeSync, openSync, readSync } from "node:fs";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { type PlayEvent, type PlayLog, type Progress, withoutIds } from "../../core/loop/index.ts";
import {
  type Attempt,
  attemptSchema,
  type EpisodeDecision,
  episodeDecisionSchema,
} from "../../core/record/schema.ts";
import { LineDecoder, LineSplitter } from "../../formats/lines.ts";
import { checkSchema, parseObject } from "../../formats/read.ts";
import { AppendFile } from "../../node/append-file.ts";
import { isThere, onFileSync } from "../../node/file-error.ts";
import { writeWhole } from "../../node/whole-file.ts";
import { openBytes } from "../io.ts";

const entrySchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("start"), episode: z.string(), initialObservation: z.string() }),
  z.object({ type: z.literal("decision"), episode: z.string(), decision: episodeDecisionSchema }),
  z.object({ type: z.literal("attempt"), episode: z.string(), attempt: attemptSchema }),
  z.object({ type: z.literal("end"), episode: z.string(), record: z.looseObject({}).nullable() }),
]);

type Entry = z.infer<typeof entrySchema>;

/** Where a line stands in the file, in bytes, its line feed included. */
interface LineSpan {
  offset: number;
  bytes: number;
}

interface Begun extends Progress {
  decisions: EpisodeDecision[];
  attempts: Attempt[][];
  /** Its lines. */
  places: LineSpan[];
}

/**
 * An append-only file with one line per event and finished record. Only its own process writes to it. Records stay in
 * the file until they are asked for.
 */
export class ProgressLog implements PlayLog<object> {
  readonly #path: string;
  readonly #begun = new Map<string, Begun>();
  /** Lines of the episodes that have ended. */
  readonly #ended = new Map<string, LineSpan>();
  #file: AppendFile | null = null;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Reads what is there, and writes it again without the events of episodes that have ended. A line that a kill cut
   * short is dropped.
   *
   * @throws InputError for a damaged line
   */
  static async open(path: string): Promise<ProgressLog> {
    const log = new ProgressLog(path);
    if (isThere(path)) {
      await log.#read();
      // Only this run writes here: what a kill left under this name is written over.
      await writeWhole(path, log.#keptLines(), { temporary: `${path}.part` });
    }
    log.#file = new AppendFile(path);
    return log;
  }

  /** How many episodes have ended. */
  get ended(): number {
    return this.#ended.size;
  }

  hasEnded(episode: string): boolean {
    return this.#ended.has(episode);
  }

  /** The record of an ended episode; null where it gave none. */
  record(episode: string): object | null {
    const place = this.#ended.get(episode);
    if (place === undefined) return null;
    const text = new TextDecoder().decode(readAt(this.#path, place));
    const entry = entryOf(text, { file: this.#path });
    return entry.type === "end" ? entry.record : null;
  }

  begun(episode: string): Progress | undefined {
    return this.#begun.get(episode);
  }

  write(event: PlayEvent): void {
    this.#append(event.type === "decision" ? { ...event, decision: withoutIds(event.decision) } : event);
  }

  end(episode: string, record: object | null): void {
    const place = this.#append({ type: "end", episode, record });
    this.#file?.sync();
    this.#begun.delete(episode);
    this.#ended.set(episode, place);
  }

  close(): void {
    this.#file?.close();
    this.#file = null;
  }

  #append(value: object): LineSpan {
    if (this.#file === null) throw new Error("the log is closed");
    return this.#file.append(`${JSON.stringify(value)}\n`);
  }

  async #read(): Promise<void> {
    const splitter = new LineSplitter(this.#path);
    const decoder = new LineDecoder(this.#path);
    // What follows the last line break was cut short: the splitter's rest is not asked for.
    for await (const chunk of openBytes(this.#path)) {
      for (const line of splitter.lines(chunk)) {
        const place = { offset: line.offset, bytes: line.bytes.length + 1 };
        this.#take(entryOf(decoder.decode(line) ?? "", { file: this.#path, line: line.line }), place);
      }
    }
  }

  #take(entry: Entry, place: LineSpan): void {
    const { episode } = entry;
    if (entry.type === "end") {
      this.#begun.delete(episode);
      this.#ended.set(episode, place);
      return;
    }
    if (entry.type === "start") {
      const { initialObservation } = entry;
      // Played again: its first end no longer counts.
      this.#ended.delete(episode);
      this.#begun.set(episode, { initialObservation, decisions: [], attempts: [[]], places: [place] });
      return;
    }
    const begun = this.#begun.get(episode);
    if (begun === undefined) return;
    begun.places.push(place);
    if (entry.type === "attempt") begun.attempts.at(-1)!.push(entry.attempt);
    else {
      begun.decisions.push(entry.decision);
      begun.attempts.push([]);
    }
  }

  /** The lines that count, in their order; each gets the place that it has among them. */
  *#keptLines(): Generator<Uint8Array> {
    const places = [...this.#ended.values(), ...[...this.#begun.values()].flatMap((begun) => begun.places)];
    places.sort((a, b) => a.offset - b.offset);
    let offset = 0;
    for (const place of places) {
      const bytes = readAt(this.#path, place);
      place.offset = offset;
      offset += place.bytes;
      yield bytes;
    }
  }
}

function entryOf(text: string, where: { file: string; line?: number }): Entry {
  return checkSchema(entrySchema, parseObject(text, where), where);
}

function readAt(path: string, { offset, bytes }: LineSpan): Uint8Array {
  return onFileSync(path, "read", () => {
    const all = new Uint8Array(bytes);
    const file = openSync(path, "r");
    try {
      for (let done = 0; done < bytes; ) {
        const read = readSync(file, all, done, bytes - done, offset + done);
        if (read === 0) throw new InputError("became shorter while it was read", { file: path });
        done += read;
      }
    } finally {
      closeSync(file);
    }
    return all;
  });
}
