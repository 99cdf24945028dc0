import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { type Fault, FileFaults } from "../../../test/support/file-faults.ts";
import type { TrainEvent } from "../../core/loop/index.ts";
import type { EngineInfo } from "../../core/ports.ts";
import { EventLog } from "./event-log.ts";

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
