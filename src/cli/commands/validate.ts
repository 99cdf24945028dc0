import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("validate")
    .description("Check records of the library format.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("validate is not built yet");
    });
}
