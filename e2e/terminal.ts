/** The same figures from the command line, for tests that hold the page to them. */
import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ExperimentResults } from "../src/core/loop/index.ts";
import { type ScoreOutput, scoreOutputSchema } from "../src/core/record/schema.ts";

const gcopd = (...args: string[]) => promisify(execFile)(process.execPath, ["bin/gcopd.js", ...args]);

/**
 * `gcopd evidence` with these options, and `gcopd score` of its requests, in f32 on the processor: the response without
 * and with the evidence.
 */
export async function scoreInTerminal(
  evidence: readonly string[],
  model: string,
  folder: string,
): Promise<ScoreOutput[]> {
  await mkdir(folder, { recursive: true });
  const requests = join(folder, "requests.jsonl");
  await gcopd("evidence", ...evidence, "--tokenizer", "public/sample/tokenizer", "--requests", requests);
  const { stdout } = await gcopd("score", "--model", model, "--device", "cpu", "--in", requests);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line))
    .map((score) => scoreOutputSchema.parse(score));
}

/** A step of a run, as its `metrics.jsonl` has it. */
export interface RunStep {
  step: number;
  loss: number;
  gradNorm: number;
}

/**
 * `gcopd experiment` on the processor, with a config that lies beside the files of a shipped library.
 *
 * @returns its results, and the steps of each cell by the name of its run
 */
export async function experimentInTerminal(
  library: string,
  config: string,
  folder: string,
): Promise<{ results: ExperimentResults; steps: Record<string, RunStep[]> }> {
  const beside = join(folder, "library");
  await cp(library, beside, { recursive: true });
  const file = join(beside, "experiment.json");
  await writeFile(file, JSON.stringify({ ...JSON.parse(config), device: "cpu" }));
  const out = join(folder, "experiment");
  await gcopd("experiment", "--config", file, "--out", out);
  const results: ExperimentResults = JSON.parse(await readFile(join(out, "results.json"), "utf8"));
  const steps: Record<string, RunStep[]> = {};
  for (const { run } of results.cells) {
    const lines = (await readFile(join(out, run, "metrics.jsonl"), "utf8")).trimEnd().split("\n");
    steps[run] = lines.map((line): RunStep => JSON.parse(line));
  }
  return { results, steps };
}
