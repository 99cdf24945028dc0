import { expect, it } from "vitest";
import { seedOf, uniforms } from "../../src/core/seeded.ts";
import { Episode } from "../../src/simulator/alfworld/episode.ts";
import { kindOf, sensibleCommands } from "./sensible.ts";
import { HORIZON, MiniatureTask } from "./task.ts";

const situation = {
  kind: kindOf("Task: put a clean apple in a fridge."),
  places: ["cabinet 1", "countertop 1", "drawer 1"],
  at: "drawer 1",
  text: "Task: put a clean apple in a fridge.\nNow: You walk to the drawer 1. The drawer 1 is closed.",
  optimal: ["go to cabinet 1"],
};

it("searches what it has not looked into, and opens what it stands before", () => {
  expect(situation.kind).toBe("apple");
  expect(sensibleCommands(situation)).toEqual(["open drawer 1"]);
  expect(sensibleCommands({ ...situation, at: null })).toEqual([
    "go to cabinet 1",
    "go to countertop 1",
    "go to drawer 1",
  ]);
  const text = `${situation.text}\nSaw: You open the drawer 1. The drawer 1 is open. In it there is a mug 1.`;
  expect(sensibleCommands({ ...situation, text })).toEqual(["go to cabinet 1", "go to countertop 1"]);
  const above = `${text}\nFeedback: You walk to the countertop 1. On the countertop 1 there is nothing.`;
  expect(sensibleCommands({ ...situation, text: above })).toEqual(["go to cabinet 1"]);
});

it("takes the shortest way once the place is told, by whatever it reads, and when all was looked into", () => {
  const text = `Feedback: You open the cabinet 1. The cabinet 1 is open. In it there is an apple 2.\n${situation.text}`;
  expect(sensibleCommands({ ...situation, text })).toBe(situation.optimal);
  const all = situation.places.map((place) => `The ${place} is open. In it there is nothing.`).join(" ");
  expect(sensibleCommands({ ...situation, text: `${all} ${situation.text}` })).toBe(situation.optimal);
  // The task names the kind, but no thing.
  expect(sensibleCommands({ ...situation, optimal: ["wait"] })).not.toContain("wait");
});

it("solves about half of the tasks by searching alone, and all with the feedback of 16 executions", async () => {
  const solved = { alone: 0, told: 0 };
  const tasks = Array.from({ length: 24 }, (_, n) => new MiniatureTask(1_000_000 + n, 1000));
  for (const task of tasks) {
    const sources = await Promise.all(
      Array.from({ length: 16 }, (_, k) => task.source(k, 0.6, { trusted: true })),
    );
    const told = sources.flatMap(({ decisions }) => decisions.map(({ feedback }) => feedback)).join("\n");
    for (const [name, evidence] of [
      ["alone", ""],
      ["told", told],
    ] as const)
      if (played(task, evidence)) solved[name] += 1;
  }
  expect(solved.told).toBe(24);
  expect(solved.alone).toBeGreaterThan(8);
  expect(solved.alone).toBeLessThan(18);
});

/** Whether the sensible player solves a task in the horizon, seeing the window of the prompt and the evidence. */
function played(task: MiniatureTask, evidence: string): boolean {
  const draw = uniforms(seedOf(task.task));
  const episode = new Episode(task.game);
  const seen = [episode.opening().feedback];
  let at: string | null = null;
  for (let t = 0; t < HORIZON && !episode.won; t++) {
    const commands = sensibleCommands({
      kind: kindOf(seen[0]!),
      places: task.places,
      at,
      text: [evidence, ...seen.slice(-7)].join("\n"),
      optimal: task.optimalAt(episode),
    });
    const { feedback } = episode.step(commands[Math.floor(draw() * commands.length)]!);
    seen.push(feedback);
    at = /^You walk to the (.*?)\. /.exec(feedback)?.[1] ?? at;
  }
  return episode.won;
}
