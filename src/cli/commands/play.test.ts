import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { liveGame, rows } from "../../../test/support/alfworld-games.ts";
import { runCli } from "../../../test/support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-play-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Trace {
  game: string;
  walk: string;
  step: number;
  command: string | null;
  feedback: string;
  admissible_commands: string[];
  won: boolean;
  done: boolean;
  key: string;
}

const traces = rows<Trace>("live/alfworld/traces.jsonl.gz");
const [first] = traces as [Trace];
const walk = traces.filter((trace) => trace.game === first.game && trace.walk === first.walk);
const game = join(folder, first.game);
writeFileSync(game, JSON.stringify(liveGame(first.game, first.feedback)));

const lines = (values: readonly unknown[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
function actions(text: string): string {
  const file = join(folder, "actions.jsonl");
  writeFileSync(file, text);
  return file;
}
const play = (file: string, ...more: string[]) =>
  runCli("play", "--environment", "alfworld", "--game", game, "--actions", file, ...more);

describe("gcopd play", () => {
  it("writes one line for the reset and one for each action", async () => {
    const out = join(folder, "out.jsonl");
    const commands = walk.slice(1).map(({ command }) => command);
    expect((await play(actions(lines(commands)), "--out", out)).err).toContain(`${commands.length} actions`);
    const written = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(written[0]!["observation"]).toBe(first.feedback.split("\n\nYour task is to")[0]);
    expect(written.map(({ observation, ...line }) => line)).toEqual(
      walk.map(({ step, command, feedback, admissible_commands, won, done, key }) => ({
        step,
        action: command,
        feedback,
        offered: admissible_commands,
        score: won ? 1 : 0,
        done,
        won,
        key,
      })),
    );
  });

  it("a task is part of the key", async () => {
    const { out } = await play(actions(""), "--task", "another");
    expect(JSON.parse(out)).toMatchObject({ step: 0, action: null, feedback: first.feedback });
    expect(JSON.parse(out).key).not.toBe(first.key);
  });

  it.each([
    [
      "no string",
      '"look"\n{"action":"look"}\n',
      "line 2: expected an action as a JSON string, received object",
    ],
    ["no JSON", '"look\n', "line 1: not JSON"],
  ])("refuses a malformed actions file: %s", async (_, text, message) => {
    const out = join(folder, "refused.jsonl");
    const { code, err } = await play(actions(text), "--out", out);
    expect([code, err.split("\n").length]).toEqual([1, 2]);
    expect(err).toContain(`actions.jsonl, ${message}`);
    expect(() => readFileSync(out)).toThrow();
  });

  it("refuses what cannot be played", async () => {
    const file = actions("");
    expect(await runCli("play", "--environment", "chess", "--actions", file)).toMatchObject({ code: 2 });
    expect(await runCli("play", "--environment", "alfworld", "--actions", file)).toMatchObject({ code: 2 });
  });
});

describe("gcopd games", () => {
  it("makes games that play as they are", async () => {
    const out = join(folder, "made");
    const made = await runCli(..."games --environment alfworld --count 3 --seed 41 --out".split(" "), out);
    expect(made).toMatchObject({ code: 0, out: "" });
    expect(readdirSync(out)).toEqual([
      "look_at_obj_in_light-43.tw-pddl",
      "pick_and_place_simple-42.tw-pddl",
      "pick_two_obj_and_place-41.tw-pddl",
    ]);
    for (const name of readdirSync(out)) {
      const file = join(out, name);
      const { walkthrough, task } = JSON.parse(readFileSync(file, "utf8")) as Record<"task", string> & {
        walkthrough: string[];
      };
      const args = ["--environment", "alfworld", "--game", file, "--task", task];
      const played = await runCli("play", ...args, "--actions", actions(lines(walkthrough)));
      const last = JSON.parse(played.out.trimEnd().split("\n").at(-1)!) as Record<string, unknown>;
      expect(last).toMatchObject({ step: walkthrough.length, won: true, done: true, score: 1 });
    }
  });

  it.each([
    ["alfworld", "1 game (small, seed 0)"],
    ["webshop", "1 shop (200 products each, seed 0)"],
  ])("says what it made: one of %s", async (environment, summary) => {
    const args = ["games", "--environment", environment, "--count", "1", "--seed", "0", "--out", folder];
    expect((await runCli(...args)).err).toBe(`${folder}: ${summary}\n`);
  });

  it.each([
    ["--environment scienceworld --count 1 --seed 0", "no games are made for"],
    ["--environment alfworld --count 0 --seed 0", "--count"],
    ["--environment alfworld --count 100001 --seed 0", "expected at most 100,000"],
    ["--environment alfworld --count 1 --seed -1", "--seed"],
    ["--environment alfworld --count 1 --seed 1000000000", "expected a whole number below 1,000,000,000"],
    ["--environment alfworld --count 1 --seed 0 --size huge", "expected small, medium, large"],
    ["--environment alfworld --count 1 --seed 0 --type dust", "expected pick_and_place_simple"],
    ["--environment webshop --count 1 --seed 0 --products 5001", "expected at most 5,000"],
    ["--environment webshop --count 101 --seed 0 --products 5000", "--count: 101 shops"],
    ["--environment webshop --count 1 --seed 0 --size mini", "--size: does not apply to webshop"],
    ["--environment webshop --count 1 --seed 0 --type look_at_obj_in_light", "--type: does not apply"],
    ["--environment alfworld --count 1 --seed 0 --products 9", "--products: does not apply to alfworld"],
    ["--environment alfworld --count 1 --seed 0 --world 1", "--world: only applies with size mini"],
  ])("refuses %s", async (args, message) => {
    const out = join(folder, "never");
    const { code, err } = await runCli("games", ...args.split(" "), "--out", out);
    expect(code).toBe(2);
    expect(err).toContain(message);
    expect(readdirSync(folder)).not.toContain("never");
  });
});
