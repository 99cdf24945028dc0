import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("tokenize")
    .description("Token ids of texts, or texts of ids.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("tokenize is not built yet");
    });
}
