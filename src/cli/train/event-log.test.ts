import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { armFault, disarmFault } from "../../../test/support/io-faults.ts";
import type { TrainEvent } from "../../core/loop/index.ts";
import type { EngineInfo } from "../../core/ports.ts";
import { EventLog } from "./event-log.ts";

const { faultyFs, faultyPromises } = await vi.hoisted(() => import("../../../test/support/io-faults.ts"));
vi.mock("node:fs", async (real) => faultyFs(await real<object>()));
vi.mock("node:fs/promises", async (real) => faultyPromises(await real<object>()));

let folder: string;
const concerns = (path: string) => path.startsWith(folder);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-events-"));
});
afterEach(() => {
  disarmFault();
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
  writeFileSync(path, before);
  const log = () => new EventLog(path, join(folder, "metrics.jsonl"));
  armFault("short", { afterwards: "ENOSPC", concerns: (file) => concerns(file) && file.endsWith(".part") });
  expect(() => log().write(start)).toThrow(/events\.jsonl: no space left on the device$/);
  disarmFault();
  expect(readFileSync(path, "utf8")).toBe(before);

  // What one write does not take, the next one does.
  armFault("short", { times: 4, concerns: (file) => concerns(file) && file.endsWith(".part") });
  const whole = log();
  whole.write(start);
  whole.write(done);
  disarmFault();
  whole.close();
  expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
  const added = readFileSync(path, "utf8").slice(before.length).trimEnd().split("\n");
  expect(added.map((line) => (JSON.parse(line) as TrainEvent).type)).toEqual(["start", "done"]);
});
