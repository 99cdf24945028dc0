import { expect, test } from "vitest";
import { beginEpisode, livePlay, reply } from "../../../core/loop/index.ts";
import { AlfworldEnvironment } from "../../../simulator/alfworld/environment.ts";
import { Game } from "../../../simulator/alfworld/game.ts";
import { makeGame } from "../../../simulator/alfworld/generate.ts";
import { asSource, isStudents, playedFiles, playedNow } from "./played-records.ts";

const made = makeGame(6);
const game = new Game(made, made.task);

/** An episode whose decisions were made by these, one after the other. */
async function played(...deciders: string[]) {
  const open = async () => new AlfworldEnvironment(() => game);
  const task = livePlay({ environment: "alfworld", task: made.task, open }, "evaluate", {
    ...{ episode: "e", repetition: 0, seed: 0 },
  });
  const live = await beginEpisode({ task, opened: await task.open() });
  for (const [t, by] of deciders.entries()) await reply(live, made.walkthrough[t]!, { by });
  return playedNow(live, 3);
}

test("executions are numbered from 0 in their task, over those of other tasks and the student's episodes", async () => {
  const person = await played("person");
  const other = { ...person, task: { ...person.task, task: "another" } };
  const [file] = await playedFiles([other, await played("student"), person, other, person]);
  const records = (await file!.file.text()).trimEnd().split("\n");
  const numbers = records.map((line) => JSON.parse(line)).map(({ task, repetition }) => [task, repetition]);
  expect(numbers).toEqual([
    ["another", 0],
    [made.task, 0],
    ["another", 1],
    [made.task, 1],
  ]);
});

test.each([
  [["person", "person"], "human"],
  [["teacher"], "teacher"],
  [["teacher under evidence"], "other"],
  [["record", "person"], "other"],
  [["student", "person"], "other"],
])("decided by %j: the origin is %s", async (deciders, kind) => {
  const record = await played(...deciders);
  expect(isStudents(record)).toBe(false);
  expect(asSource(record, 5)).toMatchObject({
    source: "played:3",
    repetition: 5,
    origin: { kind, play_settings: [...new Set(deciders)] },
    outcome: { complete: false, technical_reason: "not played to its end" },
  });
});

test("what the student alone has played is an episode, and may be incomplete", async () => {
  const record = await played("student", "student");
  expect(isStudents(record)).toBe(true);
  expect(record.outcome).toMatchObject({ complete: false, verified: false });
});

test("once the games are closed, what was played is saved all the same: unverified, and the record says why", async () => {
  const won = await played(...made.walkthrough.map(() => "person"));
  const files = await playedFiles([won, await played("person"), await played("student")]);
  const records = await Promise.all(
    files.map(async ({ path, file }) => [
      path,
      (await file.text())
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).outcome),
    ]),
  );
  expect(records).toEqual([
    [
      "played-sources.jsonl",
      [
        expect.objectContaining({
          ...{ complete: true, success: true, verified: false, replay_difference: "its game is closed" },
        }),
        expect.objectContaining({ complete: false, verified: false }),
      ],
    ],
    ["played-episodes.jsonl", [expect.objectContaining({ complete: false })]],
  ]);
});
