import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("demo")
    .description("The whole loop on the sample.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("demo is not built yet");
    });
}
