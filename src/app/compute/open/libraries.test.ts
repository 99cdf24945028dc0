import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fake } from "../../../../test/support/fake.ts";
import { librarySummary, taskSummary } from "../../../../test/support/summaries.ts";
import { tokenScores } from "../../../../test/support/token-scores.ts";
import type { ColumnBatch, LibrarySummary } from "../../data/model.ts";
import { showing } from "../../data/open-libraries.ts";
import { scoreKey } from "../../data/score-key.ts";
import { undoList, useUndo } from "../../data/undo.ts";
import { type LibraryLink, SAMPLE_LINK } from "../../url/library-link.ts";
import { HOME, type Place } from "../../url/place.ts";
import { type Gate, useGate } from "../gate/gate-store.ts";
import { shippedScores } from "../models/internal/shipped-scores.ts";
import { getUi, IDLE_TRAINING, setUi } from "../store.ts";
import { closeProblem, OpenLibraries } from "./libraries.ts";
import { useOptimal } from "./optimal.ts";

type Clients = ConstructorParameters<typeof OpenLibraries>[0];

/** What the library worker let go of, and was asked to count; how it tells what is counted. */
const worker = {
  closed: [] as string[],
  asked: [] as string[],
  tell: null as ((library: string, batch: ColumnBatch) => void) | null,
};
/** Steps of the browser's history: how each was made, and the library that it names. */
const history: [how: string, library: string | null][] = [];
const clients: Clients = {
  worker: () =>
    fake<ReturnType<Clients["worker"]>>({
      close: async (id) => void worker.closed.push(id),
      show: async (id) => void worker.asked.push(`show ${id}`),
      countAllColumns: async (id) => void worker.asked.push(`count ${id}`),
      onColumns: async (tell) => {
        worker.tell = tell as typeof worker.tell;
      },
    }),
  navigate: (change, how = "replace") => {
    setUi((ui) => showing(ui, { ...ui.place, ...change }));
    history.push([how, getUi().place.library]);
  },
};
let open: OpenLibraries;

const own = (digest: string): LibraryLink => ({ library: `own-${digest}`, disk: [], addresses: [] });
const library = (id: string, link: LibraryLink, more: Partial<LibrarySummary> = {}): LibrarySummary =>
  librarySummary(link, [taskSummary("melt", 0), taskSummary(`only ${id}`, 1)], { id, title: id, ...more });
const [A, B, C] = [library("a", SAMPLE_LINK), library("b", own("b")), library("c", own("c"))];

const take = (summary: LibrarySummary, how: Partial<Parameters<OpenLibraries["take"]>[1]> = {}): void =>
  open.take(summary, { byLink: false, imported: null, replaces: null, ...how });
const ids = () => getUi().libraries.map(({ summary }) => summary.id);
const shown = () => getUi().library?.id ?? null;
const go = (change: Partial<Place>): void => setUi((ui) => showing(ui, { ...ui.place, ...change }));
const key = (id: string): string =>
  scoreKey({
    ...{ library: id, environment: "e", task: "melt", episode: "melt#0", decision: 0 },
    ...{ selection: {}, endOfTurn: true },
  });
/** A batch of counted columns of a library's first task. */
const batch = (states: number): ColumnBatch => ({
  places: Uint32Array.of(0),
  counts: Int32Array.of(states, 0, 0, 0, 0),
  problem: null,
  brokeOff: null,
});
const states = (id: string) =>
  getUi().libraries.find(({ summary }) => summary.id === id)?.columns.states[0] ?? null;

beforeEach(() => {
  open = new OpenLibraries(clients);
  setUi({ libraries: [], library: null, place: HOME, notice: null, scores: {} });
  setUi({ task: null, decision: null, viewProblem: null, scoring: { status: "idle" } });
  setUi({ training: IDLE_TRAINING, studying: null });
  for (const each of [A, B, C]) take(each);
  [worker.closed, worker.asked] = [[], []];
  history.length = 0;
});
afterEach(async () => {
  // What is closed here waits for no later test.
  for (const { gone } of useUndo.getState().changes) gone();
  useUndo.setState({ changes: [] });
  useOptimal.setState({}, true);
  useGate.setState(useGate.getInitialState());
  shippedScores.clear();
});

