import { afterEach, expect, it } from "vitest";
import { fake } from "../../../../test/support/fake.ts";
import type { TrainConfig } from "../../../core/loop/train-config.ts";
import type { LibrarySummary } from "../../data/model.ts";
import type { OpenLibrary } from "../../data/open-libraries.ts";
import { setUi } from "../store.ts";
import { useHeldOut, watchOf, watchPlan } from "./training-held-out.ts";

afterEach(() => {
  useHeldOut.setState({ decisions: [] });
  setUi({ libraries: [] });
});

const choice = (library: string, decision: number) => ({
  ...{ library, environment: "alfworld", task: "t", episode: "e" },
  ...{ decision, action: "look" },
});

it("writes the watched decisions of the shown library into a config", () => {
  const decisions = [choice("one", 0), choice("other", 1), choice("one", 2)];
  expect(watchOf({ decisions, every: "" }, "one")).toEqual({
    decisions: [
      { episode: "e", decision: 0 },
      { episode: "e", decision: 2 },
    ],
  });
  expect(watchOf({ decisions, every: " 3 " }, "other")).toMatchObject({ every: 3 });
  // What is no number stays as it was typed: the schema says what it expected.
  expect(watchOf({ decisions, every: "x" }, "other")).toMatchObject({ every: "x" });
  expect(watchOf({ decisions, every: "" }, "third")).toBeUndefined();
});

it("tells of an episode or a task that the run trains on, in its own library", () => {
  const summaries = ["one", "other"].map((id) => fake<LibrarySummary>({ id }));
  setUi({ libraries: summaries.map((summary) => fake<OpenLibrary>({ summary })) });
  useHeldOut.setState({ decisions: [choice("one", 0), choice("other", 0)] });
  const { library: _, decision: __, action: ___, ...episode } = choice("one", 0);
  const trained = (plan: object) =>
    watchPlan(fake<TrainConfig>({ watch: { every: 1, decisions: [] } }), {
      library: "one",
      episodes: [episode],
      ...plan,
    }).watched!.decisions.map(({ trained, taskTrained }) => [trained, taskTrained]);
  expect(trained({})).toEqual([
    [true, true],
    [false, true],
  ]);
  expect(trained({ sample: {} })[0]).toEqual([false, true]);
  const live = { environment: { name: "alfworld" }, tasks: ["t"] };
  expect(trained({ episodes: [], live })[0]).toEqual([false, true]);
  expect(trained({ episodes: [], live: { ...live, tasks: ["u"] } })[0]).toEqual([false, false]);
});
