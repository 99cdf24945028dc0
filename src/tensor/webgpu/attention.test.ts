import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import {
  type PackedRanges,
  packRanges,
  packSequences,
  randomPack,
  rangeTensors,
  type Shared,
} from "../../../test/support/packs.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu, openNullGpu } from "../../../test/webgpu.ts";
import type { Backend } from "../backend.ts";
import type { Tensor } from "../tensor.ts";
import { decodeConstants } from "./attention-decode.ts";
import decode from "./attention-decode.wgsl?raw";
import common from "./common.wgsl?raw";
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "./index.ts";
import { joinModules, specialise } from "./wgsl.ts";

let backend: WebGpuBackend;
beforeAll(async () => {
  backend = await createWebGpuBackend(await openGpu());
});
afterAll(() => backend.dispose());

interface Shape {
  ranges: PackedRanges;
  heads: number;
  groups: number;
  size: number;
}

function bothPasses<T extends Tensor>(
  b: Backend<T>,
  { ranges, heads, groups, size }: Shape,
): Record<string, T> {
  const n = ranges.start.length;
  const q = b.fromArray(randomValues(n * heads * size, 1, 3), [n, heads, size]);
  const k = b.fromArray(randomValues(n * groups * size, 2), [n, groups, size]);
  const v = b.fromArray(randomValues(n * groups * size, 3), [n, groups, size]);
  const dout = b.fromArray(randomValues(n * heads * size, 4), [n, heads, size]);
  const { keys, queryEnd } = rangeTensors(b, ranges);
  const { o, lse } = b.attention(q, k, v, keys);
  return { o, lse, ...b.attentionBackward(dout, q, k, v, o, lse, keys, queryEnd) };
}

async function expectSameGradients(
  on: WebGpuBackend,
  ranges: PackedRanges,
  heads: number,
  groups: number,
  size: number,
): Promise<void> {
  await expectSameResults(on, (b) => bothPasses(b, { ranges, heads, groups, size }));
}

const plain = (...lengths: number[]): Shared[] => lengths.map((prefix) => ({ prefix, continuations: [] }));

test.each([
  { parts: plain(2), heads: 1, groups: 1, size: 4 },
  { parts: plain(5, 1, 17), heads: 6, groups: 3, size: 32 },
  { parts: plain(3, 3), heads: 4, groups: 2, size: 16 },
  { parts: plain(70, 2, 61), heads: 6, groups: 2, size: 32 },
  { parts: plain(9, 13), heads: 3, groups: 1, size: 24 },
  { parts: plain(11, 6), heads: 2, groups: 2, size: 64 },
  { parts: plain(6, 7), heads: 2, groups: 1, size: 128 },
  { parts: [{ prefix: 1, continuations: [1, 1] }], heads: 2, groups: 1, size: 8 },
  { parts: [{ prefix: 33, continuations: [5, 1, 20] }], heads: 4, groups: 2, size: 32 },
  { parts: randomPack(60, 1), heads: 4, groups: 2, size: 16 },
  { parts: randomPack(110, 2), heads: 3, groups: 1, size: 32 },
  { parts: randomPack(50, 3), heads: 2, groups: 1, size: 128 },
])("packed causal attention and its gradients, %j", async ({ parts, heads, groups, size }) => {
  await expectSameGradients(backend, packRanges(parts), heads, groups, size);
});

describe("on a software adapter without subgroups, where threads load alone", () => {
  let own: WebGpuBackend;
  beforeAll(async () => {
    const device = await requestDevice(await openGpu());
    own = await createWebGpuBackend({ ...device, features: { ...device.features, subgroups: false } });
  });
  afterAll(() => own.dispose());

  test.each([
    { parts: plain(5, 1, 17), heads: 6, groups: 3, size: 8 },
    { parts: [{ prefix: 33, continuations: [5, 1, 20] }], heads: 4, groups: 2, size: 8 },
    { parts: randomPack(60, 1), heads: 4, groups: 2, size: 36 },
  ])("%j has the bits of teams", async ({ parts, heads, groups, size }) => {
    const shape = { ranges: packRanges(parts), heads, groups, size };
    await expectSameResults(own, (b) => bothPasses(b, shape));
    const [alone, teams] = await Promise.all(
      [own, backend].map(async (b) => {
        const results = bothPasses(b, shape);
        return Promise.all(Object.values(results).map(async (t) => [...(await b.read(t))]));
      }),
    );
    expect(alone).toEqual(teams);
  });
});

