import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("retrieve")
    .description("Retrieval records for every decision of the episodes.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("retrieve is not built yet");
    });
}
