/** A launched run in words, and its output as a person or a program reads it. */
import { z } from "zod";
import type { TrainEvent } from "../../core/loop/events.ts";
import { plainText } from "../../core/plain-text.ts";
import { workEvent } from "../../protocol/loop-event.ts";
import type { RunStatus } from "../../worker/launch/launcher.ts";
import type { RunRecord } from "../../worker/launch/run-record.ts";
import { cost, describeState } from "../../worker/launch/run-words.ts";
import type { ProgressFormat } from "../engine/options.ts";
import { printLine, progress } from "../io.ts";
import { describeEvent } from "../train/describe-event.ts";

/**
 * What a run does, in one line, and its latest event in another.
 *
 * @param times whether to tell what grows with every question, and the latest event
 */
export function describeRun(record: RunRecord, status: RunStatus, { times = true } = {}): string {
  const event = times ? lastEvent(status) : null;
  return [describeState(record, status, { times }), ...(event === null ? [] : [`  ${event}`])].join("\n");
}

/** The same for a program. */
export function runRecord(record: RunRecord, status: RunStatus): unknown {
  const { output: _output, log: _log, ...said } = status;
  const spent = cost(record, status);
  return {
    ...record,
    status: {
      ...said,
      gpu_hours: spent?.gpuHours ?? null,
      price: spent?.price ?? null,
      event: lastEvent(status),
    },
  };
}

/** The latest event that says something to a person, else the last line of the log. */
function lastEvent({ output, log }: RunStatus): string | null {
  const lines = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trimEnd().split("\n");
  for (const line of lines(output.bytes).reverse()) {
    const said = workText(line) ?? eventText(line);
    if (said !== null) return said.trim();
  }
  return lines(log.bytes).at(-1)?.trim() || null;
}

const eventSchema = z.custom<TrainEvent>(
  (value) => typeof value === "object" && value !== null && "type" in value,
);

/** Null for an event that says nothing on a terminal. A line of another version of the program stays as it is. */
function eventText(line: string): string | null {
  try {
    const event = eventSchema.safeParse(JSON.parse(line));
    // Its type was not checked: undefined for one that is not known here.
    return event.success ? (describeEvent(event.data, "gcopd launch resume") ?? null) : line;
  } catch {
    return line === "" ? null : line;
  }
}

/** How far the present step is; null for every other line. */
function workText(line: string): string | null {
  if (!line.includes('"work"')) return null;
  try {
    const work = workEvent.safeParse(JSON.parse(line));
    return work.success
      ? `${work.data.what}: ${work.data.done} of ${work.data.total} ${work.data.unit}`
      : null;
  } catch {
    return null;
  }
}

/** Prints whole lines of a run's standard output, for a person or as they are. */
export class EventLines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(readonly format: ProgressFormat) {}

  print(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  /** The attempt is over: its last line may have no end. */
  end(): void {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = "";
    if (rest !== "") this.#line(rest);
  }

  #line(line: string): void {
    const text = this.format === "json" ? line : eventText(line);
    if (text !== null) (this.format === "json" ? printLine : progress)(text);
  }
}

/** Prints a run's standard error with nothing left in it that a terminal would obey. */
export class LogText {
  readonly #decoder = new TextDecoder();

  print(bytes: Uint8Array): void {
    process.stderr.write(plainText(this.#decoder.decode(bytes, { stream: true })));
  }
}
