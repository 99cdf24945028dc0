import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { getUi, setUi } from "../store.ts";
import { chooseDevice, computeWorker, revertStudent } from "./models.ts";

const workers = vi.hoisted(() => ({ started: 0, ended: 0 }));

vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({ connect: async () => undefined }),
}));
vi.mock("../clients.ts", () => ({
  startComputeWorker: () => {
    workers.started += 1;
    const api = {
      start: async (kind: string) => ({ kind, adapter: "none" }),
      connect: async () => undefined,
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
