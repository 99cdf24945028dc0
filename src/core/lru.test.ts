import { expect, it } from "vitest";
import { Lru } from "./lru.ts";

it("keeps what was used last", () => {
  const lru = new Lru<number>(2);
  lru.set("a", 1);
  lru.set("b", 2);
  expect(lru.get("a")).toBe(1);
  lru.set("c", 3);
  expect(lru.keys()).toEqual(["a", "c"]);
  expect(lru.get("b")).toBeUndefined();
  lru.set("a", 4);
  expect([lru.keys(), lru.get("a")]).toEqual([["c", "a"], 4]);
});

it("makes a value once, and keeps none that could not be made", () => {
  const lru = new Lru<object>(2);
  const fails = () => {
    throw new Error("damaged");
  };
  expect(() => lru.getOrMake("a", fails)).toThrow("damaged");
  const made = lru.getOrMake("a", () => ({}));
  expect(lru.getOrMake("a", fails)).toBe(made);
});

it("counts sizes, and keeps the newest at any size", () => {
  const lru = new Lru<string>(10);
  lru.set("a", "a", 4);
  lru.set("b", "b", 4);
  lru.set("a", "a", 6);
  expect(lru.keys()).toEqual(["b", "a"]);
  lru.set("c", "c", 11);
  expect(lru.keys()).toEqual(["c"]);
  lru.delete("c");
  lru.delete("c");
  lru.set("d", "d", 10);
  expect(lru.keys()).toEqual(["d"]);
});
