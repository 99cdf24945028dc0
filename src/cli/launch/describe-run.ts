/** A launched run in words, and its output as a person or a program reads it. */
import { z } from "zod";
import type { TrainEvent } from "../../core/loop/events.ts";
import { plainText } from "../../core/plain-text.ts";
import type { RunStatus } from "../../worker/launch/launcher.ts";
import type { RunRecord } from "../../worker/launch/runs.ts";
import type { ProgressFormat } from "../engine/options.ts";
import { printLine, progress } from "../io.ts";
import { describeEvent } from "../train/describe-event.ts";

/** GPU-hours of the attempt, and their price where the target names one; null where it names no GPUs. */
function cost(
  { target }: RunRecord,
  { seconds }: RunStatus,
): { gpuHours: number; price: number | null } | null {
  const { gpus, price_per_gpu_hour: price } = target.is;
  if (gpus === undefined || seconds === null) return null;
  const gpuHours = (gpus * seconds) / 3600;
  return { gpuHours, price: price === undefined ? null : gpuHours * price };
}

/**
 * What a run does, in one line; a state that was heard earlier is told with its time and never as a failure.
 *
 * @param times whether to tell what grows with every question, and the latest event
 */
export function describeRun(record: RunRecord, status: RunStatus, { times = true } = {}): string {
  const { target, attempt, last, submitted_at: submitted } = record;
  const spent = cost(record, status);
  const { seconds } = status;
  const parts = [
    `${target.name}, attempt ${attempt}: ${inWords(record, status)}`,
    ...(times && seconds !== null ? [`${duration(seconds)}`] : []),
    ...(times && spent !== null
      ? [
          `${spent.gpuHours.toFixed(2)} GPU-hours${spent.price === null ? "" : `, ${spent.price.toFixed(2)} at your price`}`,
        ]
      : []),
    ...(status.expected !== null && status.state === "queued"
      ? [`expected to start ${status.expected}`]
      : []),
    ...(status.reason !== null && status.state !== "ended" ? [status.reason] : []),
    ...(status.state === "unreachable"
      ? [
          last === null
            ? submitted === null
              ? "it may not have been submitted: gcopd launch resume does, once"
              : "nothing was heard of it since it was submitted"
            : `not reached since ${last.at}, when it was ${last.state}`,
        ]
      : []),
  ];
  const event = times ? lastEvent(status) : null;
  return [parts.join("; "), ...(event === null ? [] : [`  ${event}`])].join("\n");
}

function inWords({ submitted_at: submitted }: RunRecord, { state, code, asked }: RunStatus): string {
  switch (state) {
    case "queued":
      return "waiting in the queue";
    case "running":
      return asked === null
        ? "running"
        : asked === "stop"
          ? "running, asked to end after its step"
          : "running, asked to end now";
    case "ended":
      if (code === 0) return "done";
      if (asked === "stop") return `stopped (exit code ${code})`;
      if (asked === "cancel") return `cancelled (exit code ${code})`;
      // What a shell says of SIGINT, SIGKILL and SIGTERM.
      if (code === 130 || code === 137 || code === 143)
        return `ended by a signal, exit code ${code} (a time limit, a kill or a shutdown); gcopd launch resume continues it`;
      return `failed with exit code ${code}`;
    case "lost":
      return asked === "cancel"
        ? "cancelled before it could leave its exit code"
        : "gone without an exit code (killed, or the machine went down); gcopd launch resume continues it from its last checkpoint";
    case "never":
      if (asked !== null) return `${asked === "stop" ? "stopped" : "cancelled"} before it began`;
      return submitted === null
        ? "not submitted; gcopd launch resume does"
        : "not begun; gcopd launch resume submits it again";
    case "unreachable":
      return "not reached";
  }
}

function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (seconds < 60) return `${seconds} s`;
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes} min`;
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
    return event.success ? (describeEvent(event.data) ?? null) : line;
  } catch {
    return line === "" ? null : line;
  }
}

const workSchema = z.object({
  type: z.literal("work"),
  what: z.string(),
  done: z.number(),
  total: z.number(),
  unit: z.string(),
});

/** How far the present step is; null for every other line. */
function workText(line: string): string | null {
  if (!line.includes('"work"')) return null;
  try {
    const work = workSchema.safeParse(JSON.parse(line));
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

/** Prints a run's standard error, of which no character is obeyed by a terminal. */
export class LogText {
  readonly #decoder = new TextDecoder();

  print(bytes: Uint8Array): void {
    process.stderr.write(plainText(this.#decoder.decode(bytes, { stream: true })));
  }
}
