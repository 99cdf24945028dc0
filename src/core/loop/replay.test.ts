import { expect, it } from "vitest";
import type { Environment, EnvironmentTurn } from "../ports.ts";
import { sourceSchema } from "../record/schema.ts";
import { plannedSource, verified } from "./collect.ts";

/** Asks what was meant, by a numbered menu; only what reads `the right apple` wins. */
function asking(menu: readonly string[]): Environment {
  const turn = (observation: string, options: Record<string, string>): EnvironmentTurn => ({
    observation,
    feedback: observation,
    offered: null,
    state: { key: "room", mode: Object.keys(options).length === 0 ? "normal" : "pending_menu", options },
    ...{ score: 0, done: false, success: false },
  });
  return {
    reset: async () => ({ ...turn("A room.", {}), description: "Take it." }),
    step: async (action) => {
      if (action === "take apple")
        return { ...turn("Which one?", Object.fromEntries(menu.entries())), status: "executed" };
      const won = menu[Number(action)] === "the right apple";
      return { ...turn("You took one.", {}), status: "binding", ...{ score: 1, done: won, success: won } };
    },
    close: async () => undefined,
  };
}

const name = { source: "planner:16", repetition: 16, origin: { kind: "planner" } } as const;
const planned = async (menu: readonly string[], choice: string) =>
  sourceSchema.parse(
    await plannedSource(
      asking(menu),
      { environment: "scienceworld", task: "t" },
      ["take apple", choice],
      name,
    ),
  );

it("a menu's entry is chosen by its text, whatever number another process gives it", async () => {
  const source = await planned(["a pear", "the right apple"], "1");
  expect(source.decisions.map(({ binding }) => binding)).toEqual([null, "the right apple"]);
  const again = await verified(source, asking(["the right apple", "a pear"]));
  expect(again.outcome).toMatchObject({ success: true, verified: true });
});

it("an entry that several read like, or none, is not guessed", async () => {
  const alike = await planned(["an apple", "an apple", "the right apple"], "0");
  expect(alike.outcome).toMatchObject({
    verified: false,
    replay_difference: 'decision 1: 2 menu entries read "an apple": nothing tells which was chosen',
  });
  const source = await planned(["a pear", "the right apple"], "1");
  expect((await verified(source, asking(["a pear", "a plum"]))).outcome).toMatchObject({
    verified: false,
    replay_difference: 'decision 1: the menu has no entry "the right apple"',
  });
});
