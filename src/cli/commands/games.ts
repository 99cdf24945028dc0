import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { onFile } from "../../node/file-error.ts";
import { makeGame, SIZES, type Size, TASK_TYPES, type TaskType } from "../../simulator/alfworld/generate.ts";
import { UsageError } from "../command.ts";
import { progress, writeOut } from "../io.ts";
import { countFromOne } from "../selection-options.ts";

interface Options {
  environment: string;
  count: number;
  seed: number;
  size: Size;
  type?: TaskType;
  out: string;
}

/** Seeds stay exact, and so do those of the games that follow. */
function seed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number below 1,000,000,000.");
  return Number(text);
}

function oneOf<T extends string>(names: readonly T[]): (text: string) => T {
  return (text) => {
    const known = names.find((name) => name === text);
    if (known === undefined) throw new InvalidArgumentError(`expected ${names.join(", ")}.`);
    return known;
  };
}

const sizes = Object.keys(SIZES) as Size[];

export function register(program: Command): void {
  program
    .command("games")
    .description(
      "Makes games: household rooms with ALFWorld's commands and six task types, and a domain and grammar of our own. " +
        "Each file can be played as it is, and holds a walkthrough that wins it. A seed gives the same game " +
        "everywhere; seeds below 1,000,000 are for training, those below 1,500,000 for validation and those below " +
        "2,000,000 for tests.",
    )
    .requiredOption("--environment <name>", "alfworld")
    .requiredOption("--count <N>", "how many, with the seeds from S on", countFromOne)
    .requiredOption("--seed <S>", "the first seed", seed)
    .option("--size <name>", `how large the rooms are (${sizes.join(", ")})`, oneOf(sizes), "small")
    .option(
      "--type <name>",
      `one task type; by turns if absent (${TASK_TYPES.join(", ")})`,
      oneOf(TASK_TYPES),
    )
    .requiredOption("--out <folder>", "where to write TYPE-SEED.tw-pddl; made if it is not there")
    .action(run);
}

async function run({ environment, count, seed, size, type, out }: Options): Promise<void> {
  if (environment !== "alfworld")
    throw new UsageError(
      `--environment: no games are made for ${JSON.stringify(environment)}; expected alfworld`,
    );
  await onFile(out, "write", mkdir(out, { recursive: true }));
  for (let i = 0; i < count; i++) {
    const game = makeGame(seed + i, size, type);
    await writeOut(join(out, `${game.type}-${game.seed}.tw-pddl`), [`${JSON.stringify(game, null, 1)}\n`]);
  }
  progress(`${out}: ${count} games (${size}, seeds ${seed} to ${seed + count - 1})`);
}
