import { InputError } from "../../core/errors.ts";
import type { ServerAddress } from "../../core/loop/index.ts";
import { sha256Hex } from "../../node/sha256.ts";
import { ShopClient } from "../../simulator/webshop/client.ts";
import { ShopServerEnvironment } from "../../simulator/webshop/environment.ts";
import { serverOracle } from "../../simulator/webshop/server-oracle.ts";
import { progress } from "../io.ts";
import type { GameFiles } from "./game-files.ts";

/** Speaks to the server at an address; its token, where it wants one, is in the environment. */
export function connectShop(url: string, settings: ServerAddress["settings"]): Promise<ShopClient> {
  const token = process.env.GCOPD_SHOP_TOKEN;
  return ShopClient.connect(url, {
    ...(token === undefined || token === "" ? {} : { token }),
    ...(settings === "any" ? { expect: "any" } : {}),
  });
}

const goalTasks = ({ first, count }: { first: number; count: number }): string[] =>
  Array.from({ length: count }, (_, n) => `goal${first + n}`);

/** The tasks that a config names, without asking the server whether it has them. */
export function namedGoals({ goals }: ServerAddress, tasks?: readonly string[]): { task: string }[] {
  return (tasks ?? (goals === undefined ? [] : goalTasks(goals))).map((task) => ({ task }));
}

/**
 * Goals of a running WebShop server, as tasks.
 *
 * @param tasks those of the config, in place of a range of goals
 * @throws InputError when the server does not answer, runs with other settings or has fewer goals
 */
export async function shopServer(
  { server, settings, goals }: ServerAddress,
  tasks: readonly string[] | undefined,
): Promise<GameFiles> {
  const client = await connectShop(server, settings);
  const { active_episodes: _, ok: __, ...made } = await client.health();
  if (tasks === undefined && goals === undefined)
    throw new InputError(
      `missing; expected the first of the server's ${made.goals} goals to play and how many, or environment.tasks`,
      { key: "environment.goals" },
    );
  if (goals !== undefined && goals.first + goals.count > made.goals)
    throw new InputError(
      `up to goal${goals.first + goals.count - 1}, but ${server} has ${made.goals} goals`,
      {
        key: "environment.goals",
      },
    );
  return {
    tasks: goals === undefined ? goalTasks({ first: 0, count: made.goals }) : goalTasks(goals),
    open: () => new ShopServerEnvironment(client),
    plan: async (task) => {
      const actions = await serverOracle(client, Number(task.slice("goal".length)));
      if (actions === null)
        progress(
          `${server}: ${task} has no oracle record: the server does not tell its product, or a search does not find it`,
        );
      return actions;
    },
    // Not the address: the same shop may stand elsewhere tomorrow.
    digest: async () => sha256Hex(JSON.stringify(Object.entries(made).sort())),
    close: async () => undefined,
  };
}
