import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { collectConfigSchema, evaluateConfigSchema } from "../../core/loop/index.ts";
import type { Sampler } from "../../core/ports.ts";
import { type Source, sourceSchema } from "../../core/record/schema.ts";
import { isTrustedSuccess } from "../../core/record/standing.ts";
import { makeCatalogue } from "../../simulator/webshop/made-catalogue.ts";
import { Shop } from "../../simulator/webshop/shop.ts";
import { gameFile } from "../play/open-game-file.ts";
import { collect } from "./collect.ts";
import { evaluate } from "./evaluate.ts";
import { shopGames } from "./shop-games.ts";

const MODEL = resolve(import.meta.dirname, "../../../test/fixtures/models/tiny-a");
const TASKS = ["made/shop-1/goal0", "made/shop-1/goal2"];
const CATALOGUE = makeCatalogue({ seed: 1, products: 12 });
const SEARCH = "search[adjustable lamp chair shoes mug]";
const folder = mkdtempSync(join(tmpdir(), "gcopd-shops-"));
const games = join(folder, "shop.json");
beforeAll(() => writeFileSync(games, JSON.stringify(CATALOGUE)));
afterAll(() => rmSync(folder, { recursive: true }));

/** Searches, and then buys what comes last. */
const hasty: Sampler = {
  sample: async (requests) =>
    requests.map(({ id, promptIds }) => {
      const prompt = toyCodec.decode([...promptIds]);
      const last = (pattern: RegExp) => [...prompt.matchAll(pattern)].at(-1)?.[0];
      const action = last(/click\[buy now\]/g) ?? last(/click\[made\d+\]/g) ?? SEARCH;
      const responseIds = [...toyCodec.encode(`<action>${action}</action>`), 0];
      return { id, responseIds, logprobs: new Float32Array(responseIds.length).fill(-1), stop: "stop" };
    }),
};

const options = (out: string) => ({
  out: join(folder, out),
  onNote: () => undefined,
  onProgress: () => undefined,
  signal: new AbortController().signal,
  withPolicy: <T>(work: (sampler: Sampler, codec: typeof toyCodec) => Promise<T>) => work(hasty, toyCodec),
});
const environment = { name: "webshop", games, tasks: TASKS } as const;

test("goals of a shop are collected, with the oracle's purchase", async () => {
  const config = collectConfigSchema.parse({ environment, model: MODEL, repetitions: 1 });
  await collect({ ...options("collected"), config });
  const sources = readFileSync(join(folder, "collected/sources.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Source => sourceSchema.parse(JSON.parse(line)));
  expect(sources.map(({ task, source }) => [task, source])).toEqual(
    TASKS.flatMap((task) => ["teacher:0", "oracle:16"].map((source) => [task, source])),
  );
  for (const source of sources) expect(source.outcome).toMatchObject({ complete: true, verified: true });
  for (const source of sources.filter(({ origin }) => origin.kind === "oracle"))
    expect(isTrustedSuccess(source)).toBe(true);
});

test("a goal whose product the search misses has no oracle record, and one note says so", async () => {
  const { products, prices, ...rest } = CATALOGUE;
  const copies = Array.from({ length: 50 }, (_, i) => ({ ...products[0]!, asin: `COPY${i}` }));
  const shop = join(folder, "copies.json");
  const copyPrices = Object.fromEntries(copies.map(({ asin }) => [asin, 1]));
  const catalogue = { ...rest, products: [...copies, ...products], prices: { ...prices, ...copyPrices } };
  writeFileSync(shop, JSON.stringify(catalogue));
  const told: unknown[] = [];
  const stderr = vi.spyOn(process.stderr, "write").mockImplementation((text) => told.push(text) > 0);
  const config = collectConfigSchema.parse({
    environment: { ...environment, games: shop },
    model: MODEL,
    repetitions: 1,
  });
  await collect({ ...options("missed"), config }).finally(() => stderr.mockRestore());
  const names = readFileSync(join(folder, "missed/sources.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => sourceSchema.parse(JSON.parse(line)))
    .map(({ task, source }) => [task, source]);
  expect(names).toEqual([
    [TASKS[0], "teacher:0"],
    [TASKS[1], "teacher:0"],
    [TASKS[1], "oracle:16"],
  ]);
  expect(told).toEqual([
    `${shop}: ${TASKS[0]} has no oracle record: a search for its product's title does not find it\n`,
  ]);
});

test("goals of a shop are evaluated", async () => {
  const config = evaluateConfigSchema.parse({ environment, model: MODEL, seeds: [0, 1] });
  await evaluate({ ...options("evaluated"), config });
  const results = JSON.parse(readFileSync(join(folder, "evaluated/results.json"), "utf8"));
  const rewards = [0, 2].map((goal) => {
    const episode = new Shop(CATALOGUE).open(goal);
    episode.step(SEARCH);
    episode.step(`click[${episode.actions.clickables.at(-1)}]`);
    return episode.step("click[buy now]").reward;
  });
  expect(results.rounds.mean).toBe(3);
  expect(results.score.mean).toBeCloseTo(50 * (rewards[0]! + rewards[1]!), 10);
  expect(results.sr.mean).toBe(50 * rewards.filter((reward) => reward === 1).length);
});

test("two shops with the same tasks are refused", async () => {
  await expect(shopGames([gameFile(games), gameFile(games)])).rejects.toThrow(
    'has the same task names, "made/shop-1/goal0"',
  );
});
