import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { fakeLibrary } from "../../../../test/support/fake-library.ts";
import { scoredSide, tokenScores } from "../../../../test/support/token-scores.ts";
import { DeviceError, InputError } from "../../../core/errors.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { undoList, useUndo } from "../../data/undo.ts";
import type { ComputeClient } from "../clients.ts";
import { withUnion } from "../scoring/internal/union.ts";
import { distributionOf } from "../scoring/known-distribution.ts";
import { ScoringRuns } from "../scoring/scoring-run.ts";
import { tokenKey } from "../side.ts";
import { getUi, IDLE_TRAINING, type Role, setUi } from "../store.ts";
import { useMemory } from "./memory.ts";
import { Models, useOwnModels } from "./models.ts";

vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({ tasks: { tokenTexts: async (ids: number[]) => ids.map(String) } }),
}));

/** The compute workers that were started, in their order. */
let workers: { client: ComputeClient; device: Pending | null; ended: number }[];
/** Openings that the test ends: others end by themselves. By the folder's name. */
let held: Map<string, Pending>;
/** What the workers were asked to open: folder and format of weights. */
let loaded: string[];
/** What the workers were told of the teacher's tokenizer and asked to open, in its order. */
let heard: string[];
/** What the checks of folders wait for, the first one's first. */
let checked: Promise<void>[];
let models: Models;

const info = (model: string) =>
  ({ model, device: "cpu", adapter: "", dtype: "f32", parameters: 1, vocabulary: 2 }) as const;

function startCompute(): ComputeClient {
  const device = workers.length === 0 ? null : new Pending();
  const worker: (typeof workers)[number] = {
    ...{ device, ended: 0 },
    client: {
      api: fake<ComputeClient["api"]>({
        start: async (kind) => {
          await device?.promise;
          const shown = { adapter: "none", reason: null, compute: "f32", whyF32: null } as const;
          return { kind: kind === "cpu" ? "cpu" : "webgpu", ...shown };
        },
        connect: async () => undefined,
        setTokenizers: async ({ teacher }) => void heard.push(`tokenizer ${teacher?.file}`),
        abort: vi.fn(async () => undefined),
        checkModel: async () => checked.shift(),
        load: async (_role, { name }, { weights }) => {
          loaded.push(`${name} ${weights}`);
          heard.push(`opens ${name}`);
          await held.get(name)?.promise;
          return { info: info(name), steps: 0 };
        },
      }),
      end: () => {
        worker.ended += 1;
      },
    },
  };
  workers.push(worker);
  return worker.client;
}

const folder = (name: string) => ({
  name,
  files: new Map([["tokenizer.json", new Blob(["{}"])]]),
});
const shown = (role: Role): string | undefined => getUi().models[role]?.info.model;

const chosen = (role: Role): string | undefined => models.opened(role)?.folder.name;

/** Holds an opening back until the test ends it. */
function hold(name: string): Pending {
  const pending = new Pending();
  held.set(name, pending);
  return pending;
}

beforeEach(async () => {
  [workers, held, loaded, heard, checked] = [[], new Map(), [], [], []];
  models = new Models({
    startCompute,
    library: () =>
      fakeLibrary(
        { setTokenizers: async () => ({ scoring: null, training: null }) },
        { connect: async () => undefined },
      ),
    shippedModel: async (of, role) => ({ name: `${of}/${role}`, files: new Map() }),
    shippedTokenizer: async (of) => ({ tokenizerJson: "{}", file: of }),
  });
  await models.worker();
});
afterEach(() => {
  models.endWorker();
  setUi({ playing: null, notice: null, scores: {}, pendingTokenizer: null });
  useUndo.setState({ changes: [] });
  useMemory.setState(useMemory.getInitialState());
  vi.useRealTimers();
});

