import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import type { EnvironmentTurn, Offered } from "../../core/ports.ts";
import { checkOut, progress, writeRecordsOut } from "../io.ts";
import { readActions } from "../play/read-actions.ts";
import type { PlayOptions, PlaySession } from "../play/simulator.ts";
import { SIMULATOR_NAMES, simulatorNamed } from "../play/simulators.ts";
import { withSession } from "../play/with-session.ts";

interface Options extends PlayOptions {
  environment: string;
  actions: string;
  out?: string;
}

export function register(program: Command): void {
  program
    .command("play")
    .description(
      "Play actions in a live environment. The actions file has one JSON string per line. Writes one line for the " +
        "reset and one for each action: { step, action, feedback, observation, offered, score, done, won, key }. " +
        "feedback is the engine's text unchanged, key the locator's. ScienceWorld adds moves, inventory and look.",
    )
    .requiredOption("--environment <name>", SIMULATOR_NAMES)
    .option("--game <file>", "ALFWorld: a game (.tw-pddl); WebShop: a catalogue (.json)")
    .option("--server <url>", "WebShop: a running server of the released contract, in place of --game")
    .option("--simulator <file>", "ScienceWorld: its wheel, JAR or package folder, version 1.2.3")
    .option(
      "--task <id>",
      "ALFWorld: the game's name in keys (the file's base name if absent); WebShop: goal6; ScienceWorld: boil|1|easy",
    )
    .requiredOption("--actions <file>", "what to do (.jsonl, or - for standard input)")
    .option("--out <file>", "where to write (.gz is compressed); standard output if absent")
    .action(run);
}

async function run(options: Options): Promise<void> {
  const open = simulatorNamed(options.environment);
  await checkOut(options.out);
  await withSession(open, options, (session, signal) => playActions(options, session, signal));
}

async function playActions(
  { actions, out }: Options,
  { environment, task, more }: PlaySession,
  signal: AbortSignal,
): Promise<void> {
  let step = 0;
  async function line(action: string | null, turn: EnvironmentTurn): Promise<object> {
    const { feedback, observation, offered, score, done, success, state } = turn;
    return {
      step: step++,
      action,
      feedback,
      observation,
      offered: offered === null ? null : listed(offered),
      score,
      done,
      won: success,
      key: state?.key ?? null,
      ...(await more?.()),
    };
  }
  async function* played(): AsyncGenerator<object> {
    yield await line(null, await environment.reset(task));
    for await (const action of readActions(actions, signal)) {
      const answer = await environment.step(action);
      if ("unanswered" in answer)
        throw new InputError(`action ${step}: ${answer.unanswered}`, { file: task });
      yield await line(action, answer);
    }
  }
  await writeRecordsOut(out, played());
  progress(`${task}: ${step - 1} actions played`);
}

/** What is on offer, as the output has it: commands, what can be clicked, or templates and objects. */
function listed(offered: Offered): unknown {
  if ("commands" in offered) return offered.commands;
  return "clickables" in offered ? offered.clickables : offered;
}
