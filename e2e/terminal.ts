/** The same scores from the command line, for tests that hold the page to them. */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
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
