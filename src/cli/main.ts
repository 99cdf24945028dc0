/**
 * The command line: `gcopd <command>`. Progress goes to standard error, results to standard output or `--out`.
 * Exit codes: 0, 1 with one clear line for bad input or a failed device, 2 for bad usage.
 */
import { Command, CommanderError, type ErrorOptions } from "commander";
import { DeviceError, InputError } from "../core/errors.ts";
import { fileError, isSystemError } from "../node/file-error.ts";
import { PACKAGE } from "../node/package-root.ts";
import { type Register, UsageError } from "./command.ts";
import { endPassing, progress, watchStandardStreams } from "./io.ts";

/** By name, in the order of the help. Loading them all takes longer than many of them run. */
export const COMMANDS: Readonly<Record<string, () => Promise<{ register: Register }>>> = {
  validate: () => import("./commands/validate.ts"),
  import: () => import("./commands/import.ts"),
  export: () => import("./commands/export.ts"),
  index: () => import("./commands/index-file.ts"),
  graph: () => import("./commands/graph.ts"),
  retrieve: () => import("./commands/retrieve.ts"),
  evidence: () => import("./commands/evidence.ts"),
  stats: () => import("./commands/stats.ts"),
  locate: () => import("./commands/locate.ts"),
  synth: () => import("./commands/synth.ts"),
  tokenize: () => import("./commands/tokenize.ts"),
  score: () => import("./commands/score.ts"),
  step: () => import("./commands/step.ts"),
  games: () => import("./commands/games.ts"),
  play: () => import("./commands/play.ts"),
  prompt: () => import("./commands/prompt.ts"),
  collect: () => import("./commands/collect.ts"),
  evaluate: () => import("./commands/evaluate.ts"),
  train: () => import("./commands/train.ts"),
  experiment: () => import("./commands/experiment.ts"),
  gate: () => import("./commands/gate.ts"),
  demo: () => import("./commands/demo.ts"),
  target: () => import("./commands/target.ts"),
  launch: () => import("./commands/launch.ts"),
  worker: () => import("./commands/worker.ts"),
  connect: () => import("./commands/connect.ts"),
  "serve-card": () => import("./commands/serve-card.ts"),
  "experiment-part": () => import("./commands/experiment-part.ts"),
};

/** Help and mistyped names need every command. */
function needed(first = ""): (typeof COMMANDS)[string][] {
  if (first === "--version") return [];
  return Object.hasOwn(COMMANDS, first) ? [COMMANDS[first]!] : Object.values(COMMANDS);
}

/** Commander names an option that is missing before one that it does not know, which may be the same, misspelled. */
class CommandLine extends Command {
  override createCommand(name?: string): Command {
    return new CommandLine(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    const unknown =
      options?.code === "commander.missingMandatoryOptionValue"
        ? this.args.find((each) => /^-./.test(each))
        : undefined;
    if (unknown !== undefined) (this as unknown as Unknown).unknownOption(unknown);
    return super.error(message, options);
  }
}

/** The part of a command that refuses an option, with the one that was probably meant; its types leave it out. */
interface Unknown {
  unknownOption(flag: string): never;
}

/** Runs one command line and returns its exit code. */
export async function main(args: string[]): Promise<number> {
  watchStandardStreams();
  const program = new CommandLine("gcopd")
    .description("Graph-conditioned on-policy distillation: retrieval, evidence, scoring and training.")
    .version(PACKAGE.version, "--version", "print the version")
    .showHelpAfterError("(add --help for the options)")
    // A list of commands has the first sentence of each; its own help has them all.
    .configureHelp({
      subcommandDescription: (command) =>
        /^.*?\.(?= |$)/s.exec(command.description())?.[0] ?? command.description(),
    })
    .exitOverride();
  for (const { register } of await Promise.all(needed(args[0]).map((load) => load()))) register(program);
  for (const command of program.commands) command.exitOverride();
  try {
    await program.parseAsync(args, { from: "user" });
    return process.exitCode === undefined ? 0 : Number(process.exitCode);
  } catch (caught) {
    // A file system error that nobody reworded still names its file.
    const error = isSystemError(caught)
      ? fileError(caught, caught.path ?? caught.syscall ?? "", "write")
      : caught;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof UsageError) {
      progress(`gcopd: ${error.message}`);
      return 2;
    }
    if (error instanceof InputError || error instanceof DeviceError) {
      progress(`gcopd: ${error.message}`);
      return 1;
    }
    progress(`gcopd: internal error: ${error instanceof Error ? error.stack : String(error)}`);
    return 1;
  } finally {
    endPassing();
  }
}
