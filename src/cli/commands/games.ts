import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { onFile } from "../../node/file-error.ts";
import { makeGame, SIZES, type Size, TASK_TYPES, type TaskType } from "../../simulator/alfworld/generate.ts";
import { MOST_PRODUCTS, makeCatalogue } from "../../simulator/webshop/made-catalogue.ts";
import { UsageError } from "../command.ts";
import { progress, writeOut } from "../io.ts";
import { countFromOne } from "../selection-options.ts";

interface Options {
  environment: string;
  count: number;
  seed: number;
  size: Size;
  type?: TaskType;
  products: number;
  out: string;
}

/** Seeds stay exact, and so do those of the games that follow. */
function seed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("expected a whole number below 1,000,000,000.");
  return Number(text);
}

function productCount(text: string): number {
  const count = countFromOne(text);
  if (count > MOST_PRODUCTS)
    throw new InvalidArgumentError(`expected at most ${MOST_PRODUCTS.toLocaleString("en")}.`);
  return count;
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
        "2,000,000 for tests. For webshop: catalogues of made shops, with a goal for each product.",
    )
    .requiredOption("--environment <name>", "alfworld, webshop")
    .requiredOption("--count <N>", "how many, with the seeds from S on", countFromOne)
    .requiredOption("--seed <S>", "the first seed", seed)
    .option("--size <name>", `ALFWorld: how large the rooms are (${sizes.join(", ")})`, oneOf(sizes), "small")
    .option(
      "--type <name>",
      `ALFWorld: one task type; by turns if absent (${TASK_TYPES.join(", ")})`,
      oneOf(TASK_TYPES),
    )
    .option(
      "--products <N>",
      `WebShop: how many each shop sells, at most ${MOST_PRODUCTS.toLocaleString("en")}`,
      productCount,
      200,
    )
    .requiredOption(
      "--out <folder>",
      "where to write TYPE-SEED.tw-pddl or shop-SEED.json; made if it is not there",
    )
    .action(run);
}

/** What is made from one seed, the name of its file, and what the summary says of all. */
const MAKERS: Record<string, (options: Options) => { make(seed: number): [string, object]; kind: string }> = {
  alfworld: ({ size, type }) => ({
    make: (seed) => {
      const game = makeGame(seed, size, type);
      return [`${game.type}-${game.seed}.tw-pddl`, game];
    },
    kind: `games (${size}`,
  }),
  webshop: ({ products }) => ({
    make: (seed) => [`shop-${seed}.json`, makeCatalogue({ seed, products })],
    kind: `shops (${products} products each`,
  }),
};

async function run(options: Options): Promise<void> {
  const { environment, count, seed, out } = options;
  const maker = Object.hasOwn(MAKERS, environment) ? MAKERS[environment] : undefined;
  if (maker === undefined)
    throw new UsageError(
      `--environment: no games are made for ${JSON.stringify(environment)}; expected ${Object.keys(MAKERS).join(", ")}`,
    );
  const { make, kind } = maker(options);
  await onFile(out, "write", mkdir(out, { recursive: true }));
  for (let i = 0; i < count; i++) {
    const [name, game] = make(seed + i);
    await writeOut(join(out, name), [`${JSON.stringify(game, null, 1)}\n`]);
  }
  progress(`${out}: ${count} ${kind}, seeds ${seed} to ${seed + count - 1})`);
}
