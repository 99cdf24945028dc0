import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { policyFolders } from "./policy-folders.ts";

let run: string;
beforeEach(() => {
  run = mkdtempSync(join(tmpdir(), "gcopd-"));
  for (const name of ["tokenizer", "checkpoints/step-00000003", "checkpoints/step-00000004"])
    mkdirSync(join(run, name), { recursive: true });
  writeFileSync(join(run, "tokenizer/tokenizer.json"), "{}");
});
afterEach(() => rmSync(run, { recursive: true, force: true }));

const folders = (model: string, tokenizer?: string) =>
  policyFolders({ model, tokenizer }, { signal: new AbortController().signal, onNote: () => undefined });
const checkpoint = (step: number) => join(run, `checkpoints/step-0000000${step}`);

it("takes a run's newest checkpoint with the tokenizer beside them, and one checkpoint by its own name", async () => {
  const tokenizer = join(run, "tokenizer");
  expect(await folders(run)).toEqual({ model: checkpoint(4), tokenizer });
  expect(await folders(checkpoint(3))).toEqual({ model: checkpoint(3), tokenizer });
  expect(await folders(checkpoint(3), "other")).toEqual({ model: checkpoint(3), tokenizer: "other" });
});

it("takes the student of a finished run, and any other folder as a model with its tokenizer", async () => {
  const student = join(run, "student");
  mkdirSync(student);
  for (const name of ["config.json", "tokenizer.json"]) writeFileSync(join(student, name), "{}");
  expect(await folders(run)).toEqual({ model: student, tokenizer: student });
  expect(await folders(student)).toEqual({ model: student, tokenizer: student });
  expect(await folders("elsewhere")).toEqual({ model: "elsewhere", tokenizer: "elsewhere" });
});
