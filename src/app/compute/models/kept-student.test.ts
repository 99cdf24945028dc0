import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { fakeLibrary } from "../../../../test/support/fake-library.ts";
import { CHECKPOINT_FORMAT } from "../../../core/loop/index.ts";
import type { BlobFolder, FolderFiles } from "../../data/files/blob-folder.ts";
import { undoList, useUndo } from "../../data/undo.ts";
import type { ComputeClient } from "../clients.ts";
import type { KeptCheckpoint, KeptStudent } from "../runs/internal/page-archive.ts";
import { keepRunCheckpoint } from "../runs/internal/run-checkpoints.ts";
import { NO_FIGURES } from "../runs/run.ts";
import { dropRun, newRun, putRun } from "../runs/runs-store.ts";
import { getUi, IDLE_TRAINING, setUi } from "../store.ts";
import {
  followStudent,
  keepAsItIs,
  keepTrained,
  keptStudentOf,
  keptStudentsOf,
  noteStudentOf,
  studentSaved,
  tokenizerOf,
  useKept,
} from "./kept-student.ts";
import { Models, useStudentRun } from "./models.ts";
import { useTakenBack } from "./taken-back.ts";

/** All its files are in memory. */
type Kept = Omit<KeptCheckpoint, "files"> & { files: Map<string, Blob> };
/** What the browser keeps; what it answers where it cannot keep a student. */
const archive = vi.hoisted(() => ({
  students: new Map<string, KeptStudent>(),
  checkpoints: new Map<string, Kept>(),
  refusal: null as Error | null,
  reading: null as Promise<void> | null,
}));
vi.mock("../runs/internal/page-archive.ts", () => ({
  openFiles: async (files: KeptCheckpoint["files"]) => new Map(files),
  keepStudent: async (student: KeptStudent) => {
    if (archive.refusal !== null) throw archive.refusal;
    archive.students.set(student.id, student);
  },
  keptStudent: async (id: string) => {
    await archive.reading;
    return archive.students.get(id);
  },
  keepCheckpoint: async (checkpoint: Kept) => void archive.checkpoints.set(checkpoint.id, checkpoint),
  dropCheckpoint: async (id: string) => void archive.checkpoints.delete(id),
  keptCheckpointsOf: async (run: string) =>
    [...archive.checkpoints.values()]
      .filter(({ id }) => id.startsWith(`${run}/`))
      .sort((a, b) => (a.id < b.id ? 1 : -1)),
}));
/** The models of this visit to the page. */
const visit = vi.hoisted(() => ({ models: null as unknown as Models }));
vi.mock("./models.ts", async (original) => ({
  ...(await original<object>()),
  get models() {
    return visit.models;
  },
}));
vi.mock("./shared-model.ts", () => ({
  sharedModel: async (path: string): Promise<FolderFiles> => ({
    name: path,
    files: new Map([["read again", new Blob()]]),
    shared: path,
  }),
}));

const RUN = "page-000000000001";
const TOKENIZER = new Map([["tokenizer.json", new Blob(["{}"])]]);
const trained = (weights: string): BlobFolder => ({
  name: "student",
  files: new Map([["model.safetensors", new Blob([weights])]]),
});

/** Begins a visit to the page. */
function enter(): void {
  const info = (model: string) =>
    ({ model, device: "cpu", adapter: "", dtype: "f32", parameters: 1, vocabulary: 2 }) as const;
  visit.models = new Models({
    startCompute: () => ({
      api: fake<ComputeClient["api"]>({
        start: async () => ({ kind: "cpu", adapter: "", reason: null, compute: "f32", whyF32: null }),
        connect: async () => undefined,
        setTokenizers: async () => undefined,
        load: async (_role, { name }) => ({ info: info(name), steps: 0 }),
      }),
      end: () => undefined,
    }),
    library: () =>
      fakeLibrary(
        { setTokenizers: async () => ({ scoring: null, training: null }) },
        { connect: async () => undefined },
      ),
    shippedModel: async (of, role) => ({ name: `${of}/${role}`, files: new Map() }),
    shippedTokenizer: async (of) => ({ tokenizerJson: "{}", file: of }),
  });
}

