import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("score")
    .description("Log-probabilities of responses.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("score is not built yet");
    });
}
