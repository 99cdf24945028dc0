import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { referenceOf } from "../../src/core/loop/references.ts";
import { openFolder } from "../../src/engine/native/node-folder.ts";
import { readEpisodes, readLibrary } from "../../src/formats/index.ts";
import { openTokenizer } from "../../src/text/index.ts";
import { MiniatureTask } from "./task.ts";

const FOLDER = "public/miniature";
const bytes = (file: string) => [readFileSync(`${FOLDER}/${file}`)];

it("the library, the episodes and the optimal actions belong together, and are made again by the scripts", async () => {
  const library = await readLibrary(bytes("sources.jsonl.gz"), { file: "sources.jsonl.gz" });
  const episodes = await readEpisodes(bytes("episodes.jsonl.gz"), { file: "episodes.jsonl.gz" });
  const optimal = gunzipSync(readFileSync(`${FOLDER}/optimal.jsonl.gz`))
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { task: string; decision: number; optimal: string[] });
  expect(library.tasks).toHaveLength(96);
  expect(episodes.map(({ task }) => task)).toEqual(library.tasks.map(({ task }) => task));
  expect(optimal).toHaveLength(episodes.reduce((sum, { decisions }) => sum + decisions.length, 0));
  for (const seed of [0, 41, 95]) {
    const task = new MiniatureTask(seed, 1);
    const { decisions } = episodes.find((one) => one.task === task.task)!;
    expect(optimal.filter((line) => line.task === task.task).map((line) => line.optimal)).toEqual(
      task.optimalOf(decisions),
    );
    const sources = library.tasks.find((one) => one.task === task.task)!.sources;
    expect(await task.source(9, 0.57)).toEqual(sources.find(({ repetition }) => repetition === 9));
  }
});

it("the plans are each task's walkthrough, and the library has none of them", async () => {
  const file = "plans.jsonl.gz";
  const plans = await readLibrary(bytes(file), { file });
  const library = await readLibrary(bytes("sources.jsonl.gz"), { file: "sources.jsonl.gz" });
  expect(plans.tasks.map(({ task }) => task)).toEqual(library.tasks.map(({ task }) => task));
  for (const { task, sources } of plans.tasks)
    expect([task, referenceOf(sources)]).toEqual([task, sources[0]]);
  expect(library.tasks.every(({ sources }) => referenceOf(sources) === null)).toBe(true);
  expect(await new MiniatureTask(41, 1).plan()).toEqual(plans.tasks[41]!.sources[0]);
});

it.each([
  { percent: 30, covered: 96 },
  { percent: 75, covered: 16 },
])("the library with $percent % random commands has the same tasks", async ({ percent, covered }) => {
  const file = `sources-${percent}.jsonl.gz`;
  const manifest = (name: string) => JSON.parse(readFileSync(`${FOLDER}/${name}`, "utf8"));
  const { title, sources, ...rest } = manifest(`manifest-${percent}.json`);
  expect(sources).toBe(file);
  expect(manifest("manifest.json")).toMatchObject(rest);
  const { tasks } = await readLibrary(bytes(file), { file });
  expect(tasks).toHaveLength(96);
  expect(tasks.filter((one) => one.sources.some(({ outcome }) => outcome.success))).toHaveLength(covered);
  const task = new MiniatureTask(41, 1);
  const recorded = tasks.find((one) => one.task === task.task)!.sources;
  expect(await task.source(9, percent / 100)).toEqual(recorded.find(({ repetition }) => repetition === 9));
});

it("words, numbered names and labels are one token each", async () => {
  const tokenizer = await openTokenizer(openFolder(`${FOLDER}/tokenizer`));
  const count = (text: string) => tokenizer.encode(text).length;
  for (const text of [
    " cabinet 3",
    " potato 1",
    " potato",
    "Recorded action:",
    "<action>",
    " success",
    " unaligned",
  ])
    expect(count(text), text).toBe(1);
  expect(count("<action>take apple 1 from cabinet 2</action>")).toBe(6);
});
