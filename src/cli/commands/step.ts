import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("step")
    .description("One optimizer step on a batch file.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("step is not built yet");
    });
}
