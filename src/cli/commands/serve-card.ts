import type { Command } from "commander";
import { serveCard } from "../../engine/cards/index.ts";
import { UsageError } from "../command.ts";
import { CARD_COMMAND } from "../engine/compute.ts";

/** The process of one card; started by the commands with `--cards`, hidden from the help. */
export function register(program: Command): void {
  program
    .command(CARD_COMMAND, { hidden: true })
    .description("One card's process, for the commands with --cards.")
    .action(() => {
      if (process.send === undefined)
        throw new UsageError(`${CARD_COMMAND} is started by gcopd itself, for --cards`);
      serveCard();
      // It serves until its channel closes.
      return new Promise<void>(() => {});
    });
}
