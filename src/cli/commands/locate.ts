import type { Command } from "commander";
import { UsageError } from "../command.ts";

export function register(program: Command): void {
  program
    .command("locate")
    .description("Locators of raw captured states.")
    .allowUnknownOption()
    .action(() => {
      throw new UsageError("locate is not built yet");
    });
}
