/** Games of our own, as configs and `gcopd games` ask for them; `src/simulator/` makes them. */
import { z } from "zod";
import { InputError } from "../errors.ts";
import { isOneOf } from "../one-of.ts";
import { TASK_TYPES, type TaskType } from "./alfworld/task-types.ts";

/** How large the rooms of made household games are. */
export const ROOM_SIZES = ["small", "medium", "large", "mini"] as const;
export type RoomSize = (typeof ROOM_SIZES)[number];

/** What `mini` games, which are kitchens, ask for. */
export const MINI_TYPES = [
  "pick_and_place_simple",
  "pick_clean_then_place_in_recep",
  "pick_heat_then_place_in_recep",
  "pick_cool_then_place_in_recep",
] as const satisfies readonly TaskType[];

/** Most products of a made shop. Titles repeat, and a search, which gives 50 products, still finds each of them. */
export const MOST_PRODUCTS = 5_000;

/** Most games, or shops, that are made together. */
export const MOST_MADE = 100_000;

/** Most products of all shops that are made together: opened, they take 2.5 kB each. */
const MOST_PRODUCTS_TOGETHER = 500_000;

/** Products of a made shop where a config does not say how many. */
export const PRODUCTS = 200;

/** Seeds stay below this, so that they and those of the games that follow are exact. */
export const SEED_LIMIT = 1_000_000_000;

export const madeSchema = z.strictObject({
  count: z.int().min(1).max(MOST_MADE).describe("How many, with the seeds from `seed` on."),
  seed: z
    .int()
    .min(0)
    .max(SEED_LIMIT - 1)
    .describe("The first seed."),
  size: z.enum(ROOM_SIZES).optional().describe("ALFWorld: how large the rooms are; small when absent."),
  type: z.enum(TASK_TYPES).optional().describe("ALFWorld: one task type; all types in turn when absent."),
  world: z
    .int()
    .min(0)
    .max(SEED_LIMIT - 1)
    .optional()
    .describe(
      "ALFWorld, mini: the seed of a world, whose tasks share habits: where each kind of thing is usually kept and " +
        "where it usually goes. Each task draws its own layout. Without habits when absent.",
    ),
  products: z
    .int()
    .min(1)
    .max(MOST_PRODUCTS)
    .optional()
    .describe("WebShop: how many each shop sells, with one goal for each; 200 when absent."),
});

/** Games, or shops, of consecutive seeds. */
export type MadeConfig = z.infer<typeof madeSchema>;

/** The environments whose games can be made, with the keys that are theirs alone. */
export const MADE_KEYS = {
  alfworld: ["size", "type", "world"],
  webshop: ["products"],
} as const satisfies Record<string, readonly (keyof MadeConfig)[]>;
export type MadeEnvironment = keyof typeof MADE_KEYS;

export const isMade = (environment: string): environment is MadeEnvironment =>
  Object.hasOwn(MADE_KEYS, environment);

/** @throws InputError for a key of another environment, and for more shops than memory bears */
export function checkMade(environment: MadeEnvironment, made: MadeConfig): void {
  const own: readonly (keyof MadeConfig)[] = MADE_KEYS[environment];
  const other = Object.values(MADE_KEYS)
    .flat()
    .find((key) => made[key] !== undefined && !own.includes(key));
  if (other !== undefined)
    throw new InputError(`does not apply to ${environment}`, { key: `environment.made.${other}` });
  const { count, products = PRODUCTS, size, type, world } = made;
  if (world !== undefined && size !== "mini")
    throw new InputError("only applies with size mini", { key: "environment.made.world" });
  if (size === "mini" && type !== undefined && !isOneOf(MINI_TYPES, type))
    throw new InputError(`mini games have no such tasks; expected ${MINI_TYPES.join(", ")}`, {
      key: "environment.made.type",
    });
  const most = Math.floor(MOST_PRODUCTS_TOGETHER / products);
  if (environment === "webshop" && count > most)
    throw new InputError(
      `${count} shops of ${products} products do not fit in memory; expected at most ${most}`,
      {
        key: "environment.made.count",
      },
    );
}
