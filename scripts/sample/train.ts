/**
 * Trains the sample's models with this project's own trainer, by next-token cross-entropy.
 *
 *     node scripts/run.mjs scripts/sample/train.ts --role teacher --steps 3000 --out public/sample/teacher
 *     node scripts/run.mjs scripts/sample/train.ts --role student --steps 200 --out public/sample/student
 *
 * The teacher learns from rows with and without evidence (rows.ts), with most words renamed; the student lightly, from
 * the recorded episodes as they are. Neither sees a record of the kept-out tasks. The loss is the mean over response
 * tokens plus 0.3 of the mean over context tokens. Prints the loss, and at the end (and every --evaluate steps) what
 * evidence is worth on the kept-out tasks.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { environmentRules } from "../../src/core/environment/environment.ts";
import { libraryContexts } from "../../src/core/loop/index.ts";
import { scoreSourceActions, sourceActionCases } from "../../src/core/loop/source-action.ts";
import { prepareTask } from "../../src/core/retrieval/index.ts";
import type { DeviceChoice } from "../../src/engine/native/index.ts";
import { createNodeBackend } from "../../src/engine/native/node.ts";
import { createFolder } from "../../src/engine/native/node-folder.ts";
import { indexTasks, readEpisodes, readLibrary } from "../../src/formats/index.ts";
import { AdamW, LanguageModel, parseModelConfig } from "../../src/tensor/index.ts";
import { loadTokenizer, textCodec } from "../../src/text/index.ts";
import { smallQwen3, type TrainingRow, trainingRow, trainOnRows } from "../training.ts";
import { Random } from "./random.ts";
import { type Row, RowMaker, type TaskRecords } from "./rows.ts";
import { KEPT_OUT_TASKS } from "./tasks.ts";

const { values } = parseArgs({
  options: {
    role: { type: "string", default: "teacher" },
    steps: { type: "string", default: "1000" },
    /** Tokens of one step, about: rows are drawn until there are as many. */
    tokens: { type: "string", default: "40000" },
    out: { type: "string" },
    sample: { type: "string", default: "public/sample" },
    hidden: { type: "string", default: "192" },
    layers: { type: "string", default: "6" },
    "learning-rate": { type: "string", default: "1e-3" },
    /** Tokens of the longest row: in the last part of training, a third of it in the first. */
    "longest-row": { type: "string", default: "4500" },
    "pack-tokens": { type: "string", default: "65536" },
    minutes: { type: "string", default: "1000" },
    evaluate: { type: "string", default: "1000000" },
    /** Tasks of the last evaluation: all, kept-out or none. */
    measure: { type: "string", default: "all" },
    seed: { type: "string", default: "1" },
    device: { type: "string", default: "auto" },
  },
});
const number = (name: keyof typeof values) => Number(values[name]);
const random = new Random(number("seed"));

const sample = values.sample;
const library = await readLibrary([readFileSync(`${sample}/sources.jsonl.gz`)], { file: "sources.jsonl.gz" });
const episodes = await readEpisodes([readFileSync(`${sample}/episodes.jsonl.gz`)], {
  file: "episodes.jsonl.gz",
});
const tokenizer = loadTokenizer({
  tokenizerJson: readFileSync(`${sample}/tokenizer/tokenizer.json`, "utf8"),
  tokenizerConfigJson: readFileSync(`${sample}/tokenizer/tokenizer_config.json`, "utf8"),
  file: `${sample}/tokenizer/tokenizer.json`,
});

const records: TaskRecords[] = library.tasks
  .filter(({ task }) => !KEPT_OUT_TASKS.includes(task))
  .map(({ task, sources }) => ({ task, sources, episodes: episodes.filter((e) => e.task === task) }));
const rowMaker = new RowMaker(records, random);

const config = parseModelConfig(
  smallQwen3(
    { hidden: number("hidden"), layers: number("layers"), vocabulary: 1872 },
    { beginsText: tokenizer.idOf("<|endoftext|>"), endsTurn: tokenizer.idOf("<|im_end|>") },
  ),
  "config.json",
);

