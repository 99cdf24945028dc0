import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { checkOf, InputError } from "../../core/errors.ts";
import { checkTrainConfig } from "../../core/loop/check-train-config.ts";
import { trainConfigSchema } from "../../core/loop/train-config.ts";
import { countOf } from "../../core/plural.ts";
import { isThere } from "../../node/file-error.ts";
import { defaultDataDir } from "../../worker/data-dir.ts";
import { PLANNED, planThere } from "../../worker/launch/plan-there.ts";
import { checkThere, remoteConfig } from "../../worker/launch/remote-config.ts";
import type { RunRecord } from "../../worker/launch/run-record.ts";
import { LAUNCHED, LaunchedRuns } from "../../worker/launch/runs.ts";
import { readTarget } from "../../worker/launch/target.ts";
import { UsageError } from "../command.ts";
import { absoluteFrom, readConfigFile } from "../config-file.ts";
import { table } from "../demo/table.ts";
import { interruptible } from "../engine/interrupt.ts";
import { printTold } from "../engine/memory-options.ts";
import { number, type ProgressFormat, progressOption } from "../engine/options.ts";
import { printLine, progress } from "../io.ts";
import { describeRun, EventLines, LogText, runRecord } from "../launch/describe-run.ts";
import { trainOptions } from "./train.ts";

/** Those that were launched from this machine. */
const launchedRuns = (): LaunchedRuns => new LaunchedRuns(join(defaultDataDir(), LAUNCHED));

export function register(program: Command): void {
  const launch = program
    .command("launch")
    .description(
      "Run `gcopd train` on a target of `gcopd target`, where it keeps going without this machine: close the laptop and come back (docs/remote.md). `launch --target NAME --config FILE` submits.",
    );
  launch
    .command("submit", { isDefault: true })
    .description("Submit a run, and print its id.")
    .option("--target <name>", "where it runs")
    .option("--name <name>", "a name for the run, for people")
    .option(
      "--config <file>",
      "config of gcopd train. Its files are sent with the run, except target:/PATH and target:MODEL",
    )
    .option("--plan", "print what the run needs, measured on the target, and submit nothing")
    .option("--probe", "with --plan: measure its time there, too")
    .argument("[options...]", "after --: more options of gcopd train, such as -- --cards 2")
    .action(submit);
  launch
    .command("list")
    .description("Print the runs that were launched from here, with the last known state of each.")
    .option("--json", "as JSON")
    .action(list);
  launch
    .command("rename <run> <name>")
    .description("Give a run another name on this machine.")
    .action((id: string, name: string) => void launchedRuns().rename(id, name));
  launch
    .command("status <run>")
    .description("Ask the target for a run's state, and print it.")
    .option("--json", "as JSON")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const runs = launchedRuns();
      const { record, status } = await runs.look(runs.read(id));
      printLine(json ? JSON.stringify(runRecord(record, status), null, 2) : describeRun(record, status));
    });
  progressOption(
    launch
      .command("follow <run>")
      .description(
        "Print a run's output from the beginning until the run ends, and exit with its code. Ctrl-C leaves the run alone.",
      )
      .option("--every <seconds>", "how often to ask the target", number(0), 10),
  ).action(follow);
  launch
    .command("stop <run>")
    .description("End a run after its current step, with a checkpoint; take a waiting run out of the queue.")
    .action((id: string) => asked(id, "stop"));
  launch
    .command("cancel <run>")
    .description("End a run now. `resume` continues it from its last checkpoint.")
    .action((id: string) => asked(id, "cancel"));
  launch
    .command("resume <run>")
    .description(
      "Continue a run that was stopped, cancelled, lost or failed from its last checkpoint; submit a run whose submission was interrupted.",
    )
    .option("--target <name>", "continue there; the folder of the run is copied through this machine")
    .argument(
      "[options...]",
      "after --: options of gcopd train that replace the earlier ones, such as -- --cards 4",
    )
    .action(async (id: string, args: string[], { target: name }: { target?: string }) => {
      checkOptions(args);
      const target = name === undefined ? undefined : { name, is: readTarget(name) };
      told(await launchedRuns().resume(id, { target, args }));
    });
  launch
    .command("fetch <run>")
    .description("Copy a run's results, and the output of its attempts, into a new folder.")
    .requiredOption("--out <folder>", "new folder to create")
    .option("--checkpoints", "copy its checkpoints, too")
    .action(async (id: string, { out, checkpoints }: { out: string; checkpoints?: boolean }) => {
      const to = resolve(out);
      if (isThere(to))
        throw new InputError("already exists: expected a new folder", { file: out, key: "--out" });
      const status = await launchedRuns().fetch(id, to, { checkpoints });
      if (status.state === "running") progress("gcopd: the run is still going; these are its files so far");
      printLine(out);
    });
  launch
    .command("import <folder>")
    .description("Take over a run that another machine launched, by its folder on a target.")
    .requiredOption("--target <name>", "where the folder is")
    .action(async (folder: string, { target }: { target: string }) =>
      told(await launchedRuns().import(folder, { name: target, is: readTarget(target) })),
    );
}