/** A run of this page made the student. */
function train(steps: number, weights = "two", run = RUN): void {
  visit.models.studentTrained(trained(weights), steps, { seed: 0 }, { id: run, done: steps });
}

/** A run of this page kept a checkpoint. */
const checkpoint = (step: number, run = RUN): Promise<boolean> =>
  keepRunCheckpoint(
    run,
    {
      ...{ format: CHECKPOINT_FORMAT, step, position: { stage: 0, epoch: 0, batch: step } },
      fingerprint: { data: "a" },
    },
    trained(`checkpoint ${step}`),
  );

const weights = (folder: FolderFiles): Promise<string> =>
  (folder.files.get("model.safetensors") as Blob).text();
const present = () => visit.models.studentState();
const shown = () => getUi().models.student?.info.model ?? null;

let tab: Map<string, string>;
let page: EventTarget;
let leave = (): void => {};

/** The page is left, and opened again in the same tab. */
async function reload(): Promise<void> {
  leave();
  setUi({ models: { teacher: null, student: null }, notice: null });
  useUndo.setState({ changes: [] });
  useStudentRun.setState({ id: null });
  useKept.setState({ problem: null });
  useTakenBack.setState({}, true);
  enter();
  leave = followStudent();
}

/** Whether the page would ask before it is closed. */
function asks(): boolean {
  const closing = new Event("beforeunload", { cancelable: true });
  page.dispatchEvent(closing);
  return closing.defaultPrevented;
}

beforeEach(async () => {
  [tab, page] = [new Map(), new EventTarget()];
  Object.assign(archive, { students: new Map(), checkpoints: new Map(), refusal: null, reading: null });
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => tab.get(key) ?? null,
    setItem: (key: string, value: string) => void tab.set(key, value),
    removeItem: (key: string) => void tab.delete(key),
  });
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  setUi({ playing: null });
  await reload();
  await visit.models.ensure("student");
});
afterEach(() => {
  leave();
  vi.unstubAllGlobals();
});