describe("a library that was read", () => {
  it("comes beside those that are open and is shown; Back leads to the one before", () => {
    setUi({ notice: { kind: "error", text: "before" }, viewProblem: "before" });
    take(library("d", own("d")));
    expect([ids(), shown()]).toEqual([["a", "b", "c", "d"], "d"]);
    expect(history).toEqual([["push", "own-d"]]);
    expect(getUi()).toMatchObject({ notice: null, viewProblem: null });
    expect(getUi().libraries[2]!.left).toMatchObject({ library: "own-c" });
  });

  it("that is the first leaves no step back to a page without any", () => {
    setUi({ libraries: [], library: null, place: HOME });
    take(B);
    expect(history).toEqual([["replace", "own-b"]]);
    expect(shown()).toBe("b");
  });

  it("which a link asked for is shown at the place that the link names", () => {
    go({ ...own("d"), view: "task", task: "melt", decision: 4 });
    expect(shown()).toBeNull();
    take(library("d", own("d")), { byLink: true });
    expect(shown()).toBe("d");
    expect(getUi().place).toMatchObject({ view: "task", task: "melt", decision: 4 });
    expect(history).toEqual([]);
  });

  it("which a link asked for is only listed where one has gone on to another library meanwhile", () => {
    open.show("b");
    go({ task: "melt" });
    history.length = 0;
    take(library("d", own("d")), { byLink: true });
    expect([ids(), shown(), getUi().place.task]).toEqual([["a", "b", "c", "d"], "b", "melt"]);
    expect(history).toEqual([]);
  });

  it("again takes the place of the one before; undo gives that one back, where it was left", async () => {
    open.show("b");
    go({ task: "only b", decision: 2 });
    take(library("b2", own("b")));
    expect([ids(), shown(), getUi().place.task]).toEqual([["a", "b2", "c"], "b2", null]);
    expect(getUi().notice?.text).toBe("b2 was read again.");
    expect(worker.closed).toEqual([]);
    await undoList.undoLast();
    expect([ids(), shown()]).toEqual([["a", "b", "c"], "b"]);
    expect(getUi().place).toMatchObject({ task: "only b", decision: 2 });
    expect(worker.closed).toEqual(["b2"]);
  });

  it("in the place of another one, of other records, takes that one's place in the list", async () => {
    open.show("b");
    take(library("d", own("d")), { replaces: "b" });
    expect([ids(), shown()]).toEqual([["a", "d", "c"], "d"]);
    await undoList.undoLast();
    expect([ids().slice(0, 2), shown()]).toEqual([["a", "b"], "b"]);
  });

  it("keeps what it was imported from", () => {
    const imported = { from: ["a/"], environment: "webshop" };
    take(library("d", own("d")), { imported });
    expect(getUi().libraries.at(-1)!.imported).toBe(imported);
  });
});

describe("another library", () => {
  it("is shown at the same task, or where it was left; the one that is shown stays as it is", () => {
    go({ view: "task", task: "melt" });
    open.show("b");
    expect([shown(), getUi().place.task]).toEqual(["b", "melt"]);
    go({ task: "only b", decision: 3 });
    open.show("a");
    // It has no such task, and was never left anywhere else.
    expect([shown(), getUi().place.task]).toEqual(["a", null]);
    open.show("b");
    expect(getUi().place).toMatchObject({ view: "task", task: "only b", decision: 3 });
    expect(history.map(([how]) => how)).toEqual(["push", "push", "push"]);
    open.show("b");
    open.show("none");
    expect(history).toHaveLength(3);
  });

  it("is stepped to around the end", () => {
    open.step(1);
    expect(shown()).toBe("a");
    open.step(-1);
    expect(shown()).toBe("c");
    setUi({ libraries: [], library: null });
    history.length = 0;
    open.step(1);
    expect(history).toEqual([]);
  });
});