async function submit(
  args: string[],
  options: { target?: string; config?: string; name?: string; plan?: boolean; probe?: boolean },
): Promise<void> {
  const { target: name, config: file, name: title } = options;
  const [first] = args;
  if (first !== undefined && !first.startsWith("-"))
    throw new UsageError(`${JSON.stringify(first)} is not a command of gcopd launch (add --help for them)`);
  if (name === undefined) throw new UsageError("--target is missing; `gcopd target list` shows the targets");
  if (options.probe && !options.plan) throw new UsageError("--probe goes with --plan");
  if (file === undefined) throw new UsageError("--config is missing: name the config of a training run");
  checkOptions(args);
  const is = readTarget(name);
  const given = await readConfigFile(trainConfigSchema, file);
  checkOf(file, () => checkTrainConfig(given));
  const { config, carried, bytes, there } = await remoteConfig(given, is, {
    file,
    absolute: absoluteFrom(file),
  });
  await checkThere({ name, is }, there, file);
  if (carried.length > 0)
    progress(
      `gcopd: sending ${countOf(carried.length, "input")} with the run (${(bytes / 1e6).toFixed(1)} MB)`,
    );
  const launch = { target: { name, is }, config, carried, args, title };
  if (options.plan) {
    await interruptible(async (signal) => {
      const how = { probe: options.probe === true, signal };
      printTold((await planThere(join(defaultDataDir(), PLANNED), launch, how)).plan);
    });
  } else told(await launchedRuns().launch(launch));
}

/** @throws UsageError for options that `gcopd train` does not take, or that a launch sets itself */
function checkOptions(args: readonly string[]): void {
  const own = args.find((arg) => /^--(config|out|progress|plan|probe)(=|$)/.test(arg));
  if (own !== undefined) throw new UsageError(`${own} cannot follow --: gcopd launch sets it`);
  trainOptions(new Command("gcopd train"))
    .showHelpAfterError("(gcopd train --help has its options)")
    .exitOverride()
    .parse(["--config", "config.json", "--out", "out", ...args], { from: "user" });
}

function told({ run, target, attempt }: RunRecord): void {
  progress(
    `gcopd: attempt ${attempt} on ${target.name}, in ${run.folder}; follow it with gcopd launch follow ${run.id}`,
  );
  printLine(run.id);
}

async function asked(id: string, what: "stop" | "cancel"): Promise<void> {
  const record = await launchedRuns().ask(id, what);
  progress(`gcopd: asked ${record.target.name} to ${what} the run; check with gcopd launch status ${id}`);
}

function list({ json }: { json?: boolean }): void {
  const runs = launchedRuns();
  const records = runs.ids().map((id) => runs.read(id));
  const rows = records.map(({ run, target, attempt, submitted_at: submitted, last }) => [
    run.id,
    run.title ?? "",
    target.name,
    attempt,
    last?.state ?? (submitted === null ? "not submitted; gcopd launch resume submits it" : "submitted"),
    last?.at ?? "",
  ]);
  if (json) printLine(JSON.stringify(records, null, 2));
  else if (rows.length === 0) progress("gcopd: no runs were launched from here");
  else printLine(table(["run", "name", "target", "attempt", "state", "as of"], rows));
}

async function follow(
  id: string,
  { every, progress: format }: { every: number; progress: ProgressFormat },
): Promise<void> {
  const output = new EventLines(format);
  const errors = new LogText();
  const offsets = { out: 0, err: 0 };
  const runs = launchedRuns();
  let record = runs.read(id);
  let said = "";
  for (;;) {
    const { attempt } = record;
    const found = await runs.look(record, offsets);
    const { status } = found;
    record = found.record;
    if (record.attempt !== attempt) {
      // Another machine went on with the run: its output starts from the beginning.
      output.end();
      Object.assign(offsets, { out: 0, err: 0 });
      continue;
    }
    const { output: out, log } = status;
    output.print(out.bytes);
    errors.print(log.bytes);
    offsets.out += out.bytes.length;
    offsets.err += log.bytes.length;
    // All output comes first: what is told of the end stands at the end.
    if (offsets.out < out.size || offsets.err < log.size) continue;
    const over = status.state === "ended" || status.state === "lost" || status.state === "never";
    if (over) output.end();
    const line = describeRun(record, status, { times: false });
    if (line !== said) progress(`gcopd: ${line}`);
    said = line;
    if (status.state === "ended") {
      process.exitCode = status.code ?? 1;
      return;
    }
    if (over) throw new InputError(line);
    await sleep(every * 1000);
  }
}
