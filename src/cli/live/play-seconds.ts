/** How long a collection or an evaluation took, all its attempts together, in a file of its folder. */
import { join } from "node:path";
import { z } from "zod";
import type { Cost, PlannedEpisode } from "../../core/loop/index.ts";
import { AppendFile } from "../../node/append-file.ts";
import { readLines } from "../train/event-log.ts";

/** Beside the records. A kill loses what came after its last line. */
export const SECONDS_FILE = "seconds.jsonl";

const EVERY = 500;

const lineSchema = z.object({
  attempt: z.string(),
  device: z.string().nullable(),
  /** Of the whole attempt until then, and of what verified its records. */
  seconds: z.number(),
  verification: z.number(),
});

/** Counts one attempt. */
export class PlaySeconds {
  readonly #file: AppendFile;
  readonly #attempt = `${new Date().toISOString()} ${process.pid}`;
  readonly #began = performance.now();
  #verification = 0;
  #written = Number.NEGATIVE_INFINITY;

  /** @param device what the policy is computed on, once that is known */
  constructor(
    out: string,
    private readonly device: () => string | null,
  ) {
    this.#file = new AppendFile(join(out, SECONDS_FILE));
  }

  /** The same episodes; the time that their records take is counted. */
  timed<R extends object>(planned: readonly PlannedEpisode<R>[]): PlannedEpisode<R>[] {
    return planned.map(({ id, how }) => {
      if (!("task" in how)) return { id, how };
      const { task, record } = how;
      return {
        id,
        how: {
          task,
          record: async (played) => {
            const began = performance.now();
            const made = await record(played);
            this.#verification += performance.now() - began;
            return made;
          },
        },
      };
    });
  }

  /** Keeps the time until now, at most so often. */
  write(every = EVERY): void {
    const now = performance.now();
    if (now - this.#written < every) return;
    this.#written = now;
    const line = {
      attempt: this.#attempt,
      device: this.device(),
      seconds: (now - this.#began) / 1000,
      verification: this.#verification / 1000,
    };
    // After a line that a kill cut short, this one is still whole.
    this.#file.append(`\n${JSON.stringify(line)}\n`);
  }

  close(): void {
    try {
      this.write(0);
    } finally {
      this.#file.close();
    }
  }
}

/**
 * What the attempts in a folder took.
 *
 * @param stage of the playing; a collection's verification is a stage of its own
 */
export function playCosts(out: string, stage: "collection" | "evaluation"): Omit<Cost, "gpus">[] {
  const attempts = new Map<string, z.infer<typeof lineSchema>>();
  for (const value of readLines(join(out, SECONDS_FILE))) {
    const line = lineSchema.safeParse(value).data;
    if (line !== undefined) attempts.set(line.attempt, line);
  }
  return [...attempts.values()].flatMap(({ device, seconds, verification }): Omit<Cost, "gpus">[] => {
    const on = { device: device ?? "not opened" };
    if (stage === "evaluation") return [{ stage, ...on, seconds }];
    return [
      { stage, ...on, seconds: seconds - verification },
      { stage: "verification", ...on, seconds: verification },
    ];
  });
}
