import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { fixtureFolder } from "../../../test/support/environment-fixture.ts";
import { pageKey } from "../../core/environment/webshop/page.ts";
import { pageOfUrl } from "../../core/environment/webshop/page-url.ts";
import { makeCatalogue } from "../../simulator/webshop/made-catalogue.ts";

interface Row {
  action?: string;
  obs: string;
  avail: { clickables: string[] };
  reward?: number;
  done?: boolean;
  url?: string;
}

const fixture = fixtureFolder("live/webshop");
const game = join(fixture, "shop.json");
const folder = mkdtempSync(join(tmpdir(), "gcopd-play-webshop-"));
afterAll(() => rmSync(folder, { recursive: true }));

const [episode] = JSON.parse(gunzipSync(readFileSync(join(fixture, "episodes.json.gz"))).toString()) as [
  { goal: number; rows: Row[] },
];
const actions = join(folder, "actions.jsonl");
const given = episode.rows.slice(1).map(({ action }) => action);
writeFileSync(actions, given.map((action) => `${JSON.stringify(action)}\n`).join(""));
const play = (...more: string[]) => runCli("play", "--environment", "webshop", "--actions", actions, ...more);

test("a recorded episode is played line by line", async () => {
  const { code, out } = await play("--game", game, "--task", `goal${episode.goal}`);
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    episode.rows.map(({ action = null, obs, avail, reward = 0, done = false, url }, step) => ({
      ...{ step, action, feedback: obs, observation: obs, offered: avail.clickables, score: reward, done },
      won: reward === 1,
      key: pageKey(pageOfUrl(url ?? "/start", "text_env")),
    })),
  );
});

test("a made shop is played under its own name", async () => {
  const made = await runCli(
    ...[
      "games",
      "--environment",
      "webshop",
      "--count",
      "2",
      "--seed",
      "7",
      "--products",
      "30",
      "--out",
      folder,
    ],
  );
  expect(made).toMatchObject({ code: 0, out: "" });
  expect(made.err).toContain("2 shops (30 products each, seeds 7 to 8)");
  const shop = join(folder, "shop-8.json");
  expect(JSON.parse(readFileSync(shop, "utf8"))).toEqual(makeCatalogue({ seed: 8, products: 30 }));
  const { code, err } = await play("--game", shop, "--task", "goal29");
  expect([code, err]).toEqual([0, `made/shop-8/goal29: ${given.length} actions played\n`]);
});

test.each([
  [["--task", "goal6"], 2, "--environment webshop needs --game FILE, a shop's catalogue, or --server URL"],
  [["--game", game], 2, "--environment webshop needs --task"],
  [["--game", game, "--task", "goal94"], 1, "task: expected a task from goal0 to goal93"],
  [["--game", actions, "--task", "goal6"], 1, "actions.jsonl: not JSON"],
])("%j is refused", async (more, code, message) => {
  const result = await play(...more);
  expect(result).toMatchObject({ code, out: "" });
  expect(result.err).toContain(message);
});
