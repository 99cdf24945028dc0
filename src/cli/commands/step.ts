import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { episodeWeights } from "../../core/objective/index.ts";
import { PAPER_SETTINGS, type StepReport, type StepSettings, type TrainItem } from "../../core/ports.ts";
import { readRecords } from "../../core/record/read.ts";
import type { StepInput } from "../../core/record/schema.ts";
import { ModelTrainer } from "../../engine/webgpu/index.ts";
import { createNodeBackend } from "../../engine/webgpu/node.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { checkIds } from "../engine/check-ids.ts";
import { interruptible } from "../engine/interrupt.ts";
import { printJsonLine } from "../engine/json-lines.ts";
import { betas, type EngineOptions, engineOptions, number } from "../engine/options.ts";
import { checkNewFolder, saveModel } from "../engine/save-model.ts";
import { fileLabel, openBytes, progress } from "../io.ts";

interface Options extends EngineOptions {
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
  engineOptions(
    program
      .command("step")
      .description(
        "One optimizer step on a batch file, whose lines are " +
          '{"episode", "prompt_ids", "response_ids", "teacher_logprobs", "rollout_logprobs"}. Token weights are ' +
          "1/(N·L_e) from the episodes in the file. Optimizer state in the model folder is continued. Prints JSON with " +
          "the loss, the gradient norm before clipping, and each line's log-probabilities, ratios and advantages.",
      )
      .requiredOption("--model <folder>", "Hugging Face folder of a Qwen3 model; it stays as it is")
      .requiredOption("--in <file>", "batch (.jsonl, .jsonl.gz, or - for standard input)")
      .requiredOption("--out <folder>", "new folder for the changed model with its optimizer state")
      .option("--lr <rate>", "learning rate", number(0), paper.learningRate)
      .option("--betas <b1,b2>", "Adam's decay rates", betas, [paper.beta1, paper.beta2] as [number, number])
      .option("--eps <value>", "Adam's epsilon in the denominator", number(0, true), paper.adamEpsilon)
      .option("--weight-decay <value>", "decoupled weight decay", number(0), paper.weightDecay)
      .option("--clip <radius>", "clipping radius of the surrogate", number(0, true), paper.clip)
      .option(
        "--max-grad-norm <value>",
        "bound on the global gradient norm",
        number(0, true),
        paper.maxGradNorm,
      ),
  ).action(run);
}

async function run(options: Options): Promise<void> {
  await checkNewFolder(options.out);
  await interruptible(async (signal) => {
    const backend = await createNodeBackend(options.device, { onNote: progress });
    try {
      const trainer = await ModelTrainer.open(backend, openFolder(options.model), {
        optimizer: "continue",
        signal,
      });
      const { vocabulary } = trainer.info;
      const items = await readItems(options.in, { vocabulary, maxPositions: trainer.maxPositions });
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
      await saveModel(trainer, options.out, { optimizer: true, companionsFrom: [options.model] });
      printJsonLine(printed(report, trainer, options.out));
    } finally {
      backend.dispose();
    }
  });
}

/** The batch with its weights. Decisions of one episode are numbered in the order of their lines. */
async function readItems(
  path: string,
  limits: { vocabulary: number; maxPositions: number },
): Promise<TrainItem[]> {
  const file = fileLabel(path);
  const records: StepInput[] = [];
  for await (const { record, line } of readRecords(openBytes(path), { file, kind: "step-input" })) {
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

function printed(report: StepReport, trainer: ModelTrainer, out: string): object {
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
