import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { type EnvironmentConfig, environmentSchema } from "../../core/loop/index.ts";
import { openGames } from "./open-games.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-made-"));
afterAll(() => rmSync(folder, { recursive: true }));

const opened = async (environment: EnvironmentConfig) => {
  const games = await openGames(environmentSchema.parse(environment));
  const tasks = games.tasks.map(({ task }) => task);
  const [live] = games.tasks;
  const environmentOfTask = await live!.open();
  const { observation } = await environmentOfTask.reset(live!.task);
  return { tasks, observation, plan: await games.plan(live!.task), digest: games.digest };
};

it.each([
  { name: "alfworld", made: { count: 7, seed: 41, size: "medium" }, options: "--size medium" },
  {
    name: "alfworld",
    made: { count: 2, seed: 3, type: "pick_two_obj_and_place" },
    options: "--type pick_two_obj_and_place",
  },
  { name: "webshop", made: { count: 2, seed: 8, products: 6 }, options: "--products 6" },
] as const)(
  "$name: the tasks and the digest of the files that `gcopd games` writes ($options)",
  async (each) => {
    const { name, made, options } = each;
    const out = join(folder, options.replaceAll(" ", ""));
    const seeds = `--count ${made.count} --seed ${made.seed}`.split(" ");
    await runCli("games", "--environment", name, ...seeds, ...options.split(" "), "--out", out);
    const here = await opened({ name, made });
    const games = name === "webshop" ? [8, 9].map((seed) => join(out, `shop-${seed}.json`)) : out;
    expect(await opened({ name, games, tasks: here.tasks })).toEqual(here);
    expect(here.plan).not.toBeNull();
  },
);

it("takes the six types by turns, and another size is another digest", async () => {
  const made = { count: 6, seed: 0 };
  const { tasks, digest } = await opened({ name: "alfworld", made });
  expect(tasks.map((task) => task.replace(/^made\/small\/(.*)-\d$/, "$1"))).toEqual([
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
  ]);
  const large = await opened({ name: "alfworld", made: { ...made, size: "large" } });
  expect(large.digest).not.toBe(digest);
  expect((await opened({ name: "alfworld", made: { ...made, size: "small" } })).digest).toBe(digest);
});