describe("after a reload", () => {
  it("the student of the last run is there again; undo goes back to the one that was opened", async () => {
    train(3);
    await keepTrained(RUN, 3);
    await reload();
    await until(() => expect(useUndo.getState().changes).toHaveLength(1));
    expect(present()).toMatchObject({
      student: { origin: "updated", steps: 3, taken: { [RUN]: 3 }, run: RUN, tokenizer: { file: "sample" } },
      opened: { folder: { name: "sample/student" }, origin: "sample" },
      shipped: "sample",
    });
    expect(await weights(present().student!.folder)).toBe("two");
    expect(await (present().student!.folder.files.get("gcopd-runs.jsonl") as Blob).text()).toBe(
      '{"seed":0}\n',
    );
    expect(getUi().notice?.text).toContain("of your last visit (3 optimizer steps) is here again");
    await undoList.undoLast();
    expect(shown()).toBe("sample/student");
    expect(present().student).toMatchObject({ origin: "sample", steps: 0 });
    // The tab has none of a run any more.
    expect(tab.has("gcopd-student")).toBe(false);
  });

  it("the way back is closed while a model is at work, and open again afterwards", async () => {
    train(3);
    await keepTrained(RUN, 3);
    await reload();
    await until(() => expect(useUndo.getState().changes).toHaveLength(1));
    setUi({ playing: { label: "", stopping: false } });
    await undoList.undoLast();
    expect(getUi().notice?.text).toContain("a model is at work: stop it, then undo");
    expect(present().student).toMatchObject({ run: RUN });
    setUi({ playing: null });
    await undoList.undoLast();
    expect(shown()).toBe("sample/student");
  });

  it("a student of the user's own is what a revert goes back to; it is kept once for all its runs", async () => {
    await visit.models.open("student", { name: "mine", files: TOKENIZER });
    for (const [run, steps] of [
      ["page-1", 1],
      ["page-2", 2],
    ] as const) {
      await noteStudentOf(run);
      train(steps, `after ${steps}`, run);
      await keepTrained(run, steps);
    }
    expect([...archive.students.keys()]).toHaveLength(3);
    await reload();
    await until(() => expect(useUndo.getState().changes).toHaveLength(1));
    expect(present()).toMatchObject({
      student: { run: "page-2", taken: { "page-1": 1, "page-2": 2 }, tokenizer: { file: "mine" } },
      opened: { folder: { name: "mine" }, origin: "own", tokenizer: { file: "mine" } },
    });
    // Nor is it kept again by the runs of this visit.
    await noteStudentOf("page-3");
    expect([...archive.students.keys()]).toHaveLength(4);
    await undoList.undoLast();
    expect(shown()).toBe("mine");
  });

  it("a student that was opened from the worker's disk is read there again", async () => {
    await visit.models.open("student", { name: "mine", files: TOKENIZER, shared: "models/mine" });
    train(1);
    await keepTrained(RUN, 1);
    await reload();
    await until(() => expect(present().opened).not.toBeNull());
    expect([...present().opened!.folder.files.keys()]).toEqual(["read again"]);
    expect(present().opened!.folder.shared).toBe("models/mine");
  });

  it("one that was trained from the miniature's has that one's tokenizer", async () => {
    await visit.models.takeShipped({ library: "miniature" });
    await noteStudentOf(RUN);
    await checkpoint(1);
    // The tab was lost in the middle of the run.
    tab.set("gcopd-student", RUN);
    await reload();
    await until(() => expect(present().student).not.toBeNull());
    expect(present()).toMatchObject({
      student: { steps: 1, taken: { [RUN]: 1 }, tokenizer: { file: "miniature" } },
      shipped: "miniature",
    });
    expect(await weights(present().student!.folder)).toBe("checkpoint 1");
  });

  it("one of a run that went on after it was kept has the steps of the later checkpoint", async () => {
    train(3);
    await checkpoint(3);
    await keepTrained(RUN, 3);
    await checkpoint(5);
    await reload();
    await until(() => expect(present().student).not.toBeNull());
    expect(present().student).toMatchObject({ steps: 5, taken: { [RUN]: 5 } });
    expect(await weights(present().student!.folder)).toBe("checkpoint 5");
    expect(getUi().notice?.text).toContain("(5 optimizer steps) is here again");
  });

  it("steps that undo took back are not there again, though only later ones have a checkpoint", async () => {
    for (const [steps, from] of [
      [3, 3],
      [5, 4],
    ] as const) {
      const figures = { ...NO_FIGURES, done: steps };
      putRun(newRun({ id: RUN, where: "page", title: RUN, config: {}, figures }));
      train(steps, `after ${steps}`);
      for (let step = from; step <= steps; step++) await checkpoint(step);
      await keepTrained(RUN, steps);
    }
    await undoList.undoLast();
    await until(() => expect(archive.students.get(RUN)!.files).not.toBeNull());
    await reload();
    await until(() => expect(present().student).not.toBeNull());
    expect(present().student).toMatchObject({ steps: 3, taken: { [RUN]: 3 }, run: RUN });
    expect(await weights(present().student!.folder)).toBe("after 3");
    const log = present().student!.folder.files.get("gcopd-runs.jsonl") as Blob;
    expect((await log.text()).trim().split("\n")).toHaveLength(1);
    expect(useTakenBack.getState()).toEqual({ [RUN]: 3 });
    // The later ones stay with the run.
    expect((await keptStudentsOf(RUN)).map(({ step }) => step)).toEqual([5, 4, 3]);

    await undoList.undoLast();
    expect(shown()).toBe("sample/student");
    await reload();
    await visit.models.ensure("student");
    expect([shown(), useTakenBack.getState()]).toEqual(["sample/student", { [RUN]: 0 }]);
  });

  it("nor are those with which a run that had gone on was cancelled", async () => {
    train(3);
    await checkpoint(3);
    await keepTrained(RUN, 3);
    await checkpoint(4);
    await keepAsItIs();
    await reload();
    await until(() => expect(present().student).not.toBeNull());
    expect(present().student).toMatchObject({ steps: 3, taken: { [RUN]: 3 } });
  });

  it("a student that is not as it was written is not taken: the sample's stays, and a line says why", async () => {
    train(2);
    await checkpoint(2);
    await keepTrained(RUN, 2);
    expect(archive.students.get(RUN)!.files).toBeNull();
    for (const { files } of archive.checkpoints.values()) files.set("model.safetensors", new Blob(["x"]));
    await reload();
    await until(() => expect(getUi().notice).not.toBeNull());
    expect(getUi().notice).toMatchObject({
      kind: "error",
      text: expect.stringContaining("model.safetensors"),
    });
    expect(present().student).toBeNull();
    await visit.models.ensure("student");
    expect(shown()).toBe("sample/student");
  });

  it("one whose own student is gone is not taken: there would be no way back", async () => {
    await visit.models.open("student", { name: "mine", files: TOKENIZER });
    train(1);
    await keepTrained(RUN, 1);
    for (const id of archive.students.keys()) if (id !== RUN) archive.students.delete(id);
    await reload();
    await until(() => expect(getUi().notice).not.toBeNull());
    expect(getUi().notice?.text).toContain("the student that it was opened as is not kept any more");
    expect(present().student).toBeNull();
  });

  it("what the user opens while it is read stays", async () => {
    train(3);
    await keepTrained(RUN, 3);
    const reading = new Pending();
    archive.reading = reading.promise;
    await reload();
    const opening = visit.models.open("student", { name: "mine", files: TOKENIZER });
    await until(() => expect(visit.models.opened("student")?.folder.name).toBe("mine"));
    reading.resolve();
    await opening;
    expect(shown()).toBe("mine");
    expect(useUndo.getState().changes.map(({ label }) => label)).toEqual(["The student is now mine"]);
  });

  it("a run that was removed, and a tab without any, have the sample's without a word", async () => {
    tab.set("gcopd-student", "removed");
    await reload();
    await visit.models.ensure("student");
    expect([shown(), getUi().notice, useUndo.getState().changes]).toEqual(["sample/student", null, []]);
  });
});

