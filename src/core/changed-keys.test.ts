import { expect, it } from "vitest";
import { changedKeys, changedText } from "./changed-keys.ts";

it("names the keys that differ with both values, whatever their order", () => {
  const was = { seed: 1, settings: { clip: 0.3, rate: 1 }, epochs: [1, 0], tasks: ["a"] };
  expect(changedKeys(was, { none: undefined, ...Object.fromEntries(Object.entries(was).reverse()) })).toEqual(
    [],
  );
  const is = { settings: { rate: 1, clip: 0.1 }, seed: 1, epochs: [0, 1], name: "x".repeat(80) };
  expect(changedKeys(was, is)).toEqual([
    "settings.clip was 0.3, is 0.1",
    "epochs was [1,0], is [0,1]",
    'tasks was ["a"], is absent',
    `name was absent, is "${"x".repeat(56)}...`,
  ]);
  const long = (last: number) => ({ stages: [{ name: "x".repeat(60) }, { epochs: last }] });
  expect(changedKeys(long(1), long(2))).toEqual(["stages[1].epochs was 1, is 2"]);
  expect(changedKeys(long(1), { stages: [] })).toEqual(["stages was a list of 2, is one of 0"]);
  expect(changedText(["a", "b", "c", "d", "e", "f", "g"])).toBe("a; b; c; d; e and 2 more");
});
