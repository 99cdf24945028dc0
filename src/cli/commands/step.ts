import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { episodeWeights } from "../../core/objective/index.ts";
import {
  PAPER_SETTINGS,
  type StepReport,
  type StepSettings,
  type Trainer,
  type TrainItem,
} from "../../core/ports.ts";
import type { StepInput } from "../../core/record/schema.ts";
import { openModelFolder } from "../../engine/hub/node.ts";
import { planWorkload, type RunLengths, type WorkloadSizes } from "../../engine/native/index.ts";
import { readRecords } from "../../formats/read.ts";
import { checkPlan, describePlan, readModelHeader } from "../../tensor/index.ts";
import { checkIds } from "../engine/check-ids.ts";
import { openCompute } from "../engine/compute.ts";
import { interruptible } from "../engine/interrupt.ts";
import { printJsonLine } from "../engine/json-lines.ts";
import { limitBytes, type MemoryOptions, memoryOptions, printPlan } from "../engine/memory-options.ts";
import { betas, downloaded, type EngineOptions, engineOptions, MODEL, number } from "../engine/options.ts";
import { checkNewFolder, saveModel } from "../engine/save-model.ts";
import { fileLabel, openBytes, progress } from "../io.ts";

interface Options extends EngineOptions, MemoryOptions {
  model: string;
  in: string;
  out: string;
  lr: number;
  betas: [number, number];
  eps: number;
  weightDecay: number;
  clip: number;
  maxGradNorm: number;
}

export function register(program: Command): void {
  const paper = PAPER_SETTINGS;
  memoryOptions(
    engineOptions(
      program
        .command("step")
        .description(
          "One optimizer step on a batch file, whose lines are " +
            '{"episode", "prompt_ids", "response_ids", "teacher_logprobs", "rollout_logprobs"}. Token weights are ' +
            "1/(N·L_e) from the episodes in the file. Optimizer state in the model folder is continued. Prints JSON with " +
            "the loss, the gradient norm before clipping, and each line's log-probabilities, ratios and advantages.",
        )
        .requiredOption("--model <folder>", `${MODEL}; it stays as it is`)
        .requiredOption("--in <file>", "batch (.jsonl, .jsonl.gz, or - for standard input)")
        .requiredOption("--out <folder>", "new folder for the changed model with its optimizer state")
        .option("--lr <rate>", "learning rate", number(0), paper.learningRate)
        .option("--betas <b1,b2>", "Adam's decay rates", betas, [paper.beta1, paper.beta2] as [
          number,
          number,
        ])
        .option("--eps <value>", "Adam's epsilon in the denominator", number(0, true), paper.adamEpsilon)
        .option("--weight-decay <value>", "decoupled weight decay", number(0), paper.weightDecay)
        .option("--clip <radius>", "clipping radius of the surrogate", number(0, true), paper.clip)
        .option(
          "--max-grad-norm <value>",
          "bound on the global gradient norm",
          number(0, true),
          paper.maxGradNorm,
        ),
      { cards: true },
    ),
  ).action(run);
}

async function run(options: Options): Promise<void> {
  if (!options.plan) await checkNewFolder(options.out);
  await interruptible(async (signal) => {
    const { device, compute, cards } = options;
    const limit = limitBytes(options.memoryLimit);
    const folder = await openModelFolder(options.model, {
      signal,
      onProgress: downloaded(),
      onNote: progress,
    });
    const { config } = await readModelHeader(folder);
    const items = await readItems(options.in, {
      vocabulary: config.vocabularySize,
      maxPositions: config.maxPositions,
      signal,
    });
    const sizes = itemSizes(items);
    const opened = await openCompute({ device, compute, cards, onNote: progress });
    try {
      const passes = await planWorkload(opened.device, folder, {
        kind: "train",
        weights: "f32",
        limit,
        ...sizes,
      });
      if (options.plan) {
        const { plan, packTokens } = passes;
        printPlan(plan, { pack_tokens: packTokens });
        return;
      }
      checkPlan(passes.plan, limit, opened.device.largestBuffer);
      if (opened.kind === "webgpu") progress(describePlan(passes.plan));
      const trainer = await opened.openTrainer(folder.name, { optimizer: "continue", ...passes, signal });
      const settings: StepSettings = {
        learningRate: options.lr,
        beta1: options.betas[0],
        beta2: options.betas[1],
        adamEpsilon: options.eps,
        weightDecay: options.weightDecay,
        maxGradNorm: options.maxGradNorm,
        clip: options.clip,
      };
      const report = await trainer.step(items, settings, { signal });
      await saveModel(trainer, options.out, { optimizer: true, companionsFrom: [folder.name] });
      printJsonLine(printed(report, trainer, options.out));
    } finally {
      opened.close();
    }
  });
}

/** What decides the memory of a step. */
function itemSizes(items: readonly TrainItem[]): Pick<WorkloadSizes, keyof RunLengths | "allTokens"> {
  const lengths = items.map(({ promptIds, responseIds }) => promptIds.length + responseIds.length);
  return {
    longestSequence: lengths.reduce((a, b) => Math.max(a, b), 0),
    longestResponse: items.reduce((most, { responseIds }) => Math.max(most, responseIds.length), 0),
    allTokens: lengths.reduce((a, b) => a + b, 0),
  };
}

/** The batch with its weights. Decisions of one episode are numbered in the order of their lines. */
async function readItems(
  path: string,
  { signal, ...limits }: { vocabulary: number; maxPositions: number; signal: AbortSignal },
): Promise<TrainItem[]> {
  const file = fileLabel(path);
  const records: StepInput[] = [];
  for await (const { record, line } of readRecords(openBytes(path, signal), { file, kind: "step-input" })) {
    checkIds(record, limits, { file, line });
    records.push(record);
  }
  const weights = episodeWeights(
    records.map(({ episode, response_ids }) => ({ episode, tokens: response_ids.length })),
  );
  if (!weights.some((weight) => weight > 0))
    throw new InputError("the batch has no response token", { file });
  const decisions = new Map<string, number>();
  return records.map((record, n) => {
    const decision = decisions.get(record.episode) ?? 0;
    decisions.set(record.episode, decision + 1);
    return {
      episode: record.episode,
      decision,
      promptIds: record.prompt_ids,
      responseIds: record.response_ids,
      teacherLogprobs: record.teacher_logprobs,
      rolloutLogprobs: record.rollout_logprobs,
      weight: weights[n]!,
    };
  });
}

function printed(report: StepReport, trainer: Trainer, out: string): object {
  const { device, adapter, dtype } = trainer.info;
  return {
    step: report.step,
    loss: report.loss,
    grad_norm: report.gradNorm,
    tokens: report.tokens,
    out,
    computed_on: { device, adapter, dtype },
    items: report.items.map((item) => ({
      episode: item.episode,
      decision: item.decision,
      logprobs: Array.from(item.logprobs),
      ratio: Array.from(item.ratio),
      advantage: Array.from(item.advantage),
      clipped: Array.from(item.clipped),
    })),
  };
}
