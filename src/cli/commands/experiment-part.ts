import { type Command, Option } from "commander";
import { UsageError } from "../command.ts";
import { carriedOut, type GridPart, PART_COMMANDS } from "../experiment/part.ts";
import { PART_COMMAND } from "../experiment/part-process.ts";

interface Options {
  command: GridPart["command"];
  config: string;
  out: string;
}

/** One part of an experiment in a process of its own; started by `experiment --at-once`, hidden from the help. */
export function register(program: Command): void {
  program
    .command(PART_COMMAND, { hidden: true })
    .description("One part of an experiment, for gcopd experiment --at-once.")
    .addOption(new Option("--command <name>").choices(PART_COMMANDS).makeOptionMandatory())
    .requiredOption("--config <file>")
    .requiredOption("--out <folder>")
    .action(async ({ command, config, out }: Options) => {
      if (process.send === undefined)
        throw new UsageError(`${PART_COMMAND} is started by gcopd itself, for experiment --at-once`);
      // Whoever started it is gone: the next start takes over, as after any kill.
      const orphaned = () => process.exit(1);
      process.once("disconnect", orphaned);
      // Where it was gone before the line above, no event comes.
      if (!process.connected) orphaned();
      const end = await carriedOut(command, config, out);
      await new Promise<void>((sent) => process.send!(end, () => sent()));
      process.removeListener("disconnect", orphaned);
      process.disconnect();
    });
}
