import { readCatalogue } from "../../simulator/webshop/catalogue.ts";
import { ShopEnvironment } from "../../simulator/webshop/environment.ts";
import { Shop } from "../../simulator/webshop/shop.ts";
import { UsageError } from "../command.ts";
import { readText } from "../io.ts";
import type { PlayOptions, PlaySession } from "./simulator.ts";

/** One goal of a catalogue. */
export async function openWebShop({ game: file, task, simulator }: PlayOptions): Promise<PlaySession> {
  if (file === undefined) throw new UsageError("--environment webshop needs --game FILE, a shop's catalogue");
  if (task === undefined) throw new UsageError("--environment webshop needs --task, for example goal6");
  if (simulator !== undefined) throw new UsageError("--simulator is not for webshop, which is built in");
  const shop = new Shop(readCatalogue(await readText(file), file));
  return { environment: new ShopEnvironment(shop), task: shop.taskOf(shop.goalOf(task)) };
}
