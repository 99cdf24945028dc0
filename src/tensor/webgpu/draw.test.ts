import { afterAll, beforeAll, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import type { Backend } from "../backend.ts";
import type { Tensor } from "../tensor.ts";
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "./index.ts";

const backends: WebGpuBackend[] = [];
beforeAll(async () => {
  backends.push(await createWebGpuBackend(await openGpu()));
  // With the workgroups that GPUs get.
  backends.push(await createWebGpuBackend({ ...(await requestDevice(await openGpu())), software: false }));
});
afterAll(() => {
  for (const backend of backends) backend.dispose();
});

const TEMPERATURES = [0, 0.4, 1, 1.7, 1];
/** Top-k and top-p of each sequence. */
const FREE = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1];
const DRAWABLE = [3, 900, 1000, 4095, 4097, 4300];
const VOCABULARY = 4321;
const LONGEST = 6;

interface Case {
  bounds: readonly number[];
  /** Whether each sequence goes on. */
  live: readonly number[];
}

/** Draws for some steps; what the device keeps of ids and places is looked up in tables, which can be read. */
function drawn<B extends Tensor>(b: Backend<B>, { bounds, live }: Case): Record<string, B> {
  const count = TEMPERATURES.length;
  const vector = (...values: number[]) => b.fromArray(Uint32Array.from(values), [values.length]);
  const draws = {
    temperatures: b.fromArray(Float32Array.from(TEMPERATURES), [count]),
    bounds: b.fromArray(Float32Array.from(bounds), [count, 2]),
    uniforms: b.fromArray(
      randomValues(count * LONGEST, 5).map((x) => Math.abs(x) % 1),
      [count, LONGEST],
    ),
    limits: vector(6, 2, 6, 6, 6),
    stops: vector(4320, 17),
    drawable: vector(...DRAWABLE),
    results: b.zeros([count, LONGEST, 2]),
    progress: b.fromArray(Float32Array.from(live.flatMap((goesOn) => [0, goesOn])), [count, 2]),
    ids: vector(1, 2, 3, 4, 5),
    positions: vector(0, 1, 2, 3, 4),
    rows: vector(10, 11, 12, 13, 14),
    ends: vector(11, 12, 13, 14, 15),
  };
  for (let step = 0; step < 4; step++) {
    const logits = randomValues(count * VOCABULARY, 20 + step, 6);
    // The largest of all may not be drawn; the largest drawable one comes twice, and the first of them counts.
    logits[950] = 40;
    logits[4100] = 30;
    logits[4200] = 30;
    b.drawTokens(b.fromArray(logits, [count, VOCABULARY]), draws);
  }
  const table = b.fromArray(
    Float32Array.from({ length: VOCABULARY }, (_, i) => i),
    [VOCABULARY, 1],
  );
  const { results, progress, ids, positions, rows, ends } = draws;
  const state = Object.entries({ ids, positions, rows, ends }).map(([name, t]) => [
    name,
    b.gatherRows(table, t),
  ]);
  return { results, progress, ...Object.fromEntries(state) };
}

test.each([0, 1])("tokens are drawn as the plain reference draws them, backend %i", async (which) => {
  await expectSameResults(backends[which]!, (b) => drawn(b, { bounds: FREE, live: [1, 1, 1, 1, 0] }), 1e-6);
});

test.each([
  ["top-k", [3, 1, 20, 1, 1, 1, 300, 1, 5000, 1]],
  ["top-p", [0, 0.5, 0, 0.9, 0, 0.3, 0, 0.99, 0, 0.05]],
  ["both", [3, 0.5, 20, 0.6, 2, 0.4, 300, 0.9, 5000, 0.7]],
] as const)("%s leaves the tokens that the plain reference leaves", async (_, bounds) => {
  for (const backend of backends)
    await expectSameResults(backend, (b) => drawn(b, { bounds, live: [1, 1, 1, 1, 1] }), 1e-6);
});

test("a recording runs on what its tensors hold by then, and frees what it made", async () => {
  for (const backend of backends) {
    const before = backend.live();
    const x = backend.fromArray(Float32Array.of(1, 2), [2]);
    const sum = backend.zeros([2]);
    const recording = backend.record!(() => backend.addInPlace(sum, backend.add(x, x)));
    recording.run();
    backend.write(x, Float32Array.of(10, 20));
    recording.run();
    recording.run();
    expect(await backend.read(sum)).toEqual(Float32Array.of(42, 84));
    expect(() => backend.record!(() => backend.write(x, Float32Array.of(1, 2)))).toThrow(
      /writing from the host/,
    );
    recording.dispose();
    backend.free(x, sum);
    expect(backend.live()).toEqual(before);
  }
});

test("tensors of a recording take turns in buffers that nobody else gets", async () => {
  for (const backend of backends) {
    const before = backend.live();
    const x = backend.fromArray(Float32Array.of(1, 2), [2]);
    const sum = backend.zeros([2]);
    // 32 times as much, by five doublings.
    const recording = backend.record!(() => {
      let y = x;
      for (let i = 0; i < 5; i++) {
        const twice = backend.add(y, y);
        if (y !== x) backend.free(y);
        y = twice;
      }
      backend.addInPlace(sum, y);
    });
    expect(backend.live().tensors - before.tensors).toBe(4);
    recording.run();
    const others = Array.from({ length: 4 }, () => backend.fromArray(Float32Array.of(7, 7), [2]));
    recording.run();
    expect(await backend.read(sum)).toEqual(Float32Array.of(64, 128));
    for (const other of others) expect(await backend.read(other)).toEqual(Float32Array.of(7, 7));
    recording.dispose();
    // One that was there before and is freed in the recording is read by each run.
    const given = backend.fromArray(Float32Array.of(1, 2), [2]);
    const again = backend.record!(() => {
      const y = backend.add(given, given);
      backend.free(given);
      backend.addInPlace(sum, backend.add(y, y));
    });
    again.run();
    again.run();
    expect(await backend.read(sum)).toEqual(Float32Array.of(72, 144));
    again.dispose();
    backend.free(x, sum, ...others);
    expect(backend.live()).toEqual(before);
  }
});
