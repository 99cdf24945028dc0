import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { InputError } from "../../core/errors.ts";
import { lockFolder } from "../../node/lock.ts";

/** What is done when a result is printed. */
const printing = vi.hoisted(() => ({ line: () => {} }));
vi.mock("../io.ts", async (original) => {
  const io = await original<typeof import("../io.ts")>();
  return {
    ...io,
    printLine(text?: string) {
      printing.line();
      io.printLine(text);
    },
  };
});

const folder = mkdtempSync(join(tmpdir(), "gcopd-experiment-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fixture = (path: string) => join(import.meta.dirname, "../../../test/fixtures/models", path);
const config = {
  environment: {
    name: "alfworld",
    made: { count: 2, seed: 0, size: "small" },
    max_decisions: 2,
    max_tokens: 2,
  },
  teacher: fixture("tiny-a"),
  student: fixture("tiny-a"),
  tokenizer: fixture("tokenizer"),
  device: "cpu",
  collect: { repetitions: 2 },
  train: { epochs: [0, 1], settings: { learning_rate: 1e-3 } },
  evaluate: { seeds: [0, 1] },
};
const out = join(folder, "out");
const experiment = (given: object) => {
  const file = join(folder, "experiment.json");
  writeFileSync(file, JSON.stringify(given));
  return runCli("experiment", "--config", file, "--out", out);
};
const read = (name: string) => JSON.parse(readFileSync(join(out, name), "utf8"));

it("refuses a key of a part by its name, before anything is made", async () => {
  const bad = await experiment({ ...config, evaluate: { seeds: [1, 1] } });
  expect(bad.code).toBe(1);
  expect(bad.err).toContain("experiment.json, evaluate.seeds: expected each one once");
  const foreign = await experiment({ ...config, train: { episodes: "episodes.jsonl" } });
  expect(foreign.err).toContain("experiment.json, train");
  const epochs = await experiment({ ...config, train: { epochs: [1, 1, 1] } });
  expect(epochs.err).toContain("experiment.json, train.epochs: 3 entries for 2 stages");
  const both = { ...config.environment, games: "games" };
  const placed = await experiment({ ...config, evaluate: { environment: both } });
  expect(placed.err).toContain("experiment.json, evaluate.environment.made: expected either it or");
  const method = await experiment({ ...config, methods: ["opd", "gcopd"] });
  expect(method.err).toMatch(
    /experiment\.json, methods\[1\]: expected opd, gc-opd, .*, or a file named \*\.json/,
  );
  // Its teacher would be opened first, its student only once the library is there.
  for (const [key, named, reason] of [
    ["teacher", "nowhere", "nowhere: no such folder"],
    [
      "student",
      fixture("tokenizer"),
      "config.json: this file is missing; expected a Hugging Face model folder",
    ],
  ] as const) {
    const folder = await experiment({ ...config, [key]: named });
    expect(folder.err).toMatch(new RegExp(`^gcopd: \\S+experiment\\.json, ${key}: \\S+${reason}\n$`));
  }
  expect(() => statSync(out)).toThrow();
});

it("collects, measures, trains and measures again; the same command changes nothing once it is done, and the folder is free when it tells", async () => {
  const first = await experiment(config);
  expect(first.err).toContain("part 4 of 4: the student after training");
  expect(first.code).toBe(0);
  const results = read("results.json");
  expect(first.out).toMatch(
    /^before: success rate .*\nafter: success rate .*\nafter less before: success rate .*; of 4 pairs of episodes \d won by both, \d by after alone, \d by before alone\n$/,
  );
  expect(results.before).toEqual(read("before/results.json"));
  expect(results.after).toEqual(read("after/results.json"));
  expect(results.comparison).toMatchObject({ tasks: 2, seeds: [0, 1] });
  // Two executions of each game and its plan.
  expect(readFileSync(join(out, "library/sources.jsonl"), "utf8").trim().split("\n")).toHaveLength(6);
  const student = readFileSync(join(out, "train/student/model.safetensors"));
  expect(student.equals(readFileSync(join(fixture("tiny-a"), "model.safetensors")))).toBe(false);

  const lines = vi.fn(() => lockFolder(join(out, "lock.sqlite"), new InputError("the folder is not free"))());
  printing.line = lines;
  const again = await experiment(config);
  printing.line = () => {};
  expect(lines).toHaveBeenCalledTimes(3);
  expect(again.err).not.toContain("not free");
  expect(again.code).toBe(0);
  expect(again.out).toBe(first.out);
  expect(readFileSync(join(out, "train/student/model.safetensors")).equals(student)).toBe(true);
});

it("writes the tasks of a list into the configs of its parts", async () => {
  const { task_list: tasks } = read("library/run.json");
  expect(tasks).toHaveLength(2);
  writeFileSync(join(folder, "train.txt"), `${tasks[0]}\n`);
  writeFileSync(join(folder, "wrong.txt"), `${tasks[1]}\n${tasks[1]}\n`);
  const environment = { ...config.environment, tasks: "train.txt" };
  const wrong = await experiment({
    ...config,
    environment,
    train: { ...config.train, evaluate: { every: 1, tasks: "wrong.txt" } },
  });
  expect(wrong.err).toContain("wrong.txt, line 2: ");
  const other = await experiment({ ...config, environment });
  // The folder is of all tasks: it says so before anything is played.
  expect(other.err).toContain(
    "collect.json: this part began with another config: environment.tasks was absent, is [",
  );
  const fresh = join(folder, "listed");
  const { code } = await runCli(
    ...["experiment", "--config", join(folder, "experiment.json"), "--out", fresh],
  );
  expect(code).toBe(0);
  for (const part of ["collect", "before", "train", "after"])
    expect(JSON.parse(readFileSync(join(fresh, `${part}.json`), "utf8")).environment.tasks, part).toEqual([
      tasks[0],
    ]);
});

it("refuses another config for a folder that has begun, and leaves the parts' configs as they are", async () => {
  const kept = read("train.json");
  const other = await experiment({ ...config, train: { ...config.train, seed: 7 } });
  expect(other.code).toBe(1);
  expect(other.err).toContain("train.json: this part began with another config: seed was 42, is 7;");
  expect(read("train.json")).toEqual(kept);
});

it("each part can be run by its own command", async () => {
  const part = await runCli("evaluate", "--config", join(out, "after.json"), "--out", join(folder, "alone"));
  expect(part.code).toBe(0);
  expect(readFileSync(join(folder, "alone/results.json"), "utf8")).toBe(
    readFileSync(join(out, "after/results.json"), "utf8"),
  );
});
