import { type Command, Option } from "commander";
import { collectConfigSchema } from "../../core/loop/index.ts";
import { DEVICE_CHOICES, type DeviceChoice } from "../../engine/native/index.ts";
import { collect } from "../live/collect.ts";
import { playing } from "../live/playing.ts";
import { POLICY_OPTION } from "../live/policy.ts";
import { readPlayConfig } from "../live/read-play-config.ts";

export function register(program: Command): void {
  program
    .command("collect")
    .description(
      "Collect a library: a model plays each task K times in a live environment, each execution is verified by replay, " +
        "and plans are executed beside them. The same command goes on after a kill, to the same file. " +
        "docs/live-environments.md has the keys of the config, docs/collect-config.schema.json its schema.",
    )
    .requiredOption("--config <file>", "JSON config; its paths are relative to the file")
    .requiredOption("--out <folder>", "where sources.jsonl goes")
    .option("--catalog", "write the library as a catalog of the method's authors too, in the folder catalog")
    .option(...POLICY_OPTION)
    .addOption(new Option("--device <name>", "in place of the config's device").choices(DEVICE_CHOICES))
    .action(run);
}

interface Options {
  config: string;
  out: string;
  catalog?: boolean;
  policy?: string;
  device?: DeviceChoice;
}

async function run({ config: file, out, catalog = false, ...given }: Options): Promise<void> {
  const config = await readPlayConfig(collectConfigSchema, file, given);
  await playing("executions", async (watching) => {
    await collect({ config, out, catalog, ...watching });
  });
}