test("continuations behind a cached prefix: the keys of two ranges cut into parts", async () => {
  const [queries, cached, heads, groups, size] = [5, 900, 4, 2, 16];
  await expectSameResults(backend, (b) => {
    const count = cached + queries;
    const q = b.fromArray(randomValues(queries * heads * size, 1, 3), [queries, heads, size]);
    const k = b.fromArray(randomValues(count * groups * size, 2), [count, groups, size]);
    const v = b.fromArray(randomValues(count * groups * size, 3), [count, groups, size]);
    const rows = (...values: number[]) => b.fromArray(Uint32Array.from(values), [queries]);
    return b.attention(q, k, v, {
      start: rows(900, 900, 902, 902, 902),
      end: rows(901, 902, 903, 904, 905),
      prefixStart: rows(0, 0, 3, 3, 3),
      prefixEnd: rows(700, 700, 899, 899, 899),
    });
  });
});

test.each([
  [1, 301, 4, 2, 32],
  [2, 40, 6, 3, 16],
  [1, 1, 2, 1, 64],
  [1, 2500, 6, 3, 32],
])("%i new queries over %i cached keys", async (queries, count, heads, groups, size) => {
  await expectSameResults(backend, (b) => {
    const q = b.fromArray(randomValues(queries * heads * size, 1, 3), [queries, heads, size]);
    const k = b.fromArray(randomValues((count + 3) * groups * size, 2), [count + 3, groups, size]);
    const v = b.fromArray(randomValues((count + 3) * groups * size, 3), [count + 3, groups, size]);
    const ends = Uint32Array.from({ length: queries }, (_, i) => count - queries + 1 + i);
    const keys = {
      start: b.fromArray(new Uint32Array(queries), [queries]),
      end: b.fromArray(ends, [queries]),
    };
    return b.attention(q, k, v, keys);
  });
});

test("few queries that see nothing of some parts of the keys", async () => {
  await expectSameResults(backend, (b) => {
    const q = b.fromArray(randomValues(3 * 2 * 8, 1, 3), [3, 2, 8]);
    const k = b.fromArray(randomValues(400 * 8, 2), [400, 1, 8]);
    const v = b.fromArray(randomValues(400 * 8, 3), [400, 1, 8]);
    const start = b.fromArray(Uint32Array.of(0, 251, 130), [3]);
    const end = b.fromArray(Uint32Array.of(10, 399, 131), [3]);
    return b.attention(q, k, v, { start, end });
  });
});

test("scores far from zero", async () => {
  const ranges = packSequences([9]);
  await expectSameResults(backend, (b) => {
    const q = b.fromArray(randomValues(9 * 8, 1, 60), [9, 1, 8]);
    const k = b.fromArray(randomValues(9 * 8, 2, 60), [9, 1, 8]);
    return b.attention(q, k, k, rangeTensors(b, ranges).keys);
  });
});

describe.each(["f32", "f16"] as const)("attention of few rows to a cache in %s", (format) => {
  let own: WebGpuBackend;
  beforeAll(async () => {
    own = await createWebGpuBackend({ ...(await requestDevice(await openGpu())), software: false });
  });
  afterAll(() => own.dispose());

  test.each([
    { keys: [1, 64, 65, 300], heads: 4, groups: 2, size: 16 },
    { keys: [200, 130], heads: 3, groups: 3, size: 24 },
    { keys: [1, 2, 3, 90, 128, 129, 256, 257, 40], heads: 2, groups: 1, size: 128 },
  ])("%j", async ({ keys, heads, groups, size }) => {
    const queries = keys.length;
    const total = keys.reduce((sum, count) => sum + count, 0);
    await expectSameResults(own, (b) => {
      const q = b.fromArray(randomValues(queries * heads * size, 1, 3), [queries, heads, size]);
      const rows = b.fromArray(
        Uint32Array.from({ length: total }, (_, i) => total - 1 - i),
        [total],
      );
      const cache = (seed: number) => {
        const t = b.allocateWeight(format, [total, groups, size]);
        b.putRows(t, rows, b.fromArray(randomValues(total * groups * size, seed), [total, groups, size]));
        return t;
      };
      const [k, v] = [cache(2), cache(3)];
      let end = 0;
      const ends = keys.map((count) => {
        end += count;
        return end;
      });
      const start = b.fromArray(
        Uint32Array.from(ends, (at, i) => at - keys[i]!),
        [queries],
      );
      const range = { start, end: b.fromArray(Uint32Array.from(ends), [queries]), most: Math.max(...keys) };
      return { ...b.attention(q, k, v, range), seen: b.gatherRows(k, start) };
    });
  });
});