it("the page asks before it is closed while a trained student is being kept", () => {
  const kept = (["idle", "keeping"] as const).map((status) => {
    setUi({ training: { ...IDLE_TRAINING, status } });
    return asks();
  });
  setUi({ training: IDLE_TRAINING });
  expect(kept).toEqual([false, true]);
});

describe("a student that cannot be kept", () => {
  it("says why, and the page asks before it is closed until it is saved elsewhere", async () => {
    train(3);
    archive.refusal = new DOMException("full", "QuotaExceededError");
    await keepTrained(RUN, 3);
    expect(useKept.getState().problem).toContain("there is no room for it: remove runs");
    expect(asks()).toBe(true);
    studentSaved();
    expect([useKept.getState().problem, asks()]).toEqual([null, false]);
    archive.refusal = new Error("private window");
    await keepTrained(RUN, 3);
    expect(useKept.getState().problem).toBe("private window");
    archive.refusal = null;
    await keepTrained(RUN, 3);
    expect([useKept.getState().problem, asks()]).toEqual([null, false]);
  });

  it("any longer, since its run was removed, makes the page ask before it is closed", async () => {
    for (const id of [RUN, "page-2"]) putRun(newRun({ id, where: "page", title: id, config: {} }));
    train(3);
    await keepTrained(RUN, 3);
    dropRun("page-2");
    expect(asks()).toBe(false);
    dropRun(RUN);
    expect([useKept.getState().problem, asks()]).toEqual(["its run was removed", true]);
    studentSaved();
    expect(asks()).toBe(false);
  });

  it("is no concern any more once another student took its place", async () => {
    train(3);
    archive.refusal = new Error("private window");
    await keepTrained(RUN, 3);
    await visit.models.revertStudent();
    expect(asks()).toBe(false);
    // It was taken back while it was written.
    await keepTrained(RUN, 3);
    expect(useKept.getState().problem).toBeNull();
  });

  it("is none of the page's concern once the page is left", async () => {
    train(3);
    archive.refusal = new Error("private window");
    await keepTrained(RUN, 3);
    leave();
    expect(asks()).toBe(false);
    useStudentRun.setState({ id: "page-9" });
    expect(tab.get("gcopd-student")).toBe(RUN);
  });

  it("when a run begins stops nothing", async () => {
    archive.refusal = new DOMException("full", "QuotaExceededError");
    await noteStudentOf(RUN);
    expect([archive.students.size, useKept.getState().problem]).toEqual([0, null]);
  });
});

