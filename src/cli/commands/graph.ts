import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("graph")
    .description("States, edges and shared states of a library.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("graph is not built yet");
    });
}
