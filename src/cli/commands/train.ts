import { type Command, Option } from "commander";
import type { TrainEvent } from "../../core/loop/events.ts";
import type { StepWork } from "../../core/loop/train.ts";
import type { TrainConfig } from "../../core/loop/train-config.ts";
import { DEVICE_CHOICES, type DeviceChoice } from "../../engine/webgpu/index.ts";
import { UsageError } from "../command.ts";
import type { CardChoice } from "../engine/compute.ts";
import { listenForInterrupts } from "../engine/interrupt.ts";
import { atMostEvery, printJsonLine } from "../engine/json-lines.ts";
import { type MemoryOptions, memoryOptions, printPlan } from "../engine/memory-options.ts";
import { cardsOption, type ProgressFormat } from "../engine/options.ts";
import { progress } from "../io.ts";
import { describeEvent } from "../train/describe-event.ts";
import { readTrainConfig } from "../train/read-config.ts";
import { runTraining, type ToldPlan } from "../train/run.ts";

interface Options extends MemoryOptions {
  config: string;
  out?: string;
  device?: DeviceChoice;
  cards?: CardChoice;
  progress: ProgressFormat;
}

export function register(program: Command): void {
  memoryOptions(
    cardsOption(
      program
        .command("train")
        .description(
          "Run a training job, or go on with it: the same command after a kill continues from the last checkpoint to the " +
            "same numbers. SIGINT or SIGTERM ends it after the current step, a second one at once. docs/training.md has the " +
            "keys of the config, docs/train-config.schema.json its schema.",
        )
        .requiredOption("--config <file>", "JSON config; its paths are relative to the file")
        .option(
          "--out <folder>",
          "where checkpoints, events, metrics and the student go; needed unless with --plan",
        )
        .addOption(new Option("--device <name>", "in place of the config's device").choices(DEVICE_CHOICES))
        .addOption(
          new Option(
            "--progress <format>",
            "text on standard error, or events as JSON lines on standard output",
          )
            .choices(["text", "json"])
            .default("text"),
        ),
    ),
  ).action(run);
}

async function run(options: Options): Promise<void> {
  if (options.out === undefined && !options.plan) throw new UsageError("--out is missing: name a folder");
  const config = await readTrainConfig(options.config);
  const limit = options.memoryLimit ?? config.memory_limit_gib;
  const json = options.progress === "json";
  const interrupt = listenForInterrupts();
  interrupt.first.addEventListener("abort", () =>
    progress("gcopd: ending after this step; again ends at once"),
  );
  try {
    const finished = await runTraining({
      config: {
        ...config,
        device: options.device ?? config.device,
        ...cardsOf(options, config),
        ...(limit === undefined ? {} : { memory_limit_gib: limit }),
      },
      configFile: options.config,
      out: options.out ?? "",
      onEvent: json ? printJsonLine : describe,
      onWork: atMostEvery(
        json ? 1_000 : 10_000,
        json ? (work) => printJsonLine({ type: "work", ...work }) : working,
      ),
      onNote: progress,
      planOnly: options.plan
        ? ({ plan, passes, work, device, problem }) =>
            printPlan(plan, { pack_tokens: passes, work: printedWork(work), device, problem })
        : undefined,
      signal: interrupt.second,
      stop: interrupt.first,
    });
    if (!finished) process.exitCode = interrupt.exitCode ?? 1;
  } catch (error) {
    if (!interrupt.second.aborted) throw error;
    progress("gcopd: interrupted inside a step; the same command goes on from the last checkpoint");
    process.exitCode = interrupt.exitCode ?? 1;
  } finally {
    interrupt.release();
  }
}

/** The option, else the config's key; a key is absent where neither is given. */
function cardsOf({ cards: asked }: Options, { cards: configured }: TrainConfig): Pick<TrainConfig, "cards"> {
  const cards = asked ?? configured;
  return cards === undefined ? {} : { cards: typeof cards === "number" ? cards : [...cards] };
}

function printedWork({ teacherTokens, studentTokens, responseTokens, ...counts }: ToldPlan["work"]): object {
  return {
    ...counts,
    teacher_tokens: teacherTokens,
    student_tokens: studentTokens,
    response_tokens: responseTokens,
  };
}

function describe(event: TrainEvent): void {
  const line = describeEvent(event);
  if (line !== null) progress(line);
}

function working({ what, done, total, unit }: StepWork): void {
  progress(`  ${what}: ${done} of ${total} ${unit}`);
}