const backend = await createNodeBackend(values.device as DeviceChoice, { onNote: console.log });
const model = LanguageModel.create(backend, config, number("seed"));
const optimizer = new AdamW(model);
console.log(`${values.role}: ${model.parameterCount} parameters on ${backend.kind} (${backend.description})`);

function encode(row: Row): TrainingRow {
  const prompt = tokenizer.encode(
    tokenizer.applyChatTemplate([{ role: "user", content: row.prompt }], {
      addGenerationPrompt: true,
      enableThinking: false,
    }),
  );
  const response = tokenizer.encode(`${row.response}<|im_end|>`);
  return trainingRow(prompt, response);
}

/** Short rows first, where copying is learned fastest; then rows as long as real evidence. */
function drawRow(progress: number): TrainingRow {
  const longest = number("longest-row") * (progress < 0.5 ? 1 / 3 : progress < 0.75 ? 0.6 : 1);
  for (;;) {
    const kind = random.next();
    const window = 2 + random.below(progress < 0.5 ? 8 : random.chance(0.6) ? 10 : 30);
    const row =
      values.role === "student"
        ? rowMaker.recorded()
        : kind < 0.7
          ? rowMaker.matched(window)
          : kind < 0.8
            ? rowMaker.hindsight(window)
            : rowMaker.plain();
    const encoded = encode(row);
    if (encoded.sequence.responseIds.length <= longest) return encoded;
  }
}

const codec = textCodec(tokenizer);

async function evaluate(tasks: readonly string[]): Promise<void> {
  const byTask = indexTasks(library);
  const contexts = libraryContexts({
    sources: async (environment, task) =>
      library.tasks.find((t) => t.environment === environment && t.task === task)?.sources ?? [],
    codec,
  });
  const scorer = {
    score: async (
      requests: readonly { id: string; promptIds: readonly number[]; responseIds: readonly number[] }[],
    ) => {
      const logprobs = await model.score(requests, { maxTokensPerPack: number("pack-tokens") });
      return requests.map(({ id }, n) => ({ id, logprobs: logprobs[n]! }));
    },
  };
  for (const task of tasks) {
    const prepared = prepareTask(
      [...byTask.values()].find((t) => t.task === task)?.sources ?? [],
      environmentRules("scienceworld"),
    );
    const cases = [];
    for (const episode of episodes.filter((e) => e.task === task)) {
      cases.push(...(await sourceActionCases(prepared, episode, contexts, codec)));
    }
    if (cases.length === 0) continue;
    const results = await scoreSourceActions(scorer, cases);
    const mean = (pick: (r: (typeof results)[number]) => number) =>
      results.reduce((sum, r) => sum + pick(r), 0) / results.length;
    const rose = results.filter((r) => r.with > r.without).length;
    console.log(
      `  ${KEPT_OUT_TASKS.includes(task) ? "kept out" : "trained "} ${task}: ${results.length} decisions, nats an action ` +
        `${mean((r) => r.without).toFixed(2)} without, ${mean((r) => r.with).toFixed(2)} with, rose in ${rose}`,
    );
  }
}

await trainOnRows(model, optimizer, {
  steps: number("steps"),
  minutes: number("minutes"),
  tokens: number("tokens"),
  peakLearningRate: number("learning-rate"),
  contextShare: 0.3,
  packTokens: number("pack-tokens"),
  draw: drawRow,
  onStep: async (step) => {
    if (step % number("evaluate") === 0) await evaluate(KEPT_OUT_TASKS);
  },
});
if (values.measure !== "none") {
  await evaluate(values.measure === "all" ? library.tasks.map(({ task }) => task) : KEPT_OUT_TASKS);
}
if (values.out) {
  const writer = await createFolder(values.out);
  await model.save(writer, { dtype: "bf16" });
  await writer.commit();
  console.log(`wrote ${values.out}`);
}
optimizer.dispose();
model.dispose();
backend.dispose();
process.exit(0);
