/** Games of our own, as configs and `gcopd games` ask for them; `src/simulator/` makes them. */
import { z } from "zod";
import { InputError } from "../errors.ts";
import { TASK_TYPES } from "./alfworld/task-types.ts";

/** How large the rooms of made household games are. */
export const ROOM_SIZES = ["small", "medium", "large"] as const;
export type RoomSize = (typeof ROOM_SIZES)[number];

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
  products: z
    .int()
    .min(1)
    .max(MOST_PRODUCTS)
    .optional()
    .describe("WebShop: how many each shop sells, with one goal for each; 200 when absent."),
});

/** Games, or shops, of consecutive seeds. */
export type MadeConfig = z.infer<typeof madeSchema>;

const KEYS = { alfworld: ["products"], webshop: ["size", "type"] } as const;

/** @throws InputError for a key of the other environment, and for more shops than memory bears */
export function checkMade(environment: keyof typeof KEYS, made: MadeConfig): void {
  const other = KEYS[environment].find((key) => made[key] !== undefined);
  if (other !== undefined)
    throw new InputError(`does not apply to ${environment}`, { key: `environment.made.${other}` });
  const { count, products = PRODUCTS } = made;
  const most = Math.floor(MOST_PRODUCTS_TOGETHER / products);
  if (environment === "webshop" && count > most)
    throw new InputError(
      `${count} shops of ${products} products do not fit in memory; expected at most ${most}`,
      {
        key: "environment.made.count",
      },
    );
}
