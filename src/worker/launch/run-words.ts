/** A launched run in words, for the command line and the page. */
import { BUDGET_EXIT_CODE } from "../../core/loop/budget.ts";
import { SIGNAL_EXIT_CODES } from "../../protocol/job-state.ts";
import type { RunStatus } from "./launcher.ts";
import type { RunRecord } from "./run-record.ts";

/** GPU-hours of the attempt, and their price where the target names one; null where it names no GPUs. */
export function cost(
  { target }: Pick<RunRecord, "target">,
  { seconds }: Pick<RunStatus, "seconds">,
): { gpuHours: number; price: number | null } | null {
  const { gpus, price_per_gpu_hour: price } = target.is;
  if (gpus === undefined || seconds === null) return null;
  const gpuHours = (gpus * seconds) / 3600;
  return { gpuHours, price: price === undefined ? null : gpuHours * price };
}

/** What is asked of a target beside the output. */
export type Said = Omit<RunStatus, "output" | "log">;

/**
 * What a run does, in one line; a state that was heard earlier is told with its time and never as a failure.
 *
 * @param times whether to tell what grows with every question
 */
export function describeState(record: RunRecord, status: Said, { times = true } = {}): string {
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
              ? "it may not have been submitted; gcopd launch resume submits it, at most once"
              : "no word from it since it was submitted"
            : `not reached since ${last.at}, when it was ${last.state}`,
        ]
      : []),
  ];
  return parts.join("; ");
}

/** Its state alone. @param resume what lets it go on */
export function inWords(
  { submitted_at: submitted }: Pick<RunRecord, "submitted_at">,
  { state, code, asked }: Pick<RunStatus, "state" | "code" | "asked">,
  resume = "gcopd launch resume",
): string {
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
      if (code === BUDGET_EXIT_CODE) return `ended by its budget; ${resume} with a larger one continues it`;
      if (code === null || !SIGNAL_EXIT_CODES.includes(code)) return `failed with exit code ${code}`;
      if (asked === "stop") return `stopped (exit code ${code})`;
      if (asked === "cancel") return `cancelled (exit code ${code})`;
      return `ended by a signal, exit code ${code} (a time limit, a kill or a shutdown); ${resume} continues it`;
    case "lost":
      return asked === "cancel"
        ? "cancelled before it could leave its exit code"
        : `gone without an exit code (killed, or the machine went down); ${resume} continues it from its last checkpoint`;
    case "never":
      if (asked !== null) return `${asked === "stop" ? "stopped" : "cancelled"} before it began`;
      return submitted === null
        ? `not submitted; ${resume} submits it`
        : `not started; ${resume} submits it again`;
    case "unreachable":
      return "not reached";
  }
}

/** Whole seconds as a person reads them. */
export function duration(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (seconds < 60) return `${seconds} s`;
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes} min`;
}
