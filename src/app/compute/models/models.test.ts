import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { scoredSide, tokenScores } from "../../../../test/support/token-scores.ts";
import { undoLast } from "../../data/undo.ts";
import { distributionOf } from "../scoring/known-distribution.ts";
import { withUnion } from "../scoring/union.ts";
import { tokenPlace } from "../side.ts";
import { getUi, setUi } from "../store.ts";
import {
  chooseDevice,
  chooseTeacherWeights,
  computeWorker,
  ensureTokenizers,
  openModel,
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
    tokenTexts: async (ids: number[]) => ids.map(String),
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

it("scores that come back with an undone change of model tell further tokens as before", async () => {
  const side = async (key: string, listed: number) => {
    const logprobs = Float32Array.of(-1);
    const known = { entropy: logprobs, topIds: Uint32Array.of(listed), topLogprobs: logprobs };
    const told = { logprobs, ...known, hidden: Float32Array.of(5) };
    return scoredSide(key, logprobs, { distribution: await distributionOf(told, "teacher") });
  };
  await ensureTokenizers();
  setUi({ scores: { a: tokenScores(await side("vanilla", 2), await side("graph", 3)) } });
  const files = new Map([["tokenizer.json", new Blob(["{}"])]]);
  await openModel("teacher", { name: "own", files });
  expect(getUi()).toMatchObject({ models: { teacher: { info: { model: "own" } } }, scores: {} });
  await undoLast();
  const asked = await withUnion(getUi().scores.a!.sides, async () => async (rows) => rows);
  expect(asked.map(({ distribution }) => distribution?.further)).toEqual([
    new Map([[tokenPlace(0, 3), 5]]),
    new Map([[tokenPlace(0, 2), 5]]),
  ]);
});
