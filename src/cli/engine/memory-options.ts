/** `--plan` and `--memory-limit` of the commands with a model. */
import type { Command } from "commander";
import type { MemoryPlan } from "../../tensor/index.ts";
import { number } from "./options.ts";

export interface MemoryOptions {
  /** GiB. */
  memoryLimit?: number;
  plan?: boolean;
}

export function memoryOptions(command: Command): Command {
  return command
    .option(
      "--memory-limit <GiB>",
      "refuse what needs more memory of a device; passes are made shorter first",
      number(0, true),
    )
    .option("--plan", "print what the job needs as JSON, in bytes, and stop");
}

export function limitBytes(gibibytes: number | undefined): number | undefined {
  return gibibytes === undefined ? undefined : gibibytes * 2 ** 30;
}

/** A plan as `--plan` prints it. */
export function printedPlan({ items, total, largest }: MemoryPlan, passes: object): object {
  return { items, total, largest_tensor: { name: largest.name, bytes: largest.bytes }, ...passes };
}
