/** A graph-conditioned epoch of the real loop on the real engine. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { modelFixture } from "../../../test/support/golden.ts";
import { tinyRecords } from "../../../test/support/tiny-records.ts";
import { libraryContexts, recordedData, train } from "../../core/loop/index.ts";
import { METHODS } from "../../core/method/index.ts";
import { type ItemReport, PAPER_SETTINGS, type StepSettings, type TrainItem } from "../../core/ports.ts";
import { LanguageModel } from "../../tensor/index.ts";
import { loadTokenizer, textCodec } from "../../text/index.ts";
import { createNodeBackend } from "./node.ts";
import { openFolder } from "./node-folder.ts";
import { ModelScorer } from "./scorer.ts";
import { ModelTrainer } from "./trainer.ts";

it("raises Σ w A log p over its episodes, and leaves nothing allocated", async () => {
  const { sources, episodes } = tinyRecords();
  const read = (file: string) => readFileSync(modelFixture(`tokenizer/${file}`), "utf8");
  const codec = textCodec(
    loadTokenizer({
      tokenizerJson: read("tokenizer.json"),
      tokenizerConfigJson: read("tokenizer_config.json"),
      file: "tokenizer",
    }),
  );
  const backend = await createNodeBackend("cpu");
  const teacher = await ModelScorer.open(backend, openFolder(modelFixture("qwen3-b")));
  const seen: { item: TrainItem; report: ItemReport }[] = [];
  class Watched extends ModelTrainer {
    override async step(items: readonly TrainItem[], settings: StepSettings) {
      const report = await super.step(items, settings);
      report.items.forEach((entry, n) => {
        seen.push({ item: items[n]!, report: entry });
      });
      return report;
    }
  }
  const { student } = await train({
    method: { ...METHODS["gc-opd"], stages: METHODS["gc-opd"].stages.slice(1) },
    settings: { ...PAPER_SETTINGS, learningRate: 1e-4 },
    batchSize: 2,
    seed: 1,
    data: recordedData(episodes),
    codec,
    teacher,
    openStudent: async () =>
      new Watched(await LanguageModel.load(backend, openFolder(modelFixture("qwen3-a")))),
    contexts: libraryContexts({
      codec,
      sources: async (_, task) => sources.filter((source) => source.task === task),
    }),
    checkpoints: null,
    fingerprint: {},
  });
  expect(seen).toHaveLength(6);
  const after = await student.score(seen.map(({ item }, n) => ({ id: String(n), ...item })));
  const alignment = (logprobs: (n: number) => Float32Array) =>
    seen.reduce((sum, { item, report }, n) => {
      const row = logprobs(n);
      return sum + item.weight * report.advantage.reduce((part, a, i) => part + a * row[i]!, 0);
    }, 0);
  expect(alignment((n) => after[n]!.logprobs)).toBeGreaterThan(alignment((n) => seen[n]!.report.logprobs));
  student.dispose();
  teacher.dispose();
  expect(backend.live().tensors).toBe(0);
  backend.dispose();
});
