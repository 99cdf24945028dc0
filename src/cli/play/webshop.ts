import { readCatalogue } from "../../simulator/webshop/catalogue.ts";
import { ShopEnvironment, ShopServerEnvironment } from "../../simulator/webshop/environment.ts";
import { Shop } from "../../simulator/webshop/shop.ts";
import { UsageError } from "../command.ts";
import { progress, readText } from "../io.ts";
import { connectShop } from "../live/shop-server.ts";
import type { PlayOptions, PlaySession } from "./simulator.ts";

/** One goal of a catalogue, or of a running server. */
export async function openWebShop({
  game: file,
  task,
  simulator,
  server,
}: PlayOptions): Promise<PlaySession> {
  if (task === undefined) throw new UsageError("--environment webshop needs --task, for example goal6");
  if (simulator !== undefined) throw new UsageError("--simulator is not for webshop, which is built in");
  if (file !== undefined && server === undefined) {
    const shop = new Shop(readCatalogue(await readText(file), file));
    return { environment: new ShopEnvironment(shop), task: shop.taskOf(shop.goalOf(task)) };
  }
  if (server === undefined || file !== undefined)
    throw new UsageError("--environment webshop needs --game FILE, a shop's catalogue, or --server URL");
  const client = await connectShop(server, "any");
  const { goals, observation_mode: mode, seed, goal_shuffle_seed: shuffle } = await client.health();
  progress(`${server}: ${goals} goals, ${mode}, seed ${seed}, goals shuffled with ${shuffle}`);
  return { environment: new ShopServerEnvironment(client), task };
}
