import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { type Fault, FileFaults } from "../../../test/support/file-faults.ts";
import type { TrainEvent } from "../../core/loop/index.ts";
import type { EngineInfo } from "../../core/ports.ts";
import { EventLog, timeTaken } from "./event-log.ts";

let files: FileFaults;
let folder: string;
beforeAll(async () => {
  files = await FileFaults.install();
});
afterAll(() => files.restore());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-events-"));
});
afterEach(() => {
  files.disarm();
  rmSync(folder, { recursive: true });
});

const model: EngineInfo = {
  model: "m",
  device: "cpu",
  adapter: "",
  dtype: "f32",
  parameters: 1,
  vocabulary: 1,
};
const start: TrainEvent = {
  type: "start",
  method: "opd",
  units: 1,
  unit: "episode",
  batchSize: 1,
  steps: 200,
  teacher: model,
  student: model,
  parent: null,
  resumedFrom: 100,
};
const done: TrainEvent = { type: "done", step: 100, seconds: 1 };

it("keeps every line of a continued run on a nearly full disk", () => {
  const path = join(folder, "events.jsonl");
  const lines = Array.from({ length: 106 }, (_, n) => `${JSON.stringify({ type: "step", step: n % 101 })}\n`);
  const before = lines.join("");
  const log = () => new EventLog(path, join(folder, "metrics.jsonl"));
  writeFileSync(path, before);
  files.arm(folder);
  const first = log();
  first.write(start);
  first.close();
  const rewrite = files.operations.findIndex(
    ({ name, path }) => name === "writeSync" && path.endsWith(".part"),
  );
  const begin = (fault: Fault) => {
    files.disarm();
    writeFileSync(path, before);
    files.arm(folder, rewrite, fault);
    return log();
  };

  expect(() => begin("full").write(start)).toThrow(/events\.jsonl: no space left on the device$/);
  files.disarm();
  expect(readFileSync(path, "utf8")).toBe(before);

  // What one write does not take, the next one does.
  const whole = begin("short");
  whole.write(start);
  whole.write(done);
  expect(files.injected?.path).toBe(`${path}.part`);
  files.disarm();
  whole.close();
  expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
  const added = readFileSync(path, "utf8").slice(before.length).trimEnd().split("\n");
  expect(added.map((line) => (JSON.parse(line) as TrainEvent).type)).toEqual(["start", "done"]);
});

it("adds up the time of all attempts, also of one that was killed and of steps that are taken again", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const path = join(folder, "events.jsonl");
    const log = () => new EventLog(path, join(folder, "metrics.jsonl"));
    const at = (seconds: number) => vi.setSystemTime(1_000_000_000 + 1000 * seconds);
    const [step, checkpoint] = [
      { stage: 0, epoch: 0, batch: 0, units: [], repeatedTasks: 0, batches: 1 },
      { stage: 0, epoch: 0, batch: 0 },
    ];
    expect(timeTaken(path)).toEqual({ spent: 0, steps: [] });
    const first = log();
    at(7);
    first.write({ ...start, resumedFrom: null, spent: 7 });
    at(20);
    first.write({ type: "checkpoint", step: 1, ...checkpoint });
    at(30);
    first.write({ type: "step", step: 2, ...step });
    first.close();
    expect(timeTaken(path).spent).toBe(30);
    // A day later it goes on after step 1: the lines of step 2 go, and its time stays.
    const second = log();
    at(86_400);
    second.write({ ...start, resumedFrom: 1, spent: 35 });
    expect(timeTaken(path).spent).toBe(35);
    at(86_410);
    second.write({ type: "step", step: 2, ...step });
    second.close();
    expect(timeTaken(path).spent).toBe(45);
  } finally {
    vi.useRealTimers();
  }
});

it("has a step's lines on the disk when the step is told, before its checkpoint", () => {
  const paths = ["events.jsonl", "metrics.jsonl"].map((name) => join(folder, name));
  const log = new EventLog(paths[0]!, paths[1]!);
  const updated = {
    type: "updated",
    step: 101,
    ...{ stage: 0, epoch: 0, batch: 0 },
    metrics: {},
    seconds: 1,
  };
  files.arm(folder);
  log.write(start);
  const { length } = files.operations;
  log.write({ ...updated, updateSeconds: 1, tokensPerSecond: 1 } as unknown as TrainEvent);
  const told = files.operations.slice(length);
  for (const path of paths) {
    const done = told.filter((operation) => operation.path === path).map(({ name }) => name);
    expect(done).toEqual(["writeSync", "fsyncSync"]);
  }
  log.close();
});
