import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { checkOf, InputError } from "../../core/errors.ts";
import type { EvaluationResults } from "../../core/evaluation/index.ts";
import { BUDGET_EXIT_CODE } from "../../core/loop/budget.ts";
import {
  checkTrainConfig,
  EXPERIMENT_PARTS,
  experimentGrid,
  experimentParts,
  type GridConfig,
  taskNotes,
} from "../../core/loop/index.ts";
import { DEVICE_CHOICES, type DeviceChoice } from "../../engine/native/index.ts";
import { lockFolder } from "../../node/lock.ts";
import { makeFolder } from "../../node/whole-file.ts";
import { UsageError } from "../command.ts";
import type { CardChoice } from "../engine/compute.ts";
import { printJsonLine } from "../engine/json-lines.ts";
import { cardChoice, number } from "../engine/options.ts";
import { costsText, writeCosts } from "../experiment/grid-costs.ts";
import { GridParts } from "../experiment/grid-parts.ts";
import { planGrid, planText } from "../experiment/grid-plan.ts";
import { resultsText, writeResults } from "../experiment/grid-results.ts";
import { runGrid } from "../experiment/grid-run.ts";
import { inThisProcess } from "../experiment/part.ts";
import { begunRuns, claim, writeJson } from "../experiment/part-config.ts";
import { type ReadExperiment, readExperiment } from "../experiment/read-experiment.ts";
import { type Bounds, sideBySide } from "../experiment/side-by-side.ts";
import { printLine, progress, writeOut } from "../io.ts";
import { collect } from "../live/collect.ts";
import { evaluate } from "../live/evaluate.ts";
import { comparisonText, figuresText } from "../live/figures-text.ts";
import { playing } from "../live/playing.ts";
import { trainCommand } from "./train.ts";

interface Options {
  config: string;
  out?: string;
  device?: DeviceChoice;
  plan?: boolean;
  probe?: number | true;
  atOnce?: number;
  minutes?: number;
  cards?: CardChoice;
}

export function register(program: Command): void {
  program
    .command("experiment")
    .description(
      "Collect a library with a teacher, train a student on it, and evaluate the student before and after on the same " +
        "tasks and seeds; with `methods` in the config, train each method with each seed and compare them. The same " +
        "command goes on after a kill. docs/experiments.md has the keys of the config, " +
        "docs/experiment-config.schema.json its schema.",
    )
    .requiredOption("--config <file>", "JSON config; its paths are relative to the file")
    .option(
      "--out <folder>",
      "where each part has its config and its folder, and results.json goes at the end; needed unless with --plan",
    )
    .option(
      "--plan",
      "with `methods`: print the parts, their commands and what they need, and run nothing; with --out their configs are written",
    )
    .option(
      "--probe [tasks]",
      "with --plan: do the whole experiment on a few tasks (a batch when absent) and one seed, and print the cost of all as a range",
      number(1),
    )
    .option(
      "--at-once <n>",
      "with `methods`: so many parts side by side on the device, in processes of their own, to the same results",
      number(1),
    )
    .option(
      "--minutes <minutes>",
      "with `methods`: end after so long, each training after its step; tables of what is there, and exit code 3",
      number(0, true),
    )
    .addOption(
      new Option(
        "--cards <cards>",
        "with --at-once: spread the parts over cards of this host, how many (2) or their numbers (0,1)",
      ).argParser(cardChoice),
    )
    .addOption(new Option("--device <name>", "in place of the config's device").choices(DEVICE_CHOICES))
    .action(run);
}

async function run(options: Options): Promise<void> {
  const { config: file, out, device, plan, probe, atOnce, minutes, cards } = options;
  if (out === undefined && !plan) throw new UsageError("--out is missing: name a folder");
  if (probe !== undefined && !plan) throw new UsageError("--probe goes with --plan");
  if (atOnce !== undefined && !Number.isInteger(atOnce))
    throw new UsageError("--at-once: expected a whole number");
  if (cards !== undefined && atOnce === undefined) throw new UsageError("--cards goes with --at-once");
  const isBounded = atOnce !== undefined || minutes !== undefined;
  if (isBounded && plan) throw new UsageError("--at-once and --minutes do not go with --plan");
  const given = await readExperiment(file);
  const config = { ...given, device: device ?? given.device };
  const { methods } = config;
  const inside = (name: string) => resolve(out ?? ".", name);
  if (methods === undefined) {
    if (plan)
      throw new InputError("missing: only a comparison of methods has a plan", { file, key: "methods" });
    if (isBounded)
      throw new InputError("missing: only a comparison of methods takes --at-once and --minutes", {
        file,
        key: "methods",
      });
    const parts = experimentParts({ ...config, methods }, inside);
    checkOf(file, () => checkTrainConfig(parts.train), "train.");
    const tell = await inFolder(resolve(out ?? "."), async () => {
      await claim(
        inside(""),
        Object.entries(parts).map(([name, of]) => ({ name, config: of })),
      );
      return runParts(parts, inside);
    });
    tell?.();
    return;
  }
  const grid = { ...config, methods };
  const begun = begunRuns(inside);
  const parts = () =>
    new GridParts(
      checkOf(file, () => experimentGrid(grid, inside, begun)),
      config.student,
      inside,
    );
  if (plan) {
    const planned = await planGrid(grid, parts(), {
      file,
      probe: probe === true ? grid.train.batch_size : probe,
    });
    if (out !== undefined) await inFolder(resolve(out), () => parts().claimKnown());
    if (process.stdout.isTTY) printLine(planText(planned));
    else printJsonLine(planned);
    return;
  }
  // What is not sound makes no folder.
  parts();
  const tell = await inFolder(resolve(out ?? "."), async () => {
    const whole = parts();
    await whole.claimKnown();
    return compare(grid, whole, isBounded ? { atOnce: atOnce ?? 1, minutes, cards } : null);
  });
  tell?.();
}

