import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { fakeSimulator } from "../../simulator/scienceworld/testing/fake-simulator.ts";
import { madeJar } from "../../simulator/scienceworld/testing/made-jar.ts";
import { stubGateway, tinyWorld } from "../../simulator/scienceworld/testing/stub-gateway.ts";

const { folder, jar, gateway } = fakeSimulator();
const [other, actions] = [join(folder, "b.jar"), join(folder, "actions.jsonl")];

beforeAll(() => {
  writeFileSync(other, madeJar("1.3.0"));
  writeFileSync(actions, '"menu"\n"0"\n"win"\n');
});

const play = (...more: string[]) =>
  runCli("play", "--environment", "scienceworld", "--actions", actions, ...more);

test("an episode is played line by line", async () => {
  const { code, out, err } = await play("--simulator", jar, "--task", "tiny|0|easy");
  expect(err).toMatch(/^ScienceWorld 1\.2\.3, SHA-256 [0-9a-f]{64}\n/);
  expect(code).toBe(0);
  const lines = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const offered = { templates: ["look at OBJ", "wait"], objects: ["door"] };
  const look = "You see:\n\ta door\\that is shut";
  expect(lines[0]).toEqual({
    ...{ step: 0, action: null, feedback: look, observation: look, offered, score: 0, done: false },
    ...{
      won: false,
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      moves: 0,
      inventory: "nothing",
      look: "a room",
    },
  });
  expect(
    lines.map(({ step, action, score, done, won, moves }) => [step, action, score, done, won, moves]),
  ).toEqual([
    [0, null, 0, false, false, 0],
    [1, "menu", 0, false, false, 1],
    [2, "0", 0, false, false, 2],
    [3, "win", 100, true, true, 3],
  ]);
});

test.each([["play"], ["prompt", "--purpose", "evaluate"]])(
  "%s that is interrupted leaves no simulator behind",
  async (...command) => {
    const temporary = mkdtempSync(join(folder, "temporary-"));
    const tiny = tinyWorld();
    const step = ([action = ""]: readonly string[]) => {
      if (action !== "smenu") return tiny.step!([action]);
      process.emit("SIGINT", "SIGINT");
      return null;
    };
    const silent = await stubGateway({ ...tiny, step });
    vi.stubEnv("GCOPD_FAKE_JAVA", String(silent.port));
    vi.stubEnv("TMPDIR", temporary);
    const args = ["--environment", "scienceworld", "--actions", actions, "--simulator", jar];
    const { code, out, err } = await runCli(...command, ...args, "--task", "tiny|0|easy");
    expect([code, out]).toEqual([130, ""]);
    expect(err).toContain("gcopd: interrupted: nothing was written\n");
    expect(readdirSync(temporary)).toEqual([]);
    await silent.close();
    vi.stubEnv("GCOPD_FAKE_JAVA", String(gateway().port));
  },
);

test.each([
  [["--task", "boil|1|easy"], 2, "needs --simulator, a wheel, JAR or package folder"],
  [["--simulator", jar], 2, "needs --task"],
  [["--simulator", jar, "--task", "boil"], 1, "task: expected TASK|VARIATION|SIMPLIFICATION"],
  [["--simulator", jar, "--task", "tiny|7|easy"], 1, "task: Task (tiny): there is no variation 7."],
  [["--simulator", other, "--task", "boil|1|easy"], 1, "b.jar: is ScienceWorld 1.3.0"],
])("%j is refused", async (more, code, message) => {
  const result = await play(...more);
  expect(result).toMatchObject({ code, out: "" });
  expect(result.err).toContain(message);
});