interface Step {
  format: "f32" | "f16";
  /** Of each sequence, the new one among them. */
  keys: readonly number[];
  heads: number;
  groups: number;
  size: number;
  /** Numbers of a head that turn, all by default. */
  turning?: number;
  offset?: number;
}

function stepOfDecoding<T extends Tensor>(
  b: Backend<T>,
  { format, keys, heads, groups, size, turning = size, offset = 0 }: Step,
): Record<string, T> {
  const most = Math.max(...keys);
  const vector = (values: readonly number[]) => b.fromArray(Uint32Array.from(values), [values.length]);
  const ends = keys.map((_, i) => keys.slice(0, i + 1).reduce((sum, count) => sum + count, 0));
  const total = ends.at(-1)!;
  const all = vector(Array.from({ length: total }, (_, i) => i));
  const tensor = (seed: number, shape: number[], scale = 1) =>
    b.fromArray(
      randomValues(
        shape.reduce((x, y) => x * y, 1),
        seed,
        scale,
      ),
      shape,
    );
  // What lies where the new keys and values go may be anything.
  const filled = (seed: number) => {
    const values = randomValues(total * groups * size, seed);
    for (const end of ends) values.fill(Number.NaN, (end - 1) * groups * size, end * groups * size);
    const t = b.allocateWeight(format, [total, groups, size]);
    b.putRows(t, all, b.fromArray(values, [total, groups, size]));
    return t;
  };
  const cache = { k: filled(1), v: filled(2) };
  const angles = randomValues((most * turning) / 2, 3, 3);
  const table = (of: (angle: number) => number) => b.fromArray(angles.map(of), [most, turning / 2]);
  const o = b.attendNext(
    cache,
    tensor(4, [keys.length, (heads + 2 * groups) * size], 3),
    { query: tensor(5, [size], 2), key: tensor(6, [size], 2), epsilon: 1e-6, offset },
    { cos: table(Math.cos), sin: table(Math.sin) },
    {
      positions: vector(keys.map((count) => count - 1)),
      rows: vector(ends.map((end) => end - 1)),
      starts: vector(ends.map((end, i) => end - keys[i]!)),
      ends: vector(ends),
      most,
    },
  );
  return { o, keys: b.gatherRows(cache.k, all), values: b.gatherRows(cache.v, all) };
}

/** A value that lies between two of f16 may go to either. */
const STEP_BOUND = { f32: 1e-5, f16: 1e-4 };

describe.each([
  { kind: "with subgroups", lacking: {} },
  { kind: "without", lacking: { subgroups: false, subgroupSize: undefined } },
])("the attention of a step of decoding, $kind", ({ lacking }) => {
  let own: WebGpuBackend;
  beforeAll(async () => {
    const device = await requestDevice(await openGpu());
    const features = { ...device.features, ...lacking };
    own = await createWebGpuBackend({ ...device, features, software: false });
  });
  afterAll(() => own.dispose());

  // Parts have 64 keys, or 128 from eight rows on: some sequences fill them, with others the new key begins one.
  test.each<Step>([
    { format: "f32", keys: [1], heads: 1, groups: 1, size: 8 },
    { format: "f32", keys: [1, 64, 65, 300], heads: 4, groups: 2, size: 16 },
    { format: "f32", keys: [128, 2], heads: 16, groups: 2, size: 64 },
    { format: "f32", keys: [70], heads: 5, groups: 1, size: 128, offset: 1 },
    { format: "f32", keys: [66], heads: 2, groups: 1, size: 256 },
    { format: "f32", keys: [5, 65], heads: 2, groups: 1, size: 128, turning: 32 },
    { format: "f32", keys: [9, 70], heads: 3, groups: 3, size: 24, turning: 8, offset: 1 },
    // A thread turns four neighbouring pairs: ten, as here, or six are left to other operations.
    { format: "f32", keys: [9, 70], heads: 2, groups: 1, size: 20 },
    { format: "f32", keys: [1, 2, 3, 90, 128, 129, 256, 257, 40], heads: 4, groups: 2, size: 64 },
    { format: "f32", keys: [1, 2, 3, 4, 5, 6, 128, 129], heads: 16, groups: 1, size: 16 },
    { format: "f16", keys: [1, 64, 65, 130], heads: 2, groups: 2, size: 16 },
    { format: "f16", keys: [9, 70], heads: 2, groups: 1, size: 16, turning: 12 },
    { format: "f16", keys: [128, 129], heads: 4, groups: 2, size: 128 },
    { format: "f16", keys: [65], heads: 16, groups: 2, size: 256, turning: 64, offset: 1 },
    { format: "f16", keys: [1, 2, 3, 90, 128, 129, 256, 257, 40], heads: 2, groups: 1, size: 128 },
  ])("%j", async (step) => {
    await expectSameResults(own, (b) => stepOfDecoding(b, step), STEP_BOUND[step.format]);
  });
});

