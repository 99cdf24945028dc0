import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  at,
  episodes,
  freshFolder,
  lines,
  MODEL,
  sources,
  TOKENIZER,
} from "../../../test/support/bad-input.ts";
import { readInputs } from "./inputs.ts";
import { readTrainConfig } from "./read-config.ts";

freshFolder();

/** What is told while a config's files are read. */
async function told(changes: object): Promise<string[]> {
  const files = { library: "sources.jsonl", episodes: "episodes.jsonl", tokenizer: TOKENIZER };
  writeFileSync(at("config.json"), JSON.stringify({ ...files, teacher: MODEL, student: MODEL, ...changes }));
  const notes: string[] = [];
  const config = await readTrainConfig(at("config.json"));
  const inputs = await readInputs({
    config,
    configFile: at("config.json"),
    onNote: (note) => notes.push(note),
  });
  await inputs.close();
  return notes;
}

it("says which tasks the library has no source of, where a stage retrieves", async () => {
  const tasks = new Set(episodes.map(({ task }) => task)).size;
  expect(await told({})).toEqual([]);
  writeFileSync(
    at("episodes.jsonl"),
    lines([...episodes, { ...episodes[0], episode: "far", task: "unknown" }]),
  );
  expect(await told({})).toEqual([
    `gcopd: warning: ${at("sources.jsonl")} has no source of 1 of the ${tasks + 1} tasks that the episodes are of: ` +
      'nothing can be retrieved for "unknown"',
  ]);
  expect(await told({ method: "opd" })).toEqual([]);
  writeFileSync(
    at("sources.jsonl"),
    lines(sources.map((source) => ({ ...source, task: `other ${String(source.task)}` }))),
  );
  const [warning] = await told({});
  expect(warning).toContain(`has no source of ${tasks + 1} of the ${tasks + 1} tasks`);
});
