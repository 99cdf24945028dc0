import type { Command } from "commander";
import { environmentNames, environmentRules } from "../../core/environment/environment.ts";
import { readObjects } from "../../core/record/read.ts";
import { fileLabel, openBytes, progress, writeRecordsOut } from "../io.ts";

interface Options {
  environment: string;
  in: string;
  out?: string;
}

export function register(program: Command): void {
  program
    .command("locate")
    .description(
      "Turn raw captured states into locators. Writes one line for each input line, in the same order: the case's " +
        "name, its key and its state (null where the capture cannot match anything).",
    )
    .requiredOption("--environment <name>", `whose captures these are (${environmentNames().join(", ")})`)
    .requiredOption("--in <file>", "raw captures (.jsonl, .jsonl.gz, or - for standard input)")
    .option("--out <file>", "where to write (.gz is compressed); standard output if absent")
    .action(run);
}

async function run(options: Options): Promise<void> {
  const rules = environmentRules(options.environment, { key: "--environment" });
  const file = fileLabel(options.in);
  let captures = 0;
  let unmatchable = 0;
  async function* located(): AsyncGenerator<object> {
    for await (const { record, line } of readObjects(openBytes(options.in), { file })) {
      const { id, key, state } = rules.locate(record, { file, line });
      captures++;
      if (state === null) unmatchable++;
      yield { [id.key]: id.value, key, state };
    }
  }
  await writeRecordsOut(options.out, located());
  progress(`${captures} captures, ${unmatchable} of them cannot match`);
}
