import { expect, it } from "vitest";
import { wholeFile } from "../../../data/files/blob-folder.ts";
import { RUNS_FILE, withRun } from "./run-log.ts";

it("a run is added to those that the student came with, and to nothing else", async () => {
  const weights = new Blob(["w"]);
  const opened = { name: "mine", files: new Map([["model.safetensors", weights]]) };
  const once = withRun(opened, opened, { steps: 1 });
  const twice = withRun({ name: "student", files: new Map([["model.safetensors", weights]]) }, once, {
    steps: 2,
  });
  expect([...twice.files.keys()]).toEqual(["model.safetensors", RUNS_FILE]);
  const runs = await wholeFile(twice.files.get(RUNS_FILE)!);
  expect(await runs.text()).toBe('{"steps":1}\n{"steps":2}\n');
  expect(opened.files.has(RUNS_FILE)).toBe(false);
});
