import { type Command, Option } from "commander";
import { readRecords } from "../../core/record/read.ts";
import type { ScoreInput } from "../../core/record/schema.ts";
import { ModelScorer } from "../../engine/webgpu/index.ts";
import { createNodeBackend } from "../../engine/webgpu/node.ts";
import { openFolder } from "../../engine/webgpu/node-folder.ts";
import { UsageError } from "../command.ts";
import { checkIds } from "../engine/check-ids.ts";
import { interruptible } from "../engine/interrupt.ts";
import { printJsonLine } from "../engine/json-lines.ts";
import { type EngineOptions, engineOptions } from "../engine/options.ts";
import { fileLabel, openBytes, progress, writeRecordsOut } from "../io.ts";

interface Options extends EngineOptions {
  model: string;
  in: string;
  out?: string;
}

/** Tokens that are read before the model runs: enough to fill its passes, little beside the weights. */
const GROUP_TOKENS = 65_536;

export function register(program: Command): void {
  engineOptions(
    program
      .command("score")
      .description(
        "Natural-log probabilities of each response token given all before it, at temperature 1. Each input line is " +
          '{"id", "prompt_ids", "response_ids"}, each output line {"id", "logprobs"}, in the same order.',
      )
      .requiredOption("--model <folder>", "Hugging Face folder of a Qwen3 model")
      .requiredOption("--in <file>", "scoring records (.jsonl, .jsonl.gz, or - for standard input)")
      .option("--out <file>", "where to write (.gz is compressed); standard output if absent")
      .addOption(
        new Option("--dtype <name>", "number format of the arithmetic").choices(["f32"]).default("f32"),
      ),
  ).action(run);
}

async function run(options: Options): Promise<void> {
  const json = options.progress === "json";
  if (json && (options.out === undefined || options.out === "-")) {
    throw new UsageError("--progress json takes standard output: name a file with --out");
  }
  await interruptible(async (signal) => {
    const backend = await createNodeBackend(options.device, { onNote: progress });
    try {
      const scorer = await ModelScorer.open(backend, openFolder(options.model), { signal });
      const report = reporter(json);
      report.started(scorer);
      await writeRecordsOut(options.out, scored(options.in, scorer, signal, report));
      report.ended();
    } finally {
      backend.dispose();
    }
  });
}

async function* scored(
  path: string,
  scorer: ModelScorer,
  signal: AbortSignal,
  report: Reporter,
): AsyncGenerator<object> {
  const file = fileLabel(path);
  const limits = { vocabulary: scorer.info.vocabulary, maxPositions: scorer.maxPositions };
  let group: ScoreInput[] = [];
  let tokens = 0;
  async function* flush(): AsyncGenerator<object> {
    const requests = group.map(({ id, prompt_ids, response_ids }) => ({
      id,
      promptIds: prompt_ids,
      responseIds: response_ids,
    }));
    for (const { id, logprobs } of await scorer.score(requests, { signal })) {
      yield { id, logprobs: Array.from(logprobs) };
    }
    report.progressed(group.length, tokens);
    group = [];
    tokens = 0;
  }
  for await (const { record, line } of readRecords(openBytes(path), { file, kind: "score-input", signal })) {
    checkIds(record, limits, { file, line });
    group.push(record);
    tokens += record.prompt_ids.length + record.response_ids.length;
    if (tokens >= GROUP_TOKENS) yield* flush();
  }
  yield* flush();
}

interface Reporter {
  started(scorer: ModelScorer): void;
  progressed(lines: number, tokens: number): void;
  ended(): void;
}

/** Progress as text on standard error, or as events on standard output. */
function reporter(json: boolean): Reporter {
  const total = { lines: 0, tokens: 0 };
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  return {
    started({ info }) {
      if (json) printJsonLine({ type: "start", model: info });
      else
        progress(
          `${info.model}: ${info.parameters} parameters on ${info.device} (${info.adapter}), ${info.dtype}`,
        );
    },
    progressed(lines, tokens) {
      total.lines += lines;
      total.tokens += tokens;
      if (json) printJsonLine({ type: "progress", ...total, seconds: seconds() });
    },
    ended() {
      if (json) printJsonLine({ type: "done", ...total, seconds: seconds() });
      else {
        const rate = (total.tokens / seconds()).toFixed(0);
        progress(
          `${total.lines} lines, ${total.tokens} tokens in ${seconds().toFixed(1)} s (${rate} tokens/s)`,
        );
      }
    },
  };
}
