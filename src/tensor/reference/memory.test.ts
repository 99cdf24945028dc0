import { expect, test } from "vitest";
import { createReferenceBackend } from "./index.ts";

test("a scope frees what was made in it, hands kept tensors to the scope outside, and frees all after an error", () => {
  const backend = createReferenceBackend();
  const outer = backend.scope((keepOuter) => {
    const inner = backend.scope((keep) => {
      backend.zeros([100]);
      return keep(backend.zeros([2]));
    });
    expect(backend.live()).toEqual({ tensors: 1, bytes: 8 });
    const other = backend.zeros([3]);
    expect(inner.shape).toEqual([2]);
    return keepOuter(other);
  });
  expect(backend.live()).toEqual({ tensors: 1, bytes: 12 });
  expect(() =>
    backend.scope((keep) => {
      keep(backend.zeros([5]));
      throw new Error("stop");
    }),
  ).toThrow("stop");
  expect(backend.live().tensors).toBe(1);
  backend.free(outer, outer, null, undefined);
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
  expect(() => backend.fill(outer, 1)).toThrow("after it was freed");
});

test("reads are copies, and writes and shapes are checked", async () => {
  const backend = createReferenceBackend();
  const values = Float32Array.of(1, 2, 3, 4);
  const t = backend.fromArray(values, [2, 2]);
  values[0] = 9;
  const copy = await backend.read(t);
  expect([...copy]).toEqual([1, 2, 3, 4]);
  copy[0] = 7;
  expect((await backend.read(t))[0]).toBe(1);
  expect(() => backend.write(t, new Float32Array(3))).toThrow("do not fit f32[2,2]");
  expect(() => backend.write(t, new Uint32Array(4))).toThrow("do not fit");
  expect(() => backend.fromArray(values, [3])).toThrow("do not fill");
  expect(backend.reshape(t, [1, 2, 2])).toBe(t);
  expect(t.shape).toEqual([1, 2, 2]);
  expect(() => backend.reshape(t, [3])).toThrow("reshape: [1,2,2] has not as many values as [3]");
  backend.reshape(t, [2, 2]);
  expect(() => backend.linear(t, backend.zeros([2, 3]))).toThrow("linear: expected x [M,K], w [N,K]");
  backend.dispose();
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});
