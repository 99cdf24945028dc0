/** Games of our own from consecutive seeds: the same from `gcopd games`, from a config and in the page. */
import {
  checkMade,
  type MadeConfig,
  type MadeEnvironment,
  PRODUCTS,
} from "../core/environment/made-config.ts";
import { type MadeGame, madeTask, makeGame, typeOf } from "./alfworld/generate.ts";
import type { GameText } from "./game-set.ts";
import type { Catalogue } from "./webshop/catalogue.ts";
import { madeShopName, makeCatalogue } from "./webshop/made-catalogue.ts";
import { goalTask } from "./webshop/shop.ts";

/** One game, or one shop; made when it is asked for. */
export interface Made<T> {
  /** Of the file that `gcopd games` writes. */
  name: string;
  make(): T;
}

/** Household games; the types take turns unless one is named. */
export function madeGames(made: MadeConfig): (Made<MadeGame> & { task: string })[] {
  checkMade("alfworld", made);
  const { size = "small", world } = made;
  return seeds(made, (seed) => {
    const type = made.type ?? typeOf(seed, size);
    return {
      task: madeTask(size, type, seed, world),
      name: `${type}-${seed}.tw-pddl`,
      make: () => makeGame(seed, size, type, world),
    };
  });
}

/** Catalogues of shops. */
export function madeShops(made: MadeConfig): Made<Catalogue>[] {
  checkMade("webshop", made);
  const { products = PRODUCTS } = made;
  return seeds(made, (seed) => ({
    name: `shop-${seed}.json`,
    make: () => makeCatalogue({ seed, products }),
  }));
}

/** Names of the tasks, without making them. */
export function madeTasks(environment: MadeEnvironment, made: MadeConfig): string[] {
  if (environment === "alfworld") return madeGames(made).map(({ task }) => task);
  checkMade("webshop", made);
  const { products = PRODUCTS } = made;
  return seeds(made, madeShopName).flatMap((shop) =>
    Array.from({ length: products }, (_, goal) => goalTask(shop, goal)),
  );
}

/** The text of a made game's file. */
export const madeText = (made: object): string => `${JSON.stringify(made, null, 1)}\n`;

/** A made game, as the file that `gcopd games` would write. */
export const madeGameText = ({ name, make }: Made<object>): GameText => ({
  label: name,
  read: async () => madeText(make()),
});

function seeds<T>({ count, seed: first }: MadeConfig, of: (seed: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => of(first + n));
}
