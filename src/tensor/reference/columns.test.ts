import { expect, test } from "vitest";
import { createReferenceBackend } from "./index.ts";

test("columns are cut and put together again", async () => {
  const backend = createReferenceBackend();
  const x = backend.fromArray(Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3]);
  const [one, two] = backend.splitColumns(x, [1, 2]);
  expect([...(await backend.read(one!))]).toEqual([1, 4]);
  expect([...(await backend.read(two!))]).toEqual([2, 3, 5, 6]);
  const turned = backend.joinColumns([two!, one!]);
  expect(turned.shape).toEqual([2, 3]);
  expect([...(await backend.read(turned))]).toEqual([2, 3, 1, 5, 6, 4]);
  expect(() => backend.splitColumns(x, [1, 1])).toThrow("splitColumns into 1 + 1: expected x [R, Σ widths]");
  expect(() => backend.joinColumns([one!, backend.zeros([3, 1])])).toThrow("joinColumns");
});
