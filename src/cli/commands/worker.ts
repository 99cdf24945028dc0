import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("worker")
    .description("The Node worker.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("worker is not built yet");
    });
}
