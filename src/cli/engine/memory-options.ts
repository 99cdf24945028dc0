/** `--plan` and `--memory-limit` of the commands with a model. */
import type { Command } from "commander";
import { z } from "zod";
import { checkedBy } from "../../core/record/describe-issue.ts";
import { gibibytes, type MemoryPlan } from "../../tensor/index.ts";
import { table } from "../demo/table.ts";
import { printLine } from "../io.ts";
import { printJsonLine } from "./json-lines.ts";
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
    .option("--plan", "print what the job needs and stop: a table at a terminal, else JSON in bytes");
}

/** The option's GiB in bytes; undefined where there is no limit. */
export function limitBytes(gibibytes: number | undefined): number | undefined {
  return gibibytes === undefined ? undefined : gibibytes * 2 ** 30;
}

/**
 * Prints a plan for `--plan`: a table where somebody reads it, one line of JSON where a program does.
 *
 * @param facts what else is told beside the memory, such as the longest pass; a null one is left out of the table
 */
export function printPlan(plan: MemoryPlan, facts: object, atTerminal = process.stdout.isTTY === true): void {
  const { items, total, largest } = plan;
  if (atTerminal) printLine(planText(plan, facts));
  else
    printJsonLine({ items, total, largest_tensor: { name: largest.name, bytes: largest.bytes }, ...facts });
}

const tensor = z.object({ name: z.string(), bytes: z.number() });
const toldSchema = z.looseObject({
  items: z.array(tensor.extend({ part: z.string() })),
  total: z.number(),
  largest_tensor: tensor,
});

/** Prints a plan that another machine printed as JSON. */
export function printTold(told: object, atTerminal = process.stdout.isTTY === true): void {
  const { items, total, largest_tensor: largest, ...facts } = checkedBy(toldSchema, told);
  if (atTerminal) printLine(planText({ items, total, largest }, facts));
  else printJsonLine(told);
}

/** The table of `printPlan`, largest items first, and the facts below it, one per line. */
export function planText(
  {
    items,
    total,
    largest,
  }: {
    items: readonly { name: string; part: string; bytes: number }[];
    total: number;
    largest: { name: string; bytes: number };
  },
  facts: object,
): string {
  const rows = [...items]
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ name, part, bytes }) => [name, part, gibibytes(bytes)]);
  const memory = table(["item", "part", "memory"], [...rows, ["total", "", gibibytes(total)]]);
  return [
    memory,
    "",
    `largest tensor: ${largest.name}, ${gibibytes(largest.bytes)}`,
    ...factLines(facts, ""),
  ].join("\n");
}

function factLines(facts: object, of: string): string[] {
  return Object.entries(facts).flatMap(([key, value]) => {
    const name = of + key.replaceAll("_", " ");
    if (value === null || value === undefined) return [];
    return typeof value === "object" ? factLines(value, `${name}: `) : [`${name}: ${value}`];
  });
}
