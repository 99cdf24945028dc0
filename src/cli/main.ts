/**
 * The command line: `gcopd <command>`. Progress goes to standard error, results to standard output or `--out`.
 * Exit codes: 0, 1 with one clear line for bad input or a failed device, 2 for bad usage.
 */
import { Command, CommanderError } from "commander";
import { DeviceError, InputError } from "../core/errors.ts";
import { fileError, isSystemError } from "../node/file-error.ts";
import { PACKAGE } from "../node/package-root.ts";
import { type Register, UsageError } from "./command.ts";
import { register as collect } from "./commands/collect.ts";
import { register as connect } from "./commands/connect.ts";
import { register as demo } from "./commands/demo.ts";
import { register as evaluate } from "./commands/evaluate.ts";
import { register as evidence } from "./commands/evidence.ts";
import { register as experiment } from "./commands/experiment.ts";
import { register as experimentPart } from "./commands/experiment-part.ts";
import { register as exportCommand } from "./commands/export.ts";
import { register as games } from "./commands/games.ts";
import { register as gate } from "./commands/gate.ts";
import { register as graph } from "./commands/graph.ts";
import { register as importCommand } from "./commands/import.ts";
import { register as indexFile } from "./commands/index-file.ts";
import { register as launch } from "./commands/launch.ts";
import { register as locate } from "./commands/locate.ts";
import { register as play } from "./commands/play.ts";
import { register as prompt } from "./commands/prompt.ts";
import { register as retrieve } from "./commands/retrieve.ts";
import { register as score } from "./commands/score.ts";
import { register as serveCard } from "./commands/serve-card.ts";
import { register as stats } from "./commands/stats.ts";
import { register as step } from "./commands/step.ts";
import { register as synth } from "./commands/synth.ts";
import { register as target } from "./commands/target.ts";
import { register as tokenize } from "./commands/tokenize.ts";
import { register as train } from "./commands/train.ts";
import { register as validate } from "./commands/validate.ts";
import { register as worker } from "./commands/worker.ts";
import { progress, watchStandardStreams } from "./io.ts";

const COMMANDS: Register[] = [
  validate,
  importCommand,
  exportCommand,
  indexFile,
  graph,
  retrieve,
  evidence,
  stats,
  locate,
  synth,
  tokenize,
  score,
  step,
  games,
  play,
  prompt,
  collect,
  evaluate,
  train,
  experiment,
  gate,
  demo,
  target,
  launch,
  worker,
  connect,
  serveCard,
  experimentPart,
];

/** Runs one command line and returns its exit code. */
export async function main(args: string[]): Promise<number> {
  watchStandardStreams();
  const program = new Command("gcopd")
    .description("Graph-conditioned on-policy distillation: retrieval, evidence, scoring and training.")
    .version(PACKAGE.version, "--version", "print the version")
    .showHelpAfterError("(add --help for the options)")
    .exitOverride();
  for (const register of COMMANDS) register(program);
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
  }
}
