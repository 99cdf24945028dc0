import type { Command } from "commander";
import { serveCard } from "../../engine/cards/index.ts";
import { CARD_COMMAND } from "../engine/compute.ts";

/** The process of one card; started by the commands with `--cards`, hidden from the help. */
export function register(program: Command): void {
  program
    .command(CARD_COMMAND, { hidden: true })
    .description("One card's process, for the commands with --cards.")
    .action(() => {
      serveCard();
      // It serves until its channel closes.
      return new Promise<void>(() => {});
    });
}
