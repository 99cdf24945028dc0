import { expect, it } from "vitest";
import { countOf } from "./plural.ts";

it("counts in words", () => {
  expect(countOf(1, "batch")).toBe("1 batch");
  expect(["batch", "epoch", "pass", "index", "task"].map((word) => countOf(2, word))).toEqual([
    "2 batches",
    "2 epochs",
    "2 passes",
    "2 indexes",
    "2 tasks",
  ]);
  expect(countOf(0, "token")).toBe("0 tokens");
  expect(countOf(1234, "token")).toBe("1,234 tokens");
});