describe("the compute worker", () => {
  it("another device ends it and starts one; not while a model plays, whose answer would never come", async () => {
    setUi({ playing: { label: "", stopping: false } });
    await models.chooseDevice("cpu");
    expect(workers.map(({ ended }) => ended)).toEqual([0]);
    setUi({ playing: null });
    const chosen = models.chooseDevice("cpu");
    workers[1]!.device!.resolve();
    await chosen;
    expect(workers.map(({ ended }) => ended)).toEqual([1, 0]);
    expect(getUi().device).toMatchObject({ kind: "cpu" });
  });

  it("one that starts late, after another device was chosen, is ended and shows nothing", async () => {
    const first = models.chooseDevice("cpu");
    const second = models.chooseDevice("webgpu");
    workers[2]!.device!.resolve();
    await second;
    // At once, and not again once it has started: that would close the games of the other.
    expect(workers.map(({ ended }) => ended)).toEqual([1, 1, 0]);
    workers[1]!.device!.resolve();
    await first;
    expect(getUi().device).toMatchObject({ kind: "webgpu" });
    expect(workers.map(({ ended }) => ended)).toEqual([1, 1, 0]);
    expect(await models.worker()).toBe(workers[2]!.client);
  });

  it("one that fails late leaves the one that took its place; the next question starts another after a failure", async () => {
    const first = models.chooseDevice("cpu");
    const second = models.chooseDevice("webgpu");
    workers[2]!.device!.resolve();
    await second;
    workers[1]!.device!.reject(new InputError("no adapter"));
    await first;
    expect(await models.worker()).toBe(workers[2]!.client);
    const third = models.chooseDevice("cpu");
    workers[3]!.device!.reject(new InputError("no device"));
    await third;
    expect(getUi().notice).toMatchObject({ kind: "error", text: expect.stringContaining("no device") });
    const again = models.worker();
    workers[4]!.device!.resolve();
    expect(await again).toBe(workers[4]!.client);
  });

  it("the tokenizers do not wait for a device that is being found, and are heard before a model is opened", async () => {
    const starting = models.chooseDevice("cpu");
    await models.ensureTokenizers();
    expect(heard).toEqual([]);
    const opening = models.ensure("teacher");
    workers[1]!.device!.resolve();
    await Promise.all([starting, opening]);
    expect(heard[0]).toBe("tokenizer sample");
    expect(heard.at(-1)).toBe("opens sample/teacher");
    // A worker that runs hears of others before it opens a model of theirs.
    await models.takeShipped({ library: "miniature" });
    await models.ensure("teacher");
    expect(heard.slice(-2)).toEqual(["tokenizer miniature", "opens miniature/teacher"]);
  });

  it("work that does not stop by itself within 1.5 seconds is ended with its worker", async () => {
    vi.useFakeTimers();
    let goesOn = false;
    const heard = models.stopWork(() => goesOn);
    await vi.advanceTimersByTimeAsync(1500);
    expect(await heard).toBe(false);
    expect(workers[0]!.ended).toBe(0);
    goesOn = true;
    const unheard = models.stopWork(() => goesOn);
    await vi.advanceTimersByTimeAsync(1499);
    expect(workers[0]!.ended).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(await unheard).toBe(true);
    expect(workers[0]!.ended).toBe(1);
    expect(workers[0]!.client.api.abort).toHaveBeenCalledTimes(2);
  });
});

