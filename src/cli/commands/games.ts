import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { TASK_TYPES, type TaskType } from "../../core/environment/alfworld/task-types.ts";
import {
  isMade,
  MADE_KEYS,
  type MadeEnvironment,
  MOST_MADE,
  MOST_PRODUCTS,
  ROOM_SIZES,
  type RoomSize,
  SEED_LIMIT,
} from "../../core/environment/made-config.ts";
import { onFile } from "../../node/file-error.ts";
import { type Made, madeGames, madeShops, madeText } from "../../simulator/made-games.ts";
import { UsageError } from "../command.ts";
import { progress, writeOut } from "../io.ts";
import { countFromOne } from "../selection-options.ts";

const MADE_ENVIRONMENTS = Object.keys(MADE_KEYS).join(", ");

interface Options {
  environment: string;
  count: number;
  seed: number;
  size: RoomSize;
  type?: TaskType;
  world?: number;
  products: number;
  out: string;
}

function seed(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) >= SEED_LIMIT)
    throw new InvalidArgumentError(`expected a whole number below ${SEED_LIMIT.toLocaleString("en")}.`);
  return Number(text);
}

function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = countFromOne(text);
    if (count > most) throw new InvalidArgumentError(`expected at most ${most.toLocaleString("en")}.`);
    return count;
  };
}

function oneOf<T extends string>(names: readonly T[]): (text: string) => T {
  return (text) => {
    const known = names.find((name) => name === text);
    if (known === undefined) throw new InvalidArgumentError(`expected ${names.join(", ")}.`);
    return known;
  };
}

export function register(program: Command): void {
  program
    .command("games")
    .description(
      "Makes games: household rooms with ALFWorld's commands and six task types, and a domain and grammar of our own. " +
        "Each file can be played as it is, and holds a walkthrough that wins it. A seed gives the same game " +
        "everywhere; seeds below 1,000,000 are for training, those below 1,500,000 for validation and those below " +
        "2,000,000 for tests. For webshop: catalogues of made shops, with a goal for each product.",
    )
    .requiredOption("--environment <name>", MADE_ENVIRONMENTS)
    .requiredOption("--count <N>", "how many, with the seeds from S on", countUpTo(MOST_MADE))
    .requiredOption("--seed <S>", "the first seed", seed)
    .option(
      "--size <name>",
      `ALFWorld: how large the rooms are (${ROOM_SIZES.join(", ")})`,
      oneOf(ROOM_SIZES),
      "small",
    )
    .option(
      "--type <name>",
      `ALFWorld: one task type; all types in turn if absent (${TASK_TYPES.join(", ")})`,
      oneOf(TASK_TYPES),
    )
    .option("--world <S>", "ALFWorld, mini: the seed of a world, whose tasks share habits", seed)
    .option(
      "--products <N>",
      `WebShop: how many each shop sells, at most ${MOST_PRODUCTS.toLocaleString("en")}`,
      countUpTo(MOST_PRODUCTS),
      200,
    )
    .requiredOption(
      "--out <folder>",
      "where to write TYPE-SEED.tw-pddl or shop-SEED.json; made if it is not there",
    )
    .action(run);
}

/** What is made, and what the summary says of it. */
const MAKERS: Record<
  MadeEnvironment,
  (options: Options) => { files: readonly Made<object>[]; kind: string }
> = {
  alfworld: ({ count, seed, size, type, world }) => ({
    files: madeGames({ count, seed, size, type, world }),
    kind: `games (${size}`,
  }),
  webshop: ({ count, seed, products }) => ({
    files: madeShops({ count, seed, products }),
    kind: `shops (${products} products each`,
  }),
};

async function run(options: Options): Promise<void> {
  const { environment, count, seed, out } = options;
  if (!isMade(environment))
    throw new UsageError(
      `--environment: no games are made for ${JSON.stringify(environment)}; expected ${MADE_ENVIRONMENTS}`,
    );
  const { files, kind } = MAKERS[environment](options);
  await onFile(out, "write", mkdir(out, { recursive: true }));
  for (const { name, make } of files) await writeOut(join(out, name), [madeText(make())]);
  progress(`${out}: ${count} ${kind}, seeds ${seed} to ${seed + count - 1})`);
}
