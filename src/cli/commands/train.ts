import { join } from "node:path";
import { type Command, Option } from "commander";
import { BUDGET_EXIT_CODE } from "../../core/loop/budget.ts";
import type { TrainEvent } from "../../core/loop/events.ts";
import { type ModelProbe, probedTime, type RunProbe } from "../../core/loop/probe.ts";
import type { StepWork } from "../../core/loop/train.ts";
import type { TrainConfig } from "../../core/loop/train-config.ts";
import { DEVICE_CHOICES, type DeviceChoice } from "../../engine/native/index.ts";
import type { WorkEvent } from "../../protocol/loop-event.ts";
import type { Plan } from "../../protocol/plan.ts";
import { UsageError } from "../command.ts";
import type { CardChoice } from "../engine/compute.ts";
import { howFar } from "../engine/how-far.ts";
import { listenForInterrupts } from "../engine/interrupt.ts";
import { atMostEvery, printJsonLine } from "../engine/json-lines.ts";
import { type MemoryOptions, memoryOptions, printPlan } from "../engine/memory-options.ts";
import { cardsOption, downloaded, number, type ProgressFormat } from "../engine/options.ts";
import { progress } from "../io.ts";
import { describeEvent } from "../train/describe-event.ts";
import { readTrainConfig } from "../train/read-config.ts";
import { runTraining } from "../train/run.ts";
import type { RunEnd, ToldPlan } from "../train/training-run.ts";

interface Options extends MemoryOptions {
  config: string;
  out?: string;
  device?: DeviceChoice;
  cards?: CardChoice;
  progress: ProgressFormat;
  probe?: boolean;
  hours?: number;
  gpuHours?: number;
  price?: number;
}

export function register(program: Command): void {
  trainOptions(program.command("train")).action(trainCommand);
}

/** What `gcopd train` takes. `gcopd launch` holds the options that it passes on to the same. */
export function trainOptions(command: Command): Command {
  return memoryOptions(
    cardsOption(
      command
        .description(
          "Run a training job, or go on with it: the same command after a kill continues from the last checkpoint to the " +
            "same numbers. SIGINT or SIGTERM ends it after the current step, a second one at once. With `tinker` in the config " +
            "a server with Tinker's API (SkyRL) trains the student. docs/training.md has the keys of the config, " +
            "docs/train-config.schema.json its schema.",
        )
        .requiredOption("--config <file>", "JSON config; its paths are relative to the file")
        .option(
          "--out <folder>",
          "where checkpoints, events, metrics and the student go; needed unless with --plan",
        )
        .option("--hours <hours>", "in place of budget.hours of the config", number(0, true))
        .option("--gpu-hours <hours>", "in place of its budget.gpu_hours", number(0, true))
        .option("--price <amount>", "in place of its budget.price", number(0, true))
        .addOption(new Option("--device <name>", "in place of the config's device").choices(DEVICE_CHOICES))
        .option(
          "--probe",
          "with --plan: do a small part of the run on its device, and print its time as a range, in seconds",
        )
        .addOption(
          new Option(
            "--progress <format>",
            "text on standard error, or events as JSON lines on standard output",
          )
            .choices(["text", "json"])
            .default("text"),
        ),
    ),
  );
}

/** `gcopd train`. A run that did not finish sets the exit code. */
export async function trainCommand(options: Options): Promise<void> {
  if ((await trained(options)) === "budget") process.exitCode = BUDGET_EXIT_CODE;
}

