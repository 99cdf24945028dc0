import { expect, it } from "vitest";
import { watchOf } from "./training-held-out.ts";

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
