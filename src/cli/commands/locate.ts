import type { Command } from "commander";
import { environmentNames, environmentRules } from "../../core/environment/environment.ts";
import type { EnvironmentRules } from "../../core/environment/rules.ts";
import { InputError } from "../../core/errors.ts";
import { readObjects } from "../../formats/read.ts";
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
        "name, its key and its state (null where the capture cannot match anything). A ScienceWorld capture is " +
        "{ id, object_tree, goal_progress, history }, an ALFWorld one { id, gamefile, facts, won, lost }, a WebShop " +
        "one { id, dialect, url } or { id, descriptor }.",
    )
    .requiredOption("--environment <name>", `whose captures these are (${environmentNames().join(", ")})`)
    .requiredOption("--in <file>", "raw captures (.jsonl, .jsonl.gz, or - for standard input)")
    .option("--out <file>", "where to write (.gz is compressed); standard output if absent")
    .action(run);
}

/** The locator of `--environment`; `InputError` where there is none. */
function locatorOf(name: string): NonNullable<EnvironmentRules["locate"]> {
  const { locate } = environmentRules(name);
  if (locate !== null) return locate;
  throw new InputError(
    `no locator for ${JSON.stringify(name)}: expected ${environmentNames().join(", ")}; ` +
      "a custom environment brings its keys in its records",
    { key: "--environment" },
  );
}

async function run(options: Options): Promise<void> {
  const locate = locatorOf(options.environment);
  const file = fileLabel(options.in);
  let captures = 0;
  let unmatchable = 0;
  async function* located(): AsyncGenerator<object> {
    for await (const { record, line } of readObjects(openBytes(options.in), { file })) {
      const { id, key, state } = locate(record, { file, line });
      captures++;
      if (state === null) unmatchable++;
      yield id === null ? { key, state } : { [id.key]: id.value, key, state };
    }
    if (captures === 0) throw new InputError("holds no captures", { file });
  }
  await writeRecordsOut(options.out, located());
  progress(`${captures} captures, ${unmatchable} of them cannot match`);
}
