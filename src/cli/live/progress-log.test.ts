import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EpisodeDecision } from "../../core/record/schema.ts";
import { ProgressLog } from "./progress-log.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-progress-"));
  path = join(folder, "progress.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

const decision = (action: string): EpisodeDecision => ({
  ...{ observation: "Räume", state: null, action, binding: null, status: "executed" },
  ...{ feedback: "f", score: null, gap_before: false },
});
const attempt = { action: null, reason: "format", feedback: "?" } as const;
const start = (episode: string) => ({ type: "start", episode, initialObservation: "Räume" }) as const;
const record = (name: string) => ({ name, decisions: [decision("a"), decision("b")] });

async function logged(work: (log: ProgressLog) => void): Promise<string> {
  const log = await ProgressLog.open(path);
  work(log);
  log.close();
  return readFileSync(path, "utf8");
}
const types = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const { type, episode } = JSON.parse(line);
      return `${type} ${episode}`;
    });

describe("the progress of a run", () => {
  it("keeps records once, and the events of episodes that have not ended", async () => {
    await logged((log) => {
      for (const episode of ["a", "b"]) log.write(start(episode));
      log.write({ type: "decision", episode: "a", decision: decision("a") });
      log.write({ type: "decision", episode: "b", decision: decision("b") });
      log.write({ type: "attempt", episode: "b", attempt });
      log.end("a", record("a"));
      log.end("none", null);
      expect(log.record("a")).toEqual(record("a"));
    });
    const kept = await logged((log) => {
      expect(log.begun("b")).toMatchObject({
        ...{ initialObservation: "Räume", decisions: [decision("b")], attempts: [[], [attempt]] },
      });
      expect(log.begun("a")).toBeUndefined();
      expect(log.record("a")).toEqual(record("a"));
    });
    expect(types(kept)).toEqual(["start b", "decision b", "attempt b", "end a", "end none"]);
    await logged((log) => log.end("b", record("b")));
    const ended = await logged((log) => {
      expect(["a", "b", "none"].map((episode) => log.record(episode))).toEqual([
        ...[record("a"), record("b"), null],
      ]);
      expect(log.ended).toBe(3);
    });
    expect(types(ended)).toEqual(["end a", "end none", "end b"]);
  });

  it("forgets the end, and what was begun, of an episode that started again", async () => {
    await logged((log) => {
      log.write(start("a"));
      log.write({ type: "decision", episode: "a", decision: decision("a") });
      log.end("a", record("a"));
      log.write(start("a"));
    });
    const kept = await logged((log) => {
      expect(log.hasEnded("a")).toBe(false);
      expect(log.begun("a")?.decisions).toEqual([]);
    });
    expect(types(kept)).toEqual(["start a"]);
  });

  it.each([
    ["{", "line 2: not JSON"],
    ["null", "line 2: expected a JSON object, received null"],
    ['{"type":"start","episode":"a"}', "line 2, initialObservation: missing"],
    ['{"type":"stop","episode":"a"}', "line 2, type: "],
  ])("names a damaged line: %s", async (line, message) => {
    writeFileSync(path, `${JSON.stringify(start("a"))}\n${line}\n`);
    await expect(ProgressLog.open(path)).rejects.toThrow(`${path}, ${message}`);
  });

  it("drops a line that was cut short, even within a character", async () => {
    const whole = Buffer.from(`${JSON.stringify(start("a"))}\n`);
    writeFileSync(path, Buffer.concat([whole, whole.subarray(0, whole.indexOf("ä") + 1)]));
    expect(types(await logged(() => undefined))).toEqual(["start a"]);
  });
});
