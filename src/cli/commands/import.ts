import type { Command } from "commander";
import { UsageError } from "../command.ts";

/** Importers of other formats come with the libraries issue; until then the command says so instead of guessing. */
export function register(program: Command): void {
  program
    .command("import")
    .description("Convert other formats to a library (not in this version).")
    .argument("[paths...]")
    .option("--out <library>", "library file to write")
    .action(() => {
      throw new UsageError(
        "import is not in this version: convert the executions to library format 1 (docs/library-format.md) and check them with `gcopd validate`",
      );
    });
}
