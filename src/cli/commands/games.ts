import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { TASK_TYPES } from "../../core/environment/alfworld/task-types.ts";
import {
  checkMade,
  isMade,
  MADE_KEYS,
  type MadeConfig,
  type MadeEnvironment,
  MOST_MADE,
  MOST_PRODUCTS,
  PRODUCTS,
  ROOM_SIZES,
  SEED_LIMIT,
} from "../../core/environment/made-config.ts";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/plural.ts";
import { onFile } from "../../node/file-error.ts";
import { type Made, madeGames, madeShops, madeText } from "../../simulator/made-games.ts";
import { UsageError } from "../command.ts";
import { progress, writeOut } from "../io.ts";
import { countFromOne } from "../selection-options.ts";

const MADE_ENVIRONMENTS = Object.keys(MADE_KEYS).join(", ");

interface Options extends MadeConfig {
  environment: string;
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
      "Make games: household rooms with ALFWorld's commands and six task types, and a domain and grammar of our own. " +
        "Each file can be played as it is, and holds a walkthrough that wins it. A seed gives the same game " +
        "everywhere; seeds below 1,000,000 are for training, those below 1,500,000 for validation and those below " +
        "2,000,000 for tests. For webshop: catalogues of made shops, with a goal for each product.",
    )
    .requiredOption("--environment <name>", MADE_ENVIRONMENTS)
    .requiredOption("--count <N>", "how many, with the seeds from S on", countUpTo(MOST_MADE))
    .requiredOption("--seed <S>", "the first seed", seed)
    .option(
      "--size <name>",
      `ALFWorld: how large the rooms are; small if absent (${ROOM_SIZES.join(", ")})`,
      oneOf(ROOM_SIZES),
    )
    .option(
      "--type <name>",
      `ALFWorld: one task type; all types in turn if absent (${TASK_TYPES.join(", ")})`,
      oneOf(TASK_TYPES),
    )
    .option("--world <S>", "ALFWorld, mini: the seed of a world, whose tasks share habits", seed)
    .option(
      "--products <N>",
      `WebShop: how many each shop sells, at most ${MOST_PRODUCTS.toLocaleString("en")}; ${PRODUCTS} if absent`,
      countUpTo(MOST_PRODUCTS),
    )
    .requiredOption(
      "--out <folder>",
      "where to write TYPE-SEED.tw-pddl or shop-SEED.json; made if it is not there",
    )
    .action(run);
}

/** What is made, and how many of what for the summary. */
const MAKERS: Record<
  MadeEnvironment,
  (made: MadeConfig) => { files: readonly Made<object>[]; what: string }
> = {
  alfworld: (made) => ({
    files: madeGames(made),
    what: `${countOf(made.count, "game")} (${made.size ?? "small"}`,
  }),
  webshop: (made) => ({
    files: madeShops(made),
    what: `${countOf(made.count, "shop")} (${countOf(made.products ?? PRODUCTS, "product")} each`,
  }),
};

async function run({ environment, out, ...made }: Options): Promise<void> {
  if (!isMade(environment))
    throw new UsageError(
      `--environment: no games are made for ${JSON.stringify(environment)}; expected ${MADE_ENVIRONMENTS}`,
    );
  try {
    checkMade(environment, made);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // The keys of a config are this command's options.
    throw new UsageError(`--${error.where.key?.split(".").at(-1)}: ${error.reason}`);
  }
  const { files, what } = MAKERS[environment](made);
  await onFile(out, "write", mkdir(out, { recursive: true }));
  for (const { name, make } of files) await writeOut(join(out, name), [madeText(make())]);
  const { count, seed } = made;
  progress(`${out}: ${what}, ${count === 1 ? `seed ${seed}` : `seeds ${seed} to ${seed + count - 1}`})`);
}
