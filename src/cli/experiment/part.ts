/** One part of a comparison: what it is, and how this process carries it out. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DeviceError, InputError } from "../../core/errors.ts";
import {
  type CollectConfig,
  collectConfigSchema,
  type EvaluateConfig,
  evaluateConfigSchema,
  type TrainConfig,
} from "../../core/loop/index.ts";
import { isThere } from "../../node/file-error.ts";
import { lockFolder } from "../../node/lock.ts";
import { trained } from "../commands/train.ts";
import { progress } from "../io.ts";
import { collect } from "../live/collect.ts";
import { evaluate } from "../live/evaluate.ts";
import { playing } from "../live/playing.ts";
import { readPlayConfig } from "../live/read-play-config.ts";

export const PART_COMMANDS = ["collect", "train", "evaluate"] as const;

/** `name` is its folder in that of the experiment; its config lies beside the folder. */
export type GridPart = { name: string } & (
  | { command: "collect"; config: CollectConfig }
  | { command: "train"; config: TrainConfig }
  | { command: "evaluate"; config: EvaluateConfig }
);

/** How a part ended. `time`: the time of the experiment was over, and the part goes on with the next start. */
export type PartEnd =
  | { kind: "done" }
  | { kind: "failed"; reason: string }
  | { kind: "budget" }
  | { kind: "interrupted" }
  | { kind: "time" };

export type CarryOut = (part: GridPart) => Promise<PartEnd>;

export const configFile = (name: string): string => `${name}.json`;

const WORK: Readonly<Record<GridPart["command"], string>> = {
  collect: "the teacher collects the library",
  train: "training",
  evaluate: "evaluation",
};

export const workOf = ({ name, command }: Pick<GridPart, "name" | "command">): string =>
  `gcopd: ${name}: ${WORK[command]}`;

/** Carries out parts in this process. Bad input and a lost device end the part alone; an interrupt sets the exit code. */
export const inThisProcess =
  (inside: (name: string) => string): CarryOut =>
  (part) => {
    progress(workOf(part));
    return carriedOut(part.command, inside(configFile(part.name)), inside(part.name));
  };

/**
 * Runs one part by its config's file, as the command of its name does.
 *
 * @throws what is neither bad input nor the device's fault
 */
export async function carriedOut(command: GridPart["command"], file: string, out: string): Promise<PartEnd> {
  try {
    await untilFree(out);
    const ended = await WAYS[command](file, out);
    if (process.exitCode) return { kind: "interrupted" };
    return { kind: ended };
  } catch (error) {
    if (!(error instanceof InputError || error instanceof DeviceError)) throw error;
    return { kind: "failed", reason: error.message };
  }
}

const WAYS: Readonly<Record<GridPart["command"], (file: string, out: string) => Promise<"done" | "budget">>> =
  {
    async collect(file, out) {
      const config = await readPlayConfig(collectConfigSchema, file);
      await playing("executions", (watching) => collect({ config, out, ...watching }));
      return "done";
    },
    async train(file, out) {
      return (await trained({ config: file, out, progress: "text" })) === "budget" ? "budget" : "done";
    },
    async evaluate(file, out) {
      const config = await readPlayConfig(evaluateConfigSchema, file);
      await playing("episodes", async (watching) => {
        await evaluate({ config, out, ...watching });
      });
      return "done";
    },
  };

/** Seconds that another process may go on in a part's folder. */
const PATIENCE = 60;

/** Waits for what a killed command left running: it ends as soon as it notices. */
async function untilFree(out: string): Promise<void> {
  const busy = new InputError("another process works here", { file: out });
  for (let waited = 0; isThere(join(out, "lock.sqlite")) && waited < PATIENCE; waited += 0.25) {
    try {
      lockFolder(join(out, "lock.sqlite"), busy)();
      return;
    } catch (error) {
      if (error !== busy) throw error;
      if (waited === 0) progress(`gcopd: ${out}: waiting for another process that works here`);
      await pause(250);
    }
  }
}
