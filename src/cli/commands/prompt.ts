import { type Command, Option } from "commander";
import { environmentRules } from "../../core/environment/environment.ts";
import {
  type DecisionPrompt,
  decisionPrompt,
  type PastDecision,
  PURPOSES,
  type Purpose,
  readPromptTemplate,
} from "../../core/environment/index.ts";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import type { EnvironmentTurn } from "../../core/ports.ts";
import { checkOut, readText, writeOut } from "../io.ts";
import { readActions } from "../play/read-actions.ts";
import type { PlayOptions } from "../play/simulator.ts";
import { SIMULATOR_NAMES, simulatorNamed } from "../play/simulators.ts";
import { withSession } from "../play/with-session.ts";

interface Options extends PlayOptions {
  environment: string;
  purpose: Purpose;
  actions?: string;
  template?: string;
  out?: string;
}

export function register(program: Command): void {
  program
    .command("prompt")
    .description(
      "Print what a model reads in a live environment after some actions: the user message of the next decision or, where " +
        "the protocol is a chat, every turn under a line with its role.",
    )
    .requiredOption("--environment <name>", SIMULATOR_NAMES)
    .addOption(
      new Option("--purpose <name>", "why the episode is played").choices(PURPOSES).makeOptionMandatory(),
    )
    .option("--game <file>", "as for gcopd play")
    .option("--server <url>", "as for gcopd play")
    .option("--simulator <file>", "as for gcopd play")
    .option("--task <id>", "as for gcopd play")
    .option(
      "--actions <file>",
      "what was done before (.jsonl, one JSON string per line, or - for standard input); the first decision if absent",
    )
    .option("--template <file>", "prompt template (JSON) in place of the environment's own")
    .option("--out <file>", "where to write; standard output if absent")
    .action(run);
}

async function run(options: Options): Promise<void> {
  const open = simulatorNamed(options.environment);
  await checkOut(options.out);
  const rules = environmentRules(options.environment);
  const protocol = rules.protocols[options.purpose];
  const template =
    options.template === undefined
      ? rules.prompt.template
      : readPromptTemplate(
          parseJsonText(await readText(options.template), { file: options.template }),
          rules.prompt.lists,
          { file: options.template },
        );
  await withSession(open, options, async ({ environment, task }, signal) => {
    const start = await environment.reset(task);
    const history: PastDecision[] = [];
    const read = (turn: EnvironmentTurn) =>
      decisionPrompt(rules, protocol, start.description, turn, history, template);
    let turn: EnvironmentTurn = start;
    if (options.actions !== undefined) {
      for await (const action of readActions(options.actions, signal)) {
        if (turn.done)
          throw new InputError(`action ${history.length + 1} comes after the end`, { file: task });
        const { observation } = turn;
        const { message } = read(turn);
        const answer = await environment.step(action);
        if ("unanswered" in answer) {
          throw new InputError(`action ${history.length + 1}: ${answer.unanswered}`, { file: task });
        }
        history.push({ observation, action, prompt: message });
        turn = answer;
      }
    }
    await writeOut(options.out, [printed(read(turn))]);
  });
}

function printed({ message, earlier }: DecisionPrompt): string {
  if (earlier.length === 0) return `${message}\n`;
  const turns = [...earlier, { role: "user", content: message }];
  return turns.map(({ role, content }) => `--- ${role} ---\n${content}\n`).join("");
}
