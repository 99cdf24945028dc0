import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { tokenScores } from "../../../../test/support/token-scores.ts";
import { getUi, setUi } from "../store.ts";
import {
  chooseDevice,
  chooseTeacherWeights,
  computeWorker,
  ensureTokenizers,
  restoreStudent,
  revertStudent,
  studentState,
  takeShippedModels,
} from "./models.ts";

const workers = vi.hoisted(() => ({ started: 0, ended: 0 }));

vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({
    connect: async () => undefined,
    setTokenizers: async () => ({ scoring: null, training: null }),
  }),
}));
vi.mock("../../data/shipped-base.ts", () => ({ shippedBase: (name: string) => `${name}/` }));
vi.mock("../../data/library/sample.ts", () => ({
  sampleModel: async (base: string, role: string) => ({ name: `${base}${role}`, files: new Map() }),
  sampleTokenizer: async (base: string) => ({ tokenizerJson: "{}", file: base }),
}));
vi.mock("../clients.ts", () => ({
  startComputeWorker: () => {
    workers.started += 1;
    const api = {
      start: async (kind: string) => ({ kind, adapter: "none" }),
      connect: async () => undefined,
      setTokenizers: async () => undefined,
      load: async (_role: string, { name }: { name: string }) => ({ info: { model: name }, steps: 0 }),
    };
    return {
      api,
      end: () => {
        workers.ended += 1;
      },
    };
  },
}));

beforeEach(computeWorker);
afterEach(() => setUi({ playing: null, notice: null }));

it("another device ends the worker and starts one; not while a model plays, whose answer would never come", async () => {
  const { started, ended } = workers;
  setUi({ playing: { label: "", stopping: false } });
  await chooseDevice("cpu");
  expect(workers).toEqual({ started, ended });
  setUi({ playing: null });
  await chooseDevice("cpu");
  expect(workers).toEqual({ started: started + 1, ended: ended + 1 });
  expect(getUi().device).toMatchObject({ kind: "cpu" });
});

it("the student stays while a model is at work, and a line says why", async () => {
  setUi({ playing: { label: "", stopping: false } });
  await revertStudent();
  expect(getUi().notice).toMatchObject({
    kind: "error",
    text: expect.stringContaining("a model is at work"),
  });
});

it("what a shipped library's models scored is there again with them, and gone with another format of weights", async () => {
  const scored = tokenScores();
  await ensureTokenizers();
  setUi({ scores: { a: scored } });
  await takeShippedModels({ library: "miniature" });
  expect(getUi().scores).toEqual({});
  setUi({ scores: { b: scored } });
  await takeShippedModels({ library: "sample" });
  expect(getUi().scores).toEqual({ a: scored });
  chooseTeacherWeights("bf16");
  await takeShippedModels({ library: "miniature" });
  expect(getUi().scores).toEqual({});
  await takeShippedModels({ library: "sample" });
});

it("a student trained from the miniature's goes back to that one, also after a reload, where the sample is shown", async () => {
  const folder = { name: "trained", files: new Map() };
  const tokenizer = { tokenizerJson: "{}", file: "trained" };
  const student = { folder, tokenizer, origin: "updated", steps: 3 } as const;
  await restoreStudent(Promise.resolve({ student, opened: null, shipped: "miniature" }));
  await ensureTokenizers();
  expect(studentState()).toMatchObject({ student: { steps: 3 }, shipped: "miniature" });
  await revertStudent();
  expect(getUi().models.student).toMatchObject({ info: { model: "miniature/student" }, origin: "sample" });
  expect(studentState().student).toMatchObject({ shipped: "miniature", tokenizer: { file: "miniature/" } });
});