describe("opening a folder", () => {
  it("of two at once the last one counts, and undo goes back to what stood before both", async () => {
    await models.open("teacher", folder("before"));
    const told: (string | undefined)[] = [];
    const leave = useUndo.subscribe(({ changes }) => told.push(changes.at(-1)?.label));
    const first = hold("first");
    const opening = [models.open("teacher", folder("first"))];
    await until(() => expect(loaded).toContain("first f32"));
    opening.push(models.open("teacher", folder("second")));
    await until(() => expect(chosen("teacher")).toBe("second"));
    first.resolve();
    await Promise.all(opening);
    expect([shown("teacher"), chosen("teacher")]).toEqual(["second", "second"]);
    leave();
    expect(told).toEqual(["The teacher is now second"]);
    await undoList.undoLast();
    expect([shown("teacher"), chosen("teacher")]).toEqual(["before", "before"]);
  });

  it("stays the role's own while it waits to be opened again, until undo takes it back", async () => {
    const own = () => useOwnModels.getState().teacher?.folder.name;
    await models.open("teacher", folder("mine"));
    models.chooseTeacherWeights("bf16");
    expect([shown("teacher"), own()]).toEqual([undefined, "mine"]);
    hold("broken").reject(new InputError("truncated"));
    await models.open("teacher", folder("broken"));
    expect(own()).toBe("mine");
    await undoList.undoLast();
    expect(own()).toBeUndefined();
  });

  it("a fault of the first of two is not told, and leaves the second", async () => {
    const first = hold("first");
    const opening = [models.open("teacher", folder("first"))];
    await until(() => expect(loaded).toEqual(["first f32"]));
    opening.push(models.open("teacher", folder("second")));
    await until(() => expect(chosen("teacher")).toBe("second"));
    first.reject(new InputError("truncated"));
    await Promise.all(opening);
    expect(shown("teacher")).toBe("second");
    expect(getUi().notice).toMatchObject({ kind: "info", text: "The teacher is now second." });
  });

  it("a fault of the last of two goes back to what stood before both", async () => {
    await models.open("student", folder("before"));
    const [first, second] = [hold("first"), hold("second")];
    const opening = [models.open("student", folder("first"))];
    await until(() => expect(loaded).toContain("first f32"));
    opening.push(models.open("student", folder("second")));
    await until(() => expect(chosen("student")).toBe("second"));
    first.resolve();
    second.reject(new InputError("truncated"));
    await Promise.all(opening);
    expect(chosen("student")).toBe("before");
    expect(getUi().notice).toMatchObject({ kind: "error", text: expect.stringContaining("truncated") });
    await models.ensure("student");
    expect(shown("student")).toBe("before");
  });

  it("a stop is no fault: a line says that the one before stays", async () => {
    hold("first").reject(new DOMException("stopped", "AbortError"));
    await models.open("teacher", folder("first"));
    expect(models.opened("teacher")).toBeNull();
    expect(getUi().notice).toEqual({
      kind: "info",
      text: "Opening the teacher was stopped: the one before stays.",
    });
  });

  it("one that does not answer within 1.5 seconds of a stop is ended with its worker, and what waits behind it goes on", async () => {
    hold("stuck");
    const opening = models.open("student", folder("stuck"));
    await until(() => expect(loaded).toEqual(["stuck f32"]));
    const next = models.ensure("teacher");
    vi.useFakeTimers();
    getUi().modelLoading.student!.cancel!();
    await vi.advanceTimersByTimeAsync(1500);
    vi.useRealTimers();
    await opening;
    expect(workers[0]!.client.api.abort).toHaveBeenCalledOnce();
    expect(workers[0]!.ended).toBe(1);
    expect(models.opened("student")).toBeNull();
    expect(getUi().notice).toMatchObject({ text: "Opening the student was stopped: the one before stays." });
    await until(() => expect(workers).toHaveLength(2));
    workers[1]!.device!.resolve();
    await next;
    expect([shown("teacher"), getUi().modelLoading.student]).toEqual(["sample/teacher", undefined]);
  });

  it("the end of its worker ends it and what waits behind it: the one before stays", async () => {
    hold("stuck");
    const opening = models.open("student", folder("stuck"));
    await until(() => expect(loaded).toEqual(["stuck f32"]));
    const next = models.ensure("teacher");
    models.endWorker();
    await expect(next).rejects.toMatchObject({ name: "AbortError" });
    await opening;
    expect(models.opened("student")).toBeNull();
    expect(getUi().notice).toMatchObject({ text: "Opening the student was stopped: the one before stays." });
    expect([loaded, workers.length]).toEqual([["stuck f32"], 1]);
  });

  it("whoever waits for a device that is still looked for hears of the worker's end", async () => {
    const choosing = models.chooseDevice("cpu");
    const waiting = models.worker();
    models.endWorker();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await choosing;
    expect([workers.length, getUi().notice]).toEqual([2, null]);
  });

  it("a folder without a tokenizer is asked about, also where another device is chosen meanwhile", async () => {
    const checking = new Pending();
    checked = [checking.promise];
    const asked = models.askForTokenizer("teacher", { name: "bare", files: new Map() });
    await until(() => expect(checked).toEqual([]));
    const choosing = models.chooseDevice("cpu");
    workers[1]!.device!.resolve();
    await Promise.all([asked, choosing]);
    expect(getUi().pendingTokenizer).toMatchObject({ role: "teacher", folder: { name: "bare" } });
  });

  it("a stop leaves the worker that took the place of its own meanwhile", async () => {
    hold("stuck");
    void models.open("student", folder("stuck"));
    await until(() => expect(loaded).toEqual(["stuck f32"]));
    vi.useFakeTimers();
    getUi().modelLoading.student!.cancel!();
    models.endWorker();
    const next = models.worker();
    workers[1]!.device!.resolve();
    await vi.advanceTimersByTimeAsync(1500);
    vi.useRealTimers();
    expect(await next).toBe(workers[1]!.client);
    expect(workers.map(({ ended }) => ended)).toEqual([1, 0]);
  });

  it("while a model is at work, none is opened, and the one that is open stays open", async () => {
    await models.ensure("teacher");
    setUi({ playing: { label: "", stopping: false } });
    await models.open("teacher", folder("own"));
    expect(shown("teacher")).toBe("sample/teacher");
    expect(getUi().notice).toMatchObject({ text: expect.stringContaining("a model is at work") });
  });

  it("opens models one after the other, also after one that fails", async () => {
    const teacher = hold("sample/teacher");
    const opening = models.ensure("teacher");
    const next = models.ensure("student");
    await until(() => expect(loaded).toEqual(["sample/teacher f32"]));
    teacher.reject(new Error("lost"));
    await expect(opening).rejects.toThrow("lost");
    await next;
    expect(shown("student")).toBe("sample/student");
    expect(getUi().modelLoading).toEqual({ teacher: undefined, student: undefined });
  });

  it("goes on where another device is chosen, with what waits behind it and its way back", async () => {
    hold("mine");
    const opening = models.open("student", folder("mine"));
    await until(() => expect(loaded).toEqual(["mine f32"]));
    const next = models.ensure("teacher");
    held.delete("mine");
    // One whose device is still looked for is left, too.
    const choosing = [models.chooseDevice("cpu"), models.chooseDevice("webgpu-f32")];
    workers[2]!.device!.resolve();
    await Promise.all([opening, next, ...choosing]);
    expect(loaded).toEqual(["mine f32", "mine f32", "sample/teacher f32"]);
    expect([shown("student"), shown("teacher")]).toEqual(["mine", "sample/teacher"]);
    expect(workers.map(({ ended }) => ended)).toEqual([1, 1, 0]);
    await undoList.undoLast();
    expect(chosen("student")).toBeUndefined();
  });

  /** An undo that waits until its teacher, `first`, is open again. */
  async function undoing(): Promise<{ undone: Promise<void> }> {
    await models.open("student", folder("mine"));
    await models.open("teacher", folder("first"));
    await models.open("teacher", folder("second"));
    hold("first");
    const undone = undoList.undoLast();
    await until(() => expect(loaded).toHaveLength(4));
    return { undone };
  }

  it("an undo that opens a model goes on where another device is chosen: a further undo works", async () => {
    const { undone } = await undoing();
    held.delete("first");
    const choosing = models.chooseDevice("cpu");
    workers[1]!.device!.resolve();
    await Promise.all([undone, choosing]);
    expect(shown("teacher")).toBe("first");
    await undoList.undoLast();
    expect(chosen("student")).toBeUndefined();
  });

  it("an undo whose opening is ended is done, and a further undo works", async () => {
    const { undone } = await undoing();
    models.endWorker();
    await undone;
    expect([shown("teacher"), chosen("teacher")]).toEqual([undefined, "first"]);
    expect(getUi().notice?.kind).not.toBe("error");
    await undoList.undoLast();
    expect(chosen("student")).toBeUndefined();
  });

  it("what is chosen while a model is being opened is what is open in the end", async () => {
    const teacher = hold("sample/teacher");
    const opening = models.ensure("teacher");
    await until(() => expect(loaded).toEqual(["sample/teacher f32"]));
    models.chooseTeacherWeights("bf16");
    await models.takeShipped({ library: "miniature" });
    teacher.resolve();
    await opening;
    expect(loaded).toEqual(["sample/teacher f32", "miniature/teacher bf16"]);
    expect(shown("teacher")).toBe("miniature/teacher");
    models.chooseTeacherWeights("f32");
    const again = hold("miniature/teacher");
    const reopening = models.ensure("teacher");
    await until(() => expect(loaded).toHaveLength(3));
    models.chooseTeacherWeights("int8");
    again.resolve();
    await reopening;
    expect(loaded.slice(2)).toEqual(["miniature/teacher f32", "miniature/teacher int8"]);
  });
});

