import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("evidence")
    .description("The evidence R_t of one decision.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("evidence is not built yet");
    });
}
