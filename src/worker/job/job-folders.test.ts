/** Folders of jobs that are being removed: a job's work is deleted only when the list no longer has it. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { JobFolders } from "./job-folders.ts";
import { JobStore } from "./store.ts";

const ID = "train-0123456789ab";
let folder: string;
let store: JobStore;
let folders: JobFolders;
const work = () => readFileSync(join(folders.outFolder(ID), "student"), "utf8");
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-job-folders-"));
  store = new JobStore(join(folder, "jobs.sqlite"));
  folders = new JobFolders(join(folder, "jobs"), store);
  folders.record(store.create(ID, { kind: "train", config: "/c.json", resume: "auto" }));
  mkdirSync(folders.outFolder(ID));
  writeFileSync(join(folders.outFolder(ID), "student"), "hours of work");
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

it("a folder is put back when the list refuses to let its job go", async () => {
  const refusal = new Error("no");
  const refuse = () => {
    throw refusal;
  };
  await expect(folders.remove(ID, refuse)).rejects.toBe(refusal);
  expect(readdirSync(folders.path)).toEqual([ID]);
  expect(work()).toBe("hours of work");
});

it("a folder that was moved aside by a worker which was then killed is put back while its job is listed", async () => {
  const killed = new JobFolders(folders.path, store);
  await killed.remove(ID, () => undefined);
  expect(readdirSync(folders.path)).toEqual([`.removed-${ID}`]);
  await folders.tidy(true);
  expect(readdirSync(folders.path)).toEqual([ID]);
  expect(work()).toBe("hours of work");
});

it("and deleted where it is not", async () => {
  await folders.remove(ID, () => store.remove(ID));
  await folders.tidy(true);
  expect(readdirSync(folders.path)).toEqual([]);
});