describe("closing", () => {
  it("shows the one after it; undo puts it back where it was, in the list and on the screen", async () => {
    open.show("b");
    go({ task: "only b", decision: 1 });
    open.close("b");
    expect([ids(), shown()]).toEqual([["a", "c"], "c"]);
    expect(getUi().notice?.text).toBe("b was closed.");
    await undoList.undoLast();
    expect([ids(), shown()]).toEqual([["a", "b", "c"], "b"]);
    expect(getUi().place).toMatchObject({ task: "only b", decision: 1 });
    expect(worker.closed).toEqual([]);
  });

  it("the last in the list shows the one before it, and the only one the start", async () => {
    open.close("c");
    expect([shown(), getUi().place.library]).toEqual(["b", "own-b"]);
    open.close("b");
    open.close("a");
    expect([ids(), shown(), getUi().place]).toEqual([[], null, HOME]);
    await undoList.undoLast();
    expect([ids(), shown()]).toEqual([["a"], "a"]);
  });

  it("one that is not shown changes nothing on the screen, nor does its undo", async () => {
    const { place } = getUi();
    open.close("a");
    expect([ids(), shown()]).toEqual([["b", "c"], "c"]);
    await undoList.undoLast();
    expect([ids(), shown()]).toEqual([["a", "b", "c"], "c"]);
    expect(getUi().place).toBe(place);
    expect(history).toEqual([]);
  });

  it("is refused while a run reads the library, or a model scores", () => {
    const run = { ...IDLE_TRAINING, status: "running", library: "b" } as const;
    setUi({ training: run });
    expect(closeProblem(getUi(), "b")).toContain("stop the run first");
    expect(closeProblem(getUi(), "a")).toBeNull();
    open.close("b");
    expect(ids()).toEqual(["a", "b", "c"]);
    setUi({ training: { ...run, status: "keeping" } });
    expect(closeProblem(getUi(), "b")).toBeNull();
    setUi({ training: { ...run, status: "idle" }, scoring: { status: "cancelling", job: "gate", key: "" } });
    expect(closeProblem(getUi(), "a")).toContain("cancel it first");
    open.close("a");
    expect(ids()).toEqual(["a", "b", "c"]);
    expect(closeProblem(getUi(), null)).toBe("no library is open");
  });

  it("is refused while students are trained on it", () => {
    setUi({ studying: { library: "b", label: "seed 1", done: 0, total: 1, stopping: false } });
    expect(closeProblem(getUi(), "b")).toContain("students are being trained on it");
    open.close("b");
    expect(ids()).toEqual(["a", "b", "c"]);
    expect(closeProblem(getUi(), "a")).toBeNull();
  });

  it("of one that was read again while a run read it waits for the run's end", () => {
    const run = { ...IDLE_TRAINING, status: "running", library: "b" } as const;
    setUi({ training: run });
    take(library("b2", own("b")));
    expect(ids()).toEqual(["a", "b2", "c"]);
    open.close("a");
    open.close("c");
    expect(worker.closed).toEqual(["a"]);
    setUi({ training: { ...run, method: "gc-opd" } });
    expect(worker.closed).toEqual(["a"]);
    setUi({ training: IDLE_TRAINING });
    expect(worker.closed).toEqual(["a", "b"]);
  });

  it("keeps what was scored and known as long as it can be undone, and lets go of it and of nothing else then", () => {
    const scores = { [key("a")]: tokenScores(), [key("b")]: tokenScores() };
    setUi({ scores });
    shippedScores.set("miniature", { scores, beside: [null] });
    const none = { file: "o", decisions: [] };
    useOptimal.setState({ a: none, b: none });
    useGate.setState({ gate: { library: "a" } as Gate });
    open.close("a");
    expect(Object.keys(getUi().scores)).toHaveLength(2);
    expect(useGate.getState().gate).not.toBeNull();
    expect(worker.closed).toEqual([]);
    // Only the last closing can be undone.
    open.close("c");
    expect(worker.closed).toEqual(["a"]);
    expect(Object.keys(getUi().scores)).toEqual([key("b")]);
    expect(shippedScores.get("miniature")).toEqual({
      scores: { [key("b")]: scores[key("b")] },
      beside: [null],
    });
    expect(useOptimal.getState()).toEqual({ b: none });
    expect(useGate.getState().gate).toBeNull();
  });

  it("undone after the same files were opened again leaves one of them, the one that was closed", async () => {
    open.close("b");
    take(library("b2", own("b")));
    expect(ids()).toEqual(["a", "c", "b2"]);
    await undoList.undoLast();
    expect([ids(), shown()]).toEqual([["a", "b", "c"], "b"]);
    expect(worker.closed).toEqual(["b2"]);
  });
});

it("a library that gives the records of another takes the place of the one it replaces, and the other goes", async () => {
  take(library("c2", own("b")), { replaces: "c" });
  expect([ids(), shown()]).toEqual([["a", "c2"], "c2"]);
  expect(worker.closed).toEqual(["b"]);
  await undoList.undoLast();
  expect(ids()).toContain("c");
});

describe("counted columns", () => {
  it("are asked for of the library that is shown, unless all are counted or it is read over the network", async () => {
    await open.followColumns(B);
    expect(worker.asked).toEqual(["show b", "count b"]);
    worker.asked = [];
    await open.followColumns({ ...B, remote: true });
    await open.followColumns({ ...B, columns: { ...B.columns, counted: 2 } });
    expect(worker.asked).toEqual(["show b", "show b"]);
  });

  it("go to their library, also to one that was closed and comes back; of one that is gone they are left", async () => {
    await open.followColumns(B);
    worker.tell!("b", batch(5));
    expect([states("a"), states("b")]).toEqual([-1, 5]);
    open.close("b");
    worker.tell!("b", batch(7));
    await undoList.undoLast();
    expect(states("b")).toBe(7);
    open.close("b");
    open.close("a");
    const { libraries } = getUi();
    worker.tell!("b", batch(9));
    expect(getUi().libraries.map(({ columns }) => columns)).toEqual(libraries.map(({ columns }) => columns));
  });
});
