import { afterEach, beforeEach, expect, it } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { fakeLibrary } from "../../../../test/support/fake-library.ts";
import { librarySummary, taskSummary } from "../../../../test/support/summaries.ts";
import { InputError } from "../../../core/errors.ts";
import type { Selection } from "../../../core/retrieval/selection.ts";
import { Decisions } from "../../data/decisions.ts";
import type { DecisionModel, TaskModel, TaskRef } from "../../data/model.ts";
import { HOME, type Place } from "../../url/place.ts";
import { getUi, setUi } from "../store.ts";
import { PlaceFollower } from "./follow-place.ts";

type Clients = ConstructorParameters<typeof PlaceFollower>[0];

/** Decisions that were asked for, in their order. */
let asked: number[];
/** Decisions that wait until the test lets them go. */
let held: Map<number, Pending>;
let tasks: (Selection | undefined)[];
/** What was opened, whose columns were asked for, and whose models were taken, in order. */
let opened: unknown[];
let follower: PlaceFollower;

function newFollower(): PlaceFollower {
  const worker = fakeLibrary({
    task: async ({ library, environment, task }: TaskRef, selection?: Selection) => {
      tasks.push(selection);
      const episodes = task === "none" ? [] : [{ id: "e#0", decisions: 6 }];
      return { library, environment, task, episodes, selection } as unknown as TaskModel;
    },
  });
  const decisions = new Decisions(async ({ episode, decision, selection, ...ref }) => {
    asked.push(decision);
    await held.get(decision)?.promise;
    return { ...ref, episode, decision, selection } as unknown as DecisionModel;
  });
  return new PlaceFollower({
    ...{ worker: () => worker, decisions },
    models: fake<Clients["models"]>({
      takeShipped: async ({ library }) => void opened.push(`models of ${library}`),
    }),
    navigate: (change) => setUi(({ place }) => ({ place: { ...place, ...change } })),
    openLinked: async ({ library }) => void opened.push(library),
    openLibraries: fake<Clients["openLibraries"]>({
      followColumns: async ({ id }) => void opened.push(`columns of ${id}`),
    }),
  });
}

const library = librarySummary({ library: "own", disk: [], addresses: [] }, [
  taskSummary("melt", 0),
  taskSummary("none", 1),
  taskSummary("stir", 2),
  taskSummary("sort", 3),
]);
const go = (change: Partial<Place>): void => setUi(({ place }) => ({ place: { ...place, ...change } }));
const shown = (): number | undefined => getUi().decision?.decision;

function hold(decision: number): Pending {
  const pending = new Pending();
  held.set(decision, pending);
  return pending;
}

let stop = (): void => {};
beforeEach(() => {
  [asked, held, tasks, opened] = [[], new Map(), [], []];
  follower = newFollower();
  setUi({ library, place: HOME, task: null, decision: null, viewProblem: null, opening: null });
  stop = follower.follow();
});
afterEach(() => stop());

it("shows the decision that the place names, and names the episode that it leaves out", async () => {
  go({ task: "melt", decision: 3 });
  await until(() => expect(shown()).toBe(3));
  expect(getUi().place.episode).toBe("e#0");
  expect(getUi().task?.task).toBe("melt");
});

it("reads the decisions beside it as soon as it is shown: two ahead and one back, the way one steps", async () => {
  go({ task: "stir", episode: "e#0", decision: 2 });
  await until(() => expect(asked).toEqual([2, 3, 4, 1]));
  // What is here is shown in the same turn.
  go({ decision: 3 });
  expect(shown()).toBe(3);
  await until(() => expect(asked).toEqual([2, 3, 4, 1, 5]));
  go({ decision: 2 });
  await until(() => expect(asked).toEqual([2, 3, 4, 1, 5, 0]));
});

it("reads those beside it without what was changed by hand there", async () => {
  go({ task: "melt", episode: "e#0", decision: 4, leaveOut: [{ record: "success", event: null }] });
  await until(() => expect(asked).toEqual([4, 5, 3]));
  go({ decision: 5, leaveOut: [] });
  expect(getUi().decision).toMatchObject({ decision: 5, selection: {} });
});

it("an answer that comes after another step is not shown", async () => {
  const late = hold(1);
  go({ task: "sort", episode: "e#0", decision: 1 });
  await until(() => expect(asked).toEqual([1]));
  go({ decision: 4 });
  await until(() => expect(shown()).toBe(4));
  late.resolve();
  await until(() => expect(asked).toEqual([1, 4, 5, 3]));
  expect(shown()).toBe(4);
});

it("reads the task again only where other sources take part", async () => {
  go({ task: "melt", episode: "e#0" });
  await until(() => expect(shown()).toBe(0));
  go({ control: "success-only" });
  await until(() => expect(getUi().decision?.selection).toEqual({ control: "success-only" }));
  expect(tasks).toEqual([{}]);
  go({ subset: { failures: 0.5 } });
  const both = { control: "success-only", subset: { failures: 0.5 } };
  await until(() => expect(getUi().decision?.selection).toEqual(both));
  expect(tasks).toEqual([{}, both]);
});

it.each([
  ["an unknown task", { task: "boil" }, "This library has no task “boil”."],
  ["an unknown episode", { task: "melt", episode: "e#7" }, "Task melt has no episode “e#7”."],
  [
    "a decision behind the last",
    { task: "melt", episode: "e#0", decision: 6 },
    "Episode e#0 has no decision 6: they go from 0 to 5.",
  ],
])("%s is said in one line", async (_, place, problem) => {
  go(place);
  await until(() => expect(getUi().viewProblem).toBe(problem));
  expect(getUi().decision).toBeNull();
});

it("reads the same place again when the user asks, after the server was away", async () => {
  const away = hold(2);
  go({ task: "melt", episode: "e#0", decision: 2 });
  away.reject(new InputError("the worker does not answer: is it still running?"));
  await until(() => expect(getUi().viewProblem).toContain("does not answer"));
  held.clear();
  follower.readAgain();
  expect(getUi().viewProblem).toBeNull();
  await until(() => expect(shown()).toBe(2));
  expect(getUi().place).toMatchObject({ task: "melt", episode: "e#0", decision: 2 });
});

it("a task without episodes is shown, without a decision", async () => {
  go({ task: "none" });
  await until(() => expect(getUi().task?.task).toBe("none"));
  expect([getUi().decision, getUi().viewProblem]).toEqual([null, null]);
});

it("a link to a library that is not open is tried once, and again when the user asks", () => {
  setUi({ library: null, place: { ...HOME, library: "sample" } });
  go({ task: "melt" });
  expect(opened).toEqual(["sample"]);
  follower.tryAgain();
  go({ task: null });
  expect(opened).toEqual(["sample", "sample"]);
});

it("counts the columns of another library and takes its models, and takes them again when a model’s work ends", () => {
  const another = { ...library, id: "another", link: { ...library.link, library: "sample" } };
  setUi({ library: another });
  expect(opened).toEqual(["columns of another", "models of sample"]);
  opened = [];
  setUi({ scoring: { status: "cancelling", job: "gate", key: "" } });
  expect(opened).toEqual([]);
  setUi({ scoring: { status: "idle" } });
  expect(opened).toEqual(["models of sample"]);
});