/** How a run ended. One that was interrupted sets the exit code. */
export async function trained(options: Options): Promise<RunEnd | "interrupted"> {
  if (options.out === undefined && !options.plan) throw new UsageError("--out is missing: name a folder");
  if (options.probe && !options.plan) throw new UsageError("--probe goes with --plan");
  const config = await readTrainConfig(options.config);
  const limit = options.memoryLimit ?? config.memory_limit_gib;
  const json = options.progress === "json";
  const { budget } = withBudget(options, config);
  const interrupt = listenForInterrupts();
  const tell = json ? printed : describe;
  let [isInStep, hasCheckpoint] = [false, false];
  const onEvent = (event: TrainEvent): void => {
    if (event.type === "step") isInStep = true;
    if (event.type === "checkpoint" || (event.type === "start" && event.resumedFrom !== null))
      hasCheckpoint = true;
    tell(event);
  };
  interrupt.first.addEventListener("abort", () => {
    if (!options.plan)
      progress(`gcopd: ending ${isInStep ? "after this" : "before the first"} step; again ends at once`);
  });
  try {
    const ended = await runTraining({
      config: {
        ...config,
        device: options.device ?? config.device,
        ...cardsOf(options, config),
        ...(limit === undefined ? {} : { memory_limit_gib: limit }),
        ...(budget === undefined ? {} : { budget }),
      },
      configFile: options.config,
      out: options.out ?? "",
      onEvent,
      onWork: json ? atMostEvery(1_000, printedWorking) : howFar(working),
      onDownload:
        json && !options.plan
          ? atMostEvery(1_000, ({ done, total }) =>
              printedWorking({ what: "download", done, total, unit: "bytes" }),
            )
          : downloaded(),
      onNote: progress,
      planOnly: options.plan
        ? ({ plan, passes, work, device, problem, probe }) =>
            printPlan(plan, {
              pack_tokens: passes,
              work: printedWork(work),
              device,
              problem,
              ...(options.probe ? { time: probe === null ? null : printedTime(probe) } : {}),
            })
        : undefined,
      probe: options.probe,
      // A plan writes nothing: it ends at once.
      signal: options.plan ? interrupt.first : interrupt.second,
      stop: interrupt.first,
    });
    if (ended === "stopped") process.exitCode = interrupt.exitCode ?? 1;
    if (ended === "done" && !options.plan && !json)
      progress(`the student is in ${join(options.out!, "student")}`);
    return ended;
  } catch (error) {
    if (!(options.plan ? interrupt.first : interrupt.second).aborted) throw error;
    progress(
      options.plan
        ? "gcopd: interrupted; nothing was written"
        : `gcopd: interrupted ${isInStep ? "inside a" : "before the first"} step; ` +
            `the same command ${hasCheckpoint ? "goes on from the last checkpoint" : "begins again"}`,
    );
    process.exitCode = interrupt.exitCode ?? 1;
    return "interrupted";
  } finally {
    interrupt.release();
  }
}

/** The config's budget, with the options in place of its keys. */
function withBudget(
  { hours, gpuHours, price }: Options,
  { budget }: TrainConfig,
): Pick<TrainConfig, "budget"> {
  const asked = Object.entries({ hours, gpu_hours: gpuHours, price }).filter(
    ([, value]) => value !== undefined,
  );
  return asked.length === 0 ? { budget } : { budget: { ...budget, ...Object.fromEntries(asked) } };
}

/** The option, else the config's key; a key is absent where neither is given. */
function cardsOf({ cards: asked }: Options, { cards: configured }: TrainConfig): Pick<TrainConfig, "cards"> {
  const cards = asked ?? configured;
  return cards === undefined ? {} : { cards: typeof cards === "number" ? cards : [...cards] };
}

function printedWork({
  teacherTokens,
  studentTokens,
  responseTokens,
  ...counts
}: ToldPlan["work"]): Plan["work"] {
  return {
    ...counts,
    teacher_tokens: teacherTokens,
    student_tokens: studentTokens,
    response_tokens: responseTokens,
  };
}

/** The range and what it was measured on. */
function printedTime(probe: RunProbe): Plan["time"] {
  const { low, high } = probedTime(probe);
  const { teacher, student, preparing } = probe;
  return { low, high, preparing, teacher: printedProbes(teacher), student: printedProbes(student) };
}

function printedProbes(probes: readonly ModelProbe[]): NonNullable<Plan["time"]>["teacher"] {
  return probes
    .flatMap(({ small, large }) => [small, ...large])
    .map(({ sequences, tokens, seconds }) => ({ sequences, tokens, seconds }));
}

/** As JSON; the log, too, says that the budget ended the run. */
function printed(event: TrainEvent): void {
  printJsonLine(event);
  if (event.type === "stopped" && event.budget !== undefined) describe(event);
}

function describe(event: TrainEvent): void {
  const line = describeEvent(event);
  if (line !== null) progress(line);
}

const working = ({ what, done, total, unit }: StepWork): string => `${what}: ${done} of ${total} ${unit}`;

/** As JSON, between the events. */
function printedWorking(work: Omit<WorkEvent, "type">): void {
  printJsonLine({ type: "work", ...work });
}
