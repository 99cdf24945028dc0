import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("train")
    .description("A training job from a config.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("train is not built yet");
    });
}
