/** events.jsonl and metrics.jsonl of a run: each step once, whatever happened between. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import type { TrainEvent } from "../../core/loop/events.ts";
import { AppendFile } from "../../node/append-file.ts";
import { onFileSync } from "../../node/file-error.ts";
import { writeWholeSync } from "../../node/whole-file.ts";

/** An append-only JSON Lines file that can be cut back to a step. */
class StepLines {
  #file: AppendFile | null = null;

  constructor(
    private readonly path: string,
    /** Where an object belongs: it stays when a run continues from a checkpoint of that step or a later one. */
    private readonly stepOf: (value: Record<string, unknown>) => number,
  ) {}

  /**
   * Keeps the lines of steps up to `step` and adds `more`, in one atomic move; lines cut short by a kill are dropped.
   */
  open(step: number, more: readonly object[] = []): void {
    this.close();
    const kept = readLines(this.path).filter((value) => this.stepOf(value) <= step);
    // Only this run writes here: what a kill left under this name is written over.
    writeWholeSync(this.path, [...kept, ...more].map(line).join(""), { temporary: `${this.path}.part` });
    this.#file = new AppendFile(this.path);
  }

  append(value: object): void {
    this.#file?.append(line(value));
  }

  sync(): void {
    this.#file?.sync();
  }

  close(): void {
    const file = this.#file;
    this.#file = null;
    file?.close();
  }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** The whole lines of a file that are JSON; none where there is no file. */
export function readLines(path: string): Record<string, unknown>[] {
  const text = onFileSync(path, "read", () => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
      throw error;
    }
  });
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as Record<string, unknown>];
    } catch {
      return [];
    }
  });
}

const spentSchema = z.object({
  type: z.string(),
  time: z.iso.datetime(),
  spent: z.number().min(0).optional(),
  seconds: z.number().min(0).optional(),
});

/**
 * What a run has taken by its events: the seconds that its latest start tells, those from there to its last event, and
 * the seconds of each of its steps.
 */
export function timeTaken(eventsPath: string): { spent: number; steps: number[] } {
  let [spent, began] = [0, 0];
  let latest = 0;
  const steps: number[] = [];
  for (const value of readLines(eventsPath)) {
    const event = spentSchema.safeParse(value).data;
    if (event === undefined) continue;
    const time = Date.parse(event.time) / 1000;
    if (event.type === "start") [spent, began] = [event.spent ?? spent + latest - began, time];
    if (event.type === "updated" && event.seconds !== undefined) steps.push(event.seconds);
    // A clock that was set back takes nothing away.
    latest = Math.max(event.type === "start" ? time : latest, time);
  }
  return { spent: spent + latest - began, steps };
}

/**
 * Writes every event with its time to events.jsonl and each step's figures to metrics.jsonl. A continued run first
 * drops what came after its checkpoint: those steps are taken again.
 */
export class EventLog {
  readonly #events: StepLines;
  readonly #metrics: StepLines;
  /** The step that an event without one belongs to. */
  #step = 0;

  constructor(eventsPath: string, metricsPath: string) {
    // A run that goes on after the very step of an evaluation or a look tells it again, or makes it again.
    const stepOf = ({ type, step }: Record<string, unknown>) =>
      typeof step === "number" ? (type === "evaluated" || type === "held-out" ? step + 1 : step) : 0;
    this.#events = new StepLines(eventsPath, stepOf);
    this.#metrics = new StepLines(metricsPath, stepOf);
  }

  write(event: TrainEvent): void {
    if (event.type === "start") {
      this.#step = event.resumedFrom ?? event.parent?.step ?? 0;
      // What the run has taken is told by its start: it must not be cut off before that is written.
      this.#events.open(this.#step, [this.#timed(event)]);
      this.#metrics.open(this.#step);
      return;
    }
    if ("step" in event) this.#step = event.step;
    this.#events.append(this.#timed(event));
    if (event.type === "updated") {
      const { step, stage, epoch, batch, metrics, seconds, tokensPerSecond } = event;
      this.#metrics.append({ step, stage, epoch, batch, ...metrics, seconds, tokensPerSecond });
      // Before the step's checkpoint: a run that goes on from there has the lines of all steps up to it.
      this.#events.sync();
      this.#metrics.sync();
    }
  }

  #timed(event: TrainEvent): object {
    return { time: new Date().toISOString(), step: this.#step, ...event };
  }

  close(): void {
    try {
      this.#events.close();
    } finally {
      this.#metrics.close();
    }
  }
}
