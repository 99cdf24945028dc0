import { expect, test } from "vitest";
import { plannedSource } from "../../../core/loop/index.ts";
import type { Source } from "../../../core/record/schema.ts";
import { AlfworldEnvironment } from "../../../simulator/alfworld/environment.ts";
import { Game } from "../../../simulator/alfworld/game.ts";
import { makeGame } from "../../../simulator/alfworld/generate.ts";
import { playedTask } from "./played-task.ts";

const made = makeGame(6);
const game = new Game(made, made.task);

async function source(name: string, last?: string): Promise<Source> {
  const environment = new AlfworldEnvironment(() => game);
  const planned = await plannedSource(
    environment,
    { environment: "alfworld", task: made.task },
    made.walkthrough,
    { source: name, repetition: 0, origin: { kind: "human" } },
  );
  const record = planned!;
  if (last === undefined) return record;
  const decisions = record.decisions.slice(0, 2);
  return { ...record, decisions, final_state: { key: last, mode: "normal", options: {} } };
}

test("played executions join the recorded ones where they visit the same state; the last one is the episode", async () => {
  const states = made.walkthrough.length + 1;
  const alone = playedTask([], [await source("played:1")]);
  expect([alone.states.length, alone.sources.length]).toEqual([states, 1]);
  const joined = playedTask(
    [await source("planner:16")],
    [await source("played:1"), await source("played:2", "elsewhere")],
  );
  expect(joined.states).toHaveLength(states + 1);
  expect(joined.states.filter(({ executions }) => executions === 3)).toHaveLength(2);
  expect(joined.episodes.map(({ id, decisions }) => [id, decisions])).toEqual([["played:2", 2]]);
});

test("records that were saved here before keep their names beside those that are played now", async () => {
  const { sources } = playedTask([await source("played:1")], [await source("played:1")]);
  expect(sources.map(({ id }) => id)).toEqual(["played:1", "played:1′"]);
});