/** Tells what was found. It is called once the folder is free: whoever reads it may start the next command. */
type Tell = () => void;

/**
 * Runs what is missing of a comparison. A part that failed sets the exit code, and so does one that the time left.
 *
 * @param bounds null for one part after the other, in this process
 * @returns null when it was interrupted
 */
async function compare(
  config: ReadExperiment & GridConfig,
  parts: GridParts,
  bounds: Bounds | null,
): Promise<Tell | null> {
  const { grid, inside } = parts;
  const unnamed = parts.unnamed();
  const outcome = await runGrid(
    parts,
    bounds === null ? inThisProcess(inside) : await sideBySide(parts, bounds),
  );
  if (outcome === null) return null;
  const about = { environment: config.environment.name, notes: taskNotes(config, grid) };
  const results = await writeResults(grid, outcome, about, inside);
  const costs = costsText(await writeCosts(config, grid, outcome.measured, inside));
  const text = `${resultsText(results)}\n`;
  await writeOut(inside("results.txt"), [text]);
  await writeOut(inside("costs.txt"), [`${costs}\n`]);
  const { deviations } = outcome;
  if (deviations.length > 0)
    process.exitCode = deviations.every(({ kind }) => kind === "time") ? BUDGET_EXIT_CODE : 1;
  return () => {
    printLine(`${text}\n${costs}`);
    if (unnamed.length > 0)
      progress(
        `gcopd: ${unnamed.join(", ")}: of a method or seed that the config no longer names, so in no table`,
      );
  };
}

/** Works in the experiment's folder, which no other process may do meanwhile. */
async function inFolder<T>(out: string, work: () => Promise<T>): Promise<T> {
  await makeFolder(out);
  const unlock = lockFolder(
    join(out, "lock.sqlite"),
    new InputError("another experiment works in this folder: wait for it or choose another --out", {
      file: out,
    }),
  );
  try {
    return await work();
  } finally {
    unlock();
  }
}

type Parts = ReturnType<typeof experimentParts>;

/** @returns null when it was interrupted */
async function runParts(parts: Parts, inside: (name: string) => string): Promise<Tell | null> {
  const folders = {
    library: inside(EXPERIMENT_PARTS.collect),
    before: inside(EXPERIMENT_PARTS.before),
    train: inside(EXPERIMENT_PARTS.train),
    after: inside(EXPERIMENT_PARTS.after),
  };
  let measured: EvaluationResults | null = null;
  let tell: Tell | null = null;
  const steps: [what: string, work: () => Promise<void>][] = [
    [
      "the teacher collects the library",
      () =>
        playing("executions", (watching) =>
          collect({ config: parts.collect, out: folders.library, ...watching }),
        ),
    ],
    [
      "the student before training",
      () =>
        playing("episodes", async (watching) => {
          measured = (await evaluate({ config: parts.before, out: folders.before, ...watching })).results;
        }),
    ],
    ["training", () => trainCommand({ config: inside("train.json"), out: folders.train, progress: "text" })],
    [
      "the student after training",
      () =>
        playing("episodes", async (watching) => {
          const { before, after } = folders;
          const { results, comparison } = await evaluate({
            ...{ config: parts.after, out: after, against: before },
            ...watching,
          });
          await writeJson(inside("results.json"), { before: measured, after: results, comparison });
          tell = () => {
            printLine(`before: ${figuresText(measured!)}`);
            printLine(`after: ${figuresText(results)}`);
            if (comparison !== null) printLine(comparisonText("after", "before", comparison));
            progress(`gcopd: all figures are in ${inside("results.json")}`);
          };
        }),
    ],
  ];
  for (const [n, [what, work]] of steps.entries()) {
    progress(`gcopd: part ${n + 1} of ${steps.length}: ${what}`);
    await work();
    // It was interrupted: the parts that follow need what it did not finish.
    if (process.exitCode) return null;
  }
  return tell;
}
