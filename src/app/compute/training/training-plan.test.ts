import { afterEach, expect, it, vi } from "vitest";
import { fake } from "../../../../test/support/fake.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { LibrarySummary } from "../../data/model.ts";
import { modelDigest } from "../models/model-digest.ts";
import { models } from "../models/models.ts";
import { setUi } from "../store.ts";
import { sameInputs } from "./training-plan.ts";

const folder = (weights: string): FolderFiles => ({
  name: "model",
  files: new Map([["model.safetensors", new File([weights], "model.safetensors")]]),
});
const library = fake<LibrarySummary>({
  ...{ id: "l", title: "Mine" },
  files: [fake<LibrarySummary["files"][0]>({ name: "sources.jsonl", bytes: 3, records: 1 })],
});
const LIBRARY = "Mine: sources.jsonl, 3 bytes, 1 records";

function open(teacher: string): void {
  setUi({ library, libraries: [] });
  const both = { teacher: folder(teacher), student: folder("s") };
  vi.spyOn(models, "workload").mockResolvedValue(fake<Awaited<ReturnType<typeof models.workload>>>(both));
}
afterEach(() => {
  vi.restoreAllMocks();
  setUi({ library: null, libraries: [] });
});

it("takes a model of the same name and sizes for another where its weights differ", async () => {
  open("abc");
  const digest = (await modelDigest(folder("abc"))).slice(0, 16);
  const made = { library: LIBRARY, teacher: `model: model.safetensors 3; contents ${digest}` };
  expect(await sameInputs(made)).toEqual({ library: "l", own: null, differing: [] });
  open("abd");
  expect(await sameInputs(made)).toEqual({ library: null, own: null, differing: ["teacher"] });
});

it("goes on with a run of an earlier version, which told names and sizes alone", async () => {
  open("abc");
  const made = { library: LIBRARY, teacher: "model: model.safetensors 3" };
  expect(await sameInputs(made)).toMatchObject({ library: "l", differing: [] });
  expect(await sameInputs({ ...made, teacher: "model: model.safetensors 4" })).toMatchObject({
    differing: ["teacher"],
  });
});
