import { expect, it } from "vitest";
import { actionSpan, heldOutEvery } from "./training-held-out.ts";

it("finds the action's tokens where it is named last, and takes the whole response where it is not", () => {
  const pieces = ["open", " door", "? Yes", ": ", "op", "en ", "door", "<|end|>"];
  expect(actionSpan(pieces, "open door")).toEqual([4, 7]);
  expect(actionSpan(pieces, "Yes")).toEqual([2, 3]);
  for (const action of ["close door", "", null]) expect(actionSpan(pieces, action)).toEqual([0, 8]);
  expect(actionSpan([], "x")).toEqual([0, 0]);
});

it("reads a number of steps, and nothing else", () => {
  expect(["", " 3 ", "0", "1.5", "x", "-2"].map(heldOutEvery)).toEqual([5, 3, null, null, null, null]);
});