describe("of a run", () => {
  it("the student is its last checkpoint where that is of its last step, else its own files", async () => {
    train(2);
    await checkpoint(1);
    await keepTrained(RUN, 2);
    expect(await weights((await keptStudentOf(RUN))!.folder)).toBe("two");
    expect((await keptStudentOf(RUN))!.step).toBe(2);
    await checkpoint(2);
    await keepTrained(RUN, 2);
    const found = (await keptStudentOf(RUN))!;
    expect([found.step, await weights(found.folder)]).toEqual([2, "checkpoint 2"]);
    // What it went through is of the student, and in no checkpoint.
    expect([...found.folder.files.keys()]).toEqual(["model.safetensors", "gcopd-runs.jsonl"]);
  });

  it("all students are the newest first, each step once; damaged ones are left out", async () => {
    train(3, "own");
    await checkpoint(2);
    await keepTrained(RUN, 3);
    await checkpoint(3);
    const listed = async () =>
      Promise.all((await keptStudentsOf(RUN)).map(async ({ step, folder }) => [step, await weights(folder)]));
    expect(await listed()).toEqual([
      [3, "own"],
      [2, "checkpoint 2"],
    ]);
    await keepTrained(RUN, 3);
    expect(await listed()).toEqual([
      [3, "checkpoint 3"],
      [2, "checkpoint 2"],
    ]);
    archive.checkpoints.get(`${RUN}/00000003`)!.files.delete("model.safetensors");
    expect(await listed()).toEqual([[2, "checkpoint 2"]]);
    expect((await keptStudentOf(RUN))!.step).toBe(2);
  });

  it("that is not kept there is none; of one that is under way, none before its first checkpoint", async () => {
    expect([await keptStudentOf(RUN), await keptStudentsOf(RUN)]).toEqual([null, []]);
    await noteStudentOf(RUN);
    expect([await keptStudentOf(RUN), await keptStudentsOf(RUN)]).toEqual([null, []]);
    await checkpoint(1);
    expect(await keptStudentOf(RUN)).toMatchObject({ step: 1, kept: { origin: "updated", opened: null } });
  });

  it("the student is read with the tokenizer that was kept with it, or the shipped one", async () => {
    await noteStudentOf(RUN);
    const kept = archive.students.get(RUN)!;
    expect(await tokenizerOf(kept)).toMatchObject({ file: "sample" });
    expect(await tokenizerOf({ ...kept, tokenizer: null, shipped: "miniature" })).toMatchObject({
      file: "miniature",
    });
    // Earlier versions did not say which.
    const { shipped: _shipped, ...earlier } = kept;
    expect(await tokenizerOf({ ...earlier, tokenizer: null })).toMatchObject({ file: "sample" });
  });
});