describe("the student", () => {
  const tokenizer = { tokenizerJson: "{}", file: "trained" };
  const trained = { folder: folder("trained"), tokenizer, origin: "updated", steps: 3 } as const;

  it("stays while a model is at work, and a line says why", async () => {
    setUi({ playing: { label: "", stopping: false } });
    await models.revertStudent();
    expect(getUi().notice).toMatchObject({
      kind: "error",
      text: expect.stringContaining("a model is at work"),
    });
  });

  it("trained from the miniature's goes back to that one, also after a reload, where the sample is shown", async () => {
    await models.restoreStudent(Promise.resolve({ student: trained, opened: null, shipped: "miniature" }));
    await models.ensureTokenizers();
    expect(models.studentState()).toMatchObject({ student: { steps: 3 }, shipped: "miniature" });
    await models.revertStudent();
    expect(getUi().models.student).toMatchObject({ info: { model: "miniature/student" }, origin: "sample" });
    expect(models.studentState().student).toMatchObject({
      ...{ shipped: "miniature", tokenizer: { file: "miniature" } },
    });
  });

  it("of an earlier visit is waited for; one that the user opens meanwhile stays", async () => {
    const kept = new Pending<ReturnType<typeof models.studentState>>();
    const restored = models.restoreStudent(kept.promise);
    const opening = models.open("student", folder("own"));
    await until(() => expect(chosen("student")).toBe("own"));
    expect(loaded).toEqual([]);
    kept.resolve({ student: trained, opened: null, shipped: "sample" });
    expect(await restored).toBeNull();
    await opening;
    expect([shown("student"), chosen("student")]).toEqual(["own", "own"]);
  });

  describe("that is being kept", () => {
    const run = { id: "r", done: 2 };
    let kept: Pending<FolderFiles>;
    let taken: Promise<void>;

    beforeEach(async () => {
      await models.ensure("student");
      kept = new Pending();
      setUi({ scores: { before: tokenScores() }, training: { ...IDLE_TRAINING, status: "keeping" } });
      taken = models.studentTrained(kept.promise, 2, {}, run);
      setUi({ scores: { since: tokenScores() } });
    });
    afterEach(() => setUi({ training: IDLE_TRAINING }));

    it("is the run's at once, its folder is waited for, and then undo has the scores of before", async () => {
      expect(getUi().models.student).toMatchObject({ origin: "updated", steps: 2 });
      expect(models.origins().student).toBe("updated");
      const asked = [models.folder("student"), models.studentFolder({ optimizer: true })];
      const before = useUndo.getState().changes;
      kept.resolve({ name: "trained", files: new Map([["weights", new Blob(["w"])]]) });
      await taken;
      for (const each of await Promise.all(asked)) expect(each?.files.has("weights")).toBe(true);
      expect(useUndo.getState().changes).toHaveLength(before.length + 1);
      expect(Object.keys(getUi().scores)).toEqual(["since"]);
      setUi({ training: IDLE_TRAINING });
      await undoList.undoLast();
      expect(Object.keys(getUi().scores)).toEqual(["before"]);
    });

    it("keeps its place and its device, and a line says why", async () => {
      const why = "the trained student is being kept: wait until it is, then ";
      await models.open("student", folder("own"));
      expect(getUi().notice?.text).toBe(`${why}open another one`);
      await models.revertStudent();
      expect(getUi().notice?.text).toBe(`${why}revert to the loaded student`);
      await models.chooseDevice("cpu");
      models.chooseTeacherWeights("bf16");
      expect([workers.length, useMemory.getState().weights, shown("student")]).toEqual([
        ...[1, "f32", "sample/student"],
      ]);
      kept.resolve({ name: "trained", files: new Map() });
      await taken;
    });

    it("is lost with its worker, with what it scored; whoever waits for it hears of it", async () => {
      const asked = expect(models.folder("student")).rejects.toThrow("the compute worker ended");
      models.endWorker();
      await expect(taken).rejects.toThrow("the compute worker ended");
      await asked;
      expect([getUi().scores, models.origins().student]).toEqual([{}, "sample"]);
    });

    it("leaves the teacher to another shipped library, which has its own student where it is lost", async () => {
      await models.takeShipped({ library: "miniature" });
      expect(models.studentState()).toMatchObject({ student: { shipped: "sample" } });
      kept.reject(new Error("disk full"));
      await expect(taken).rejects.toThrow("disk full");
      models.studentLost();
      await models.ensure("student");
      expect(shown("student")).toBe("miniature/student");
    });

    it("stays with its worker where memory is refused to a pass beside it", async () => {
      const score = (what: string) =>
        new ScoringRuns({ models }).run("contexts", "k", () =>
          Promise.reject(new DeviceError(`no memory for ${what}`, "memory")),
        );
      await score("a pass");
      expect(getUi().scoring).toMatchObject({ status: "failed", message: "no memory for a pass" });
      expect(workers.map(({ ended }) => ended)).toEqual([0]);
      kept.resolve({ name: "trained", files: new Map() });
      await taken;
      expect(models.studentState().student).toMatchObject({ run: "r" });
      await score("another");
      await until(() => expect(workers.map(({ ended }) => ended)).toEqual([1]));
      setUi({ scoring: { status: "idle" } });
    });

    it("comes before the end of a worker whose other work does not stop", async () => {
      vi.useFakeTimers();
      const stopped = models.stopWork(() => true);
      await vi.advanceTimersByTimeAsync(1500);
      expect(workers[0]!.ended).toBe(0);
      kept.resolve({ name: "trained", files: new Map() });
      expect(await stopped).toBe(true);
      await taken;
      expect(models.studentState().student).toMatchObject({ run: "r" });
    });
  });

  it("after training is the run's, and undo gives back the one before with what it scored", async () => {
    await models.ensure("student");
    const scores = { a: tokenScores() };
    setUi({ scores });
    await models.studentTrained({ name: "student", files: new Map() }, 2, { seed: 0 }, { id: "r", done: 2 });
    setUi({ scores: {} });
    expect(models.studentState()).toMatchObject({ student: { run: "r", taken: { r: 2 }, steps: 2 } });
    expect(getUi().models.student).toMatchObject({ origin: "updated", steps: 2 });
    await undoList.undoLast();
    expect(models.studentState().student).toMatchObject({ origin: "sample" });
    expect(getUi()).toMatchObject({ scores, models: { student: { origin: "sample" } } });
  });
});

