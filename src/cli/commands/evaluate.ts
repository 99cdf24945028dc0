import { join } from "node:path";
import { type Command, Option } from "commander";
import { evaluateConfigSchema } from "../../core/loop/index.ts";
import { DEVICE_CHOICES, type DeviceChoice } from "../../engine/native/index.ts";
import { printLine, progress } from "../io.ts";
import { evaluate } from "../live/evaluate.ts";
import { comparisonText, figuresText } from "../live/figures-text.ts";
import { playing } from "../live/playing.ts";
import { POLICY_OPTION } from "../live/policy.ts";
import { readPlayConfig } from "../live/read-play-config.ts";

interface Options {
  config: string;
  out: string;
  policy?: string;
  device?: DeviceChoice;
  against?: string;
}

export function register(program: Command): void {
  program
    .command("evaluate")
    .description(
      "Measure a student in a live environment: success rate, score and rounds over tasks and seeds, with 95 % intervals. " +
        "Every reply counts, none is drawn again. The same command goes on after a kill, to the same files. " +
        "docs/live-environments.md has the keys of the config, docs/evaluate-config.schema.json its schema.",
    )
    .requiredOption("--config <file>", "JSON config; its paths are relative to the file")
    .requiredOption("--out <folder>", "where episodes.jsonl and results.json go")
    .option(
      "--against <folder>",
      "a finished evaluation of the same tasks and seeds, for a paired comparison",
    )
    .option(...POLICY_OPTION)
    .addOption(new Option("--device <name>", "in place of the config's device").choices(DEVICE_CHOICES))
    .action(run);
}

async function run({ config: file, out, against, ...given }: Options): Promise<void> {
  const config = await readPlayConfig(evaluateConfigSchema, file, given);
  await playing("episodes", async (watching) => {
    const { results, comparison } = await evaluate({
      config,
      out,
      ...(against === undefined ? {} : { against }),
      ...watching,
    });
    printLine(figuresText(results));
    if (comparison !== null) printLine(comparisonText(out, against!, comparison));
    progress(`gcopd: all figures are in ${join(out, "results.json")}`);
  });
}
