import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { missingThere } from "../../worker/launch/check.ts";
import {
  attemptOf,
  importRun,
  launchRun,
  lookAtRun,
  type RunRecord,
  readRun,
  resumeRun,
  runIds,
} from "../../worker/launch/runs.ts";
import { launcherOf, readTarget } from "../../worker/launch/target.ts";
import { UsageError } from "../command.ts";
import { table } from "../demo/table.ts";
import { number, type ProgressFormat, progressOption } from "../engine/options.ts";
import { printLine, progress } from "../io.ts";
import { describeRun, EventLines, LogText, runRecord } from "../launch/describe-run.ts";
import { readRemoteConfig } from "../launch/remote-config.ts";
import { trainOptions } from "./train.ts";

/** What `gcopd train` writes that is worth bringing home, besides its checkpoints. */
const RESULTS = ["config.json", "events.jsonl", "metrics.jsonl", "batch.jsonl", "student", "tokenizer"];

export function register(program: Command): void {
  const launch = program
    .command("launch")
    .description(
      "Runs `gcopd train` on a target of `gcopd target`, where it goes on without this machine: close the laptop and come back (docs/remote.md). `launch --target NAME --config FILE` submits.",
    );
  launch
    .command("submit", { isDefault: true })
    .description("Submits a run, and prints its id.")
    .option("--target <name>", "where it runs")
    .option(
      "--config <file>",
      "config of gcopd train. Its files are sent with the run, except target:/PATH and target:MODEL",
    )
    .argument("[options...]", "after --: more options of gcopd train, such as -- --cards 2")
    .action(submit);
  launch
    .command("list")
    .description("Prints the runs that were launched from here, with the last known state of each.")
    .option("--json", "as JSON")
    .action(list);
  launch
    .command("status <run>")
    .description("Asks the target for a run's state, and prints it.")
    .option("--json", "as JSON")
    .action(async (id: string, { json }: { json?: boolean }) => {
      const { record, status } = await lookAtRun(readRun(id));
      printLine(json ? JSON.stringify(runRecord(record, status), null, 2) : describeRun(record, status));
    });
  progressOption(
    launch
      .command("follow <run>")
      .description(
        "Prints a run's output from the beginning until the run ends, and exits with its code. Ctrl-C leaves the run alone.",
      )
      .option("--every <seconds>", "how often to ask the target", number(0), 10),
  ).action(follow);
  launch
    .command("stop <run>")
    .description(
      "Ends a run after its current step, with a checkpoint; takes a waiting run out of the queue.",
    )
    .action((id: string) => asked(id, "stop"));
  launch
    .command("cancel <run>")
    .description("Ends a run now. `resume` continues it from its last checkpoint.")
    .action((id: string) => asked(id, "cancel"));
  launch
    .command("resume <run>")
    .description(
      "Continues a run that was stopped, cancelled, lost or failed from its last checkpoint; submits a run whose submission was interrupted.",
    )
    .action(async (id: string) => told(await resumeRun(id)));
  launch
    .command("fetch <run>")
    .description("Copies a run's results, and the output of its attempts, into a new folder.")
    .requiredOption("--out <folder>", "folder to make")
    .option("--checkpoints", "its checkpoints, too")
    .action(async (id: string, { out, checkpoints }: { out: string; checkpoints?: boolean }) => {
      const to = resolve(out);
      if (existsSync(to))
        throw new InputError("is there already: expected a new folder", { file: out, key: "--out" });
      const { record, status } = await lookAtRun(readRun(id));
      const attempts = Array.from({ length: record.attempt }, (_, n) => `attempt-${n + 1}`);
      const results = [...RESULTS, ...(checkpoints ? ["checkpoints"] : [])].map((name) => `out/${name}`);
      await launcherOf(record.target.is).fetch(
        attemptOf(record),
        ["run.json", "command.sh", ...results, ...attempts],
        to,
      );
      if (status.state === "running") progress("gcopd: the run goes on: these are its files until now");
      printLine(out);
    });
  launch
    .command("import <folder>")
    .description("Takes over a run that another machine launched, by its folder on a target.")
    .requiredOption("--target <name>", "where the folder is")
    .action(async (folder: string, { target }: { target: string }) =>
      told(await importRun(folder, { name: target, is: readTarget(target) })),
    );
}

async function submit(args: string[], options: { target?: string; config?: string }): Promise<void> {
  const { target: name, config: file } = options;
  const [first] = args;
  if (first !== undefined && !first.startsWith("-"))
    throw new UsageError(`${JSON.stringify(first)} is no command of gcopd launch (add --help for them)`);
  if (name === undefined) throw new UsageError("--target is missing: `gcopd target list` has their names");
  if (file === undefined) throw new UsageError("--config is missing: name the config of a training run");
  const own = args.find((arg) => /^--(config|out|progress|plan|probe)(=|$)/.test(arg));
  if (own !== undefined) throw new UsageError(`${own} cannot follow --: gcopd launch sets it`);
  trainOptions(new Command("gcopd train"))
    .showHelpAfterError("(gcopd train --help has its options)")
    .exitOverride()
    .parse(["--config", file, "--out", "out", ...args], { from: "user" });
  const is = readTarget(name);
  const { config, carried, bytes, there } = await readRemoteConfig(file, is);
  const paths = there.map(({ path }) => path);
  const missing = paths.length === 0 ? [] : await missingThere(is, paths);
  const gone = there.find(({ path }) => missing.includes(path));
  if (gone !== undefined)
    throw new InputError(`${gone.path} is neither here nor on target ${name}`, { file, key: gone.key });
  if (carried.length > 0)
    progress(`gcopd: ${carried.length} inputs go with the run (${(bytes / 1e6).toFixed(1)} MB)`);
  told(await launchRun({ target: { name, is }, config, carried, args }));
}

function told({ run, target, attempt }: RunRecord): void {
  progress(`gcopd: attempt ${attempt} on ${target.name}, in ${run.folder}: gcopd launch follow ${run.id}`);
  printLine(run.id);
}

async function asked(id: string, what: "stop" | "cancel"): Promise<void> {
  const { record, status } = await lookAtRun(readRun(id));
  if (status.state === "ended")
    throw new InputError(`run ${id} has ended already: ${describeRun(record, status)}`);
  await launcherOf(record.target.is)[what](attemptOf(record));
  progress(`gcopd: asked ${record.target.name} to ${what} it; gcopd launch status ${id} tells when it has`);
}

function list({ json }: { json?: boolean }): void {
  const records = runIds().map(readRun);
  const rows = records.map(({ run, target, attempt, submitted_at: submitted, last }) => [
    run.id,
    target.name,
    attempt,
    last?.state ?? (submitted === null ? "not submitted: gcopd launch resume" : "submitted"),
    last?.at ?? "",
  ]);
  if (json) printLine(JSON.stringify(records, null, 2));
  else if (rows.length === 0) progress("gcopd: no runs were launched from here");
  else printLine(table(["run", "target", "attempt", "state", "as of"], rows));
}

async function follow(
  id: string,
  { every, progress: format }: { every: number; progress: ProgressFormat },
): Promise<void> {
  const output = new EventLines(format);
  const errors = new LogText();
  const offsets = { out: 0, err: 0 };
  let record = readRun(id);
  let said = "";
  for (;;) {
    const { attempt } = record;
    const found = await lookAtRun(record, offsets);
    const { status } = found;
    record = found.record;
    if (record.attempt !== attempt) {
      // Another machine went on with the run: its output begins anew.
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