it("what a shipped library's models scored is there again with them, and gone with another format of weights", async () => {
  const scored = tokenScores();
  await models.ensureTokenizers();
  setUi({ scores: { a: scored } });
  await models.takeShipped({ library: "miniature" });
  expect(getUi().scores).toEqual({});
  setUi({ scores: { b: scored } });
  await models.takeShipped({ library: "sample" });
  expect(getUi().scores).toEqual({ a: scored });
  models.chooseTeacherWeights("bf16");
  await models.takeShipped({ library: "miniature" });
  expect(getUi().scores).toEqual({});
});

it("scores that come back with an undone change of model tell further tokens as before", async () => {
  const side = async (key: string, listed: number) => {
    const logprobs = Float32Array.of(-1);
    const known = { entropy: logprobs, topIds: Uint32Array.of(listed), topLogprobs: logprobs };
    const told = { logprobs, ...known, hidden: Float32Array.of(5) };
    return scoredSide(key, logprobs, { distribution: await distributionOf(told, "teacher") });
  };
  await models.ensureTokenizers();
  setUi({ scores: { a: tokenScores(await side("vanilla", 2), await side("graph", 3)) } });
  await models.open("teacher", folder("own"));
  expect(shown("teacher")).toBe("own");
  expect(getUi().scores).toEqual({});
  await undoList.undoLast();
  const asked = await withUnion(getUi().scores.a!.sides, async () => async (rows) => rows);
  expect(asked.map(({ distribution }) => distribution?.further)).toEqual([
    new Map([[tokenKey(0, 3), 5]]),
    new Map([[tokenKey(0, 2), 5]]),
  ]);
});