test.each([
  { heads: 4, groups: 2, size: 16 },
  { heads: 3, groups: 3, size: 24, turning: 8, offset: 1 },
])("the attention of a step of decoding on a software adapter, by other operations, %j", async (shape) => {
  await expectSameResults(backend, (b) => stepOfDecoding(b, { ...shape, format: "f32", keys: [1, 65, 9] }));
});

test("the kernels of decoding compile for subgroups of 32", async () => {
  // Dawn's null backend compiles and computes nothing; `npm run bench -- decode` compares what a card computes.
  const { device } = await requestDevice(await openNullGpu());
  const features = { subgroups: true, subgroupSize: 32 };
  for (const format of ["f32", "f16"] as const)
    for (const next of [false, true])
      for (const [queries, heads, size] of [
        [1, 16, 64],
        [1, 4, 128],
        [32, 5, 128],
        [1, 8, 256],
      ] as const) {
        const sizes = { queries, keys: 300, heads, groups: 1, size };
        const constants = decodeConstants(features, sizes, format, next);
        // What every device has room for.
        const { HEADS, D4, BATCH, SLICES, KEYS, THREADS, SUBGROUP, TEAMS } = constants;
        const vectors = D4 * (HEADS + BATCH * SLICES + 2);
        const words = HEADS * (KEYS + (2 * THREADS) / SUBGROUP) + 2 * TEAMS;
        expect(16 * vectors + 4 * words).toBeLessThanOrEqual(16_384);
        const module = device.createShaderModule({
          code: joinModules(common, specialise(decode, constants)),
        });
        const { messages } = await module.getCompilationInfo();
        expect(
          messages.map((m) => `${m.lineNum}: ${m.message}`),
          JSON.stringify(constants),
        ).toEqual([]);
        for (const entryPoint of ["attention_decode", "attention_decode_merge"]) {
          const made = device.createComputePipelineAsync({ layout: "auto", compute: { module, entryPoint } });
          const error = await made.then(
            () => "",
            (reason: Error) => reason.message,
          );
          // The null device binds fewer buffers than the fused kernel needs.
          expect(error).toMatch(next && entryPoint === "attention_decode" ? /storage buffers/ : /^$/);
        }
      }
  device.destroy();
});

describe("attention and its gradients through tiles in workgroup memory", () => {
  let own: WebGpuBackend;
  beforeAll(async () => {
    own = await createWebGpuBackend(await openGpu(), { matmul: "shared" });
  });
  afterAll(() => own.dispose());

  test.each([
    { parts: plain(40, 1, 37), heads: 4, groups: 2, size: 32 },
    { parts: [{ prefix: 33, continuations: [5, 1, 20] }], heads: 4, groups: 2, size: 68 },
    { parts: randomPack(110, 2), heads: 3, groups: 1, size: 36 },
  ])("%j", async ({ parts, heads, groups, size }) => {
    await expectSameGradients(own, packRanges(parts), heads, groups, size);
  });

  test.each([16, 64])(
    "twelve queries over the keys of two ranges cut into parts, heads of %i",
    async (size) => {
      const [queries, cached, heads, groups] = [12, 1100, 2, 1];
      await expectSameResults(own, (b) => {
        const count = cached + queries;
        const q = b.fromArray(randomValues(queries * heads * size, 1, 3), [queries, heads, size]);
        const k = b.fromArray(randomValues(count * groups * size, 2), [count, groups, size]);
        const v = b.fromArray(randomValues(count * groups * size, 3), [count, groups, size]);
        const rows = (value: (i: number) => number) =>
          b.fromArray(
            Uint32Array.from({ length: queries }, (_, i) => value(i)),
            [queries],
          );
        return b.attention(q, k, v, {
          start: rows(() => cached),
          end: rows((i) => cached + i + 1),
          prefixStart: rows((i) => 10 * i),
          prefixEnd: rows((i) => (i % 3 === 0 ? 400 : cached - i)),
        });
      });
    },
  );
});
