import { expect, test } from "vitest";
import type { IdRange } from "../core/ports.ts";
import { drawGreedy, drawSample } from "./sampling.ts";

const ALL: readonly IdRange[] = [[0, Number.POSITIVE_INFINITY]];
const logits = Float32Array.from([0.1, 0.4, 0.2, 0.3], Math.log);

test("greedy takes the first of the largest", () => {
  expect(drawGreedy(logits, ALL).id).toBe(1);
  expect(drawGreedy(logits, ALL).logprob).toBeCloseTo(Math.log(0.4), 6);
  expect(drawGreedy(Float32Array.of(0, 5, 5), ALL).id).toBe(1);
});

test("a sample is the first id whose cumulative probability exceeds u", () => {
  expect([0, 0.09, 0.11, 0.49, 0.51, 0.69, 0.71, 0.999].map((u) => drawSample(logits, 1, u, ALL).id)).toEqual(
    [0, 0, 1, 1, 2, 2, 3, 3],
  );
  // At temperature 1/2 the weights are squared: 1, 16, 4 and 9 of 30. The log-probability stays that of temperature 1.
  expect(drawSample(logits, 0.5, 0.5, ALL).id).toBe(1);
  expect(drawSample(logits, 0.5, 0.6, ALL).id).toBe(2);
  expect(drawSample(logits, 0.5, 0.6, ALL).logprob).toBeCloseTo(Math.log(0.2), 6);
});

test("an impossible token is never drawn, and rounding leaves none over", () => {
  const rows = Float32Array.of(-Infinity, 0, -Infinity);
  expect(drawSample(rows, 1, 0, ALL).id).toBe(1);
  expect(drawSample(rows, 1, 1 - 2 ** -53, ALL).id).toBe(1);
  expect(drawSample(Float32Array.of(1000, -1000), 0.01, 0.5, ALL)).toEqual({ id: 0, logprob: 0 });
});

test("only drawable ids are drawn, with their probability among all of them", () => {
  // Ids 1 and 2 have no token. Of what is left, id 0 has a quarter and id 3 the rest.
  const drawable: readonly IdRange[] = [
    [0, 1],
    [3, 9],
  ];
  expect(drawGreedy(logits, drawable).id).toBe(3);
  expect(drawGreedy(logits, drawable).logprob).toBeCloseTo(Math.log(0.3), 6);
  expect([0, 0.24, 0.26, 0.999].map((u) => drawSample(logits, 1, u, drawable).id)).toEqual([0, 0, 3, 3]);
  expect(drawSample(logits, 0.5, 0.5, drawable).logprob).toBeCloseTo(Math.log(0.3), 6);
  expect(drawGreedy(logits, [[4, 9]]).logprob).toBe(-Infinity);
});

test("bounds leave the most probable tokens, and their equals", () => {
  const drawn = (bounds: { topK?: number; topP?: number }, values = logits, temperature = 1) =>
    [0, 0.2, 0.4, 0.6, 0.8, 0.999].map((u) => drawSample(values, temperature, u, ALL, bounds).id);
  // Of 0.4 and 0.3, id 1 has four sevenths.
  expect(drawn({ topK: 2 })).toEqual([1, 1, 1, 3, 3, 3]);
  expect(drawn({ topK: 1 })).toEqual([1, 1, 1, 1, 1, 1]);
  expect(drawn({ topK: 9 })).toEqual(drawn({}));
  // 0.4 + 0.3 come to 0.7, not to 0.75.
  expect(drawn({ topP: 0.69 })).toEqual(drawn({ topK: 2 }));
  expect(drawn({ topP: 0.75 })).toEqual(drawn({ topK: 3 }));
  // At T = 1/2 the largest has 16 of 30; of the two largest, 16 of 25.
  expect(drawn({ topP: 0.52 }, logits, 0.5)).toEqual(drawn({ topK: 1 }));
  expect(drawn({ topP: 0.63, topK: 2 }, logits, 0.5)).toEqual(drawn({ topK: 1 }, logits, 0.5));
  expect(drawn({ topP: 0.65, topK: 2 }, logits, 0.5)).toEqual(drawn({ topK: 2 }, logits, 0.5));
  expect(new Set(drawn({ topK: 1 }, Float32Array.of(1, 2, 2)))).toEqual(new Set([1, 2]));
  // The log-probability is that of the whole vocabulary at T = 1.
  expect(drawSample(logits, 0.5, 0.5, ALL, { topK: 1 }).logprob).toBeCloseTo(Math.log(0.4), 6);
});
