import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { uniforms } from "../../core/seeded.ts";
import type { AdamWStep } from "../backend.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

let backend: WebGpuBackend;
beforeAll(async () => {
  backend = await createWebGpuBackend(await openGpu());
});
afterAll(() => backend.dispose());

function ids(count: number, limit: number, seed: number): Uint32Array {
  const next = uniforms(seed);
  return Uint32Array.from({ length: count }, () => Math.floor(next() * limit));
}

describe("elementwise", () => {
  test.each([[[1]], [[3, 5]], [[7, 64]], [[33, 100]]])(
    "add, fill and SwiGLU with its gradient, %j",
    async (shape) => {
      const n = shape.reduce((x, y) => x * y, 1);
      await expectSameResults(backend, (b) => {
        const [a, c] = [b.fromArray(randomValues(n, 1, 4), shape), b.fromArray(randomValues(n, 2, 4), shape)];
        const dy = b.fromArray(randomValues(n, 3), shape);
        const [twice, filled] = [b.fromArray(randomValues(n, 4), shape), b.zeros(shape)];
        const sum = b.add(a, c);
        b.addInPlace(twice, c);
        b.addInPlace(twice, twice);
        b.fill(filled, 0.25);
        return { sum, twice, filled, y: b.swiglu(a, c), ...b.swigluBackward(a, c, dy) };
      });
    },
  );

  test("SwiGLU of large values stays finite", async () => {
    await expectSameResults(backend, (b) => {
      const gate = b.fromArray(Float32Array.of(-1000, -90, 90, 1000), [4]);
      const up = b.fromArray(Float32Array.of(1, 2, 3, 4), [4]);
      return { y: b.swiglu(gate, up), ...b.swigluBackward(gate, up, up) };
    });
  });
});

describe("rows", () => {
  test.each([
    [1, 1, 4],
    [200, 9, 12],
    [37, 50, 7],
    [700, 3, 64],
  ])("embedding of %i ids among %i rows of %i, and its gradient", async (count, rows, width) => {
    const which = ids(count, rows, 5);
    await expectSameResults(backend, (b) => {
      const table = b.fromArray(randomValues(rows * width, 1), [rows, width]);
      const dy = b.fromArray(randomValues(count * width, 2), [count, width]);
      const dtable = b.fromArray(randomValues(rows * width, 3), [rows, width]);
      b.embeddingBackward(dtable, which, dy);
      return { y: b.embedding(table, b.fromArray(which, [count])), dtable };
    });
  });

  test.each([8, 5])("gather, scatter and copy rows of %i", async (width) => {
    await expectSameResults(backend, (b) => {
      const x = b.fromArray(randomValues(10 * width, 1), [10, width]);
      const rows = b.fromArray(Uint32Array.of(9, 0, 4), [3]);
      const picked = b.gatherRows(x, rows);
      const cache = b.fromArray(randomValues(8 * width, 2), [8, width]);
      b.copyRows(cache, 5, picked);
      return { picked, placed: b.scatterRows(picked, rows, 11), cache };
    });
  });

  test("ids, rows, targets and positions out of range are refused with the reference's words", () => {
    backend.scope(() => {
      const x = backend.zeros([4, 8]);
      const bad = backend.fromArray(Uint32Array.of(1, 4), [2]);
      const h = backend.zeros([2, 8]);
      expect(() => backend.embedding(x, bad)).toThrow("embedding: id 4 of 4");
      expect(() => backend.gatherRows(x, bad)).toThrow("gatherRows: row 4 of 4");
      expect(() => backend.scatterRows(h, bad, 3)).toThrow("scatterRows: row 4 of 3");
      expect(() => backend.embeddingBackward(x, Uint32Array.of(4, 0), h)).toThrow("id 4 of 4");
      expect(() => backend.headLogprobs(h, x, bad)).toThrow("headLogprobs: target 4 of 4");
      const [heads, table] = [backend.zeros([2, 1, 8]), backend.zeros([3, 4])];
      expect(() => backend.rope(heads, table, table, bad)).toThrow("rope: position 4 of 3");
    });
  });
});

describe("normalisation and positions", () => {
  test.each([[[5, 192]], [[64, 3, 32]], [[7, 5]], [[1, 4]], [[700, 16]]])(
    "RMS norm of %j and its gradients",
    async (shape) => {
      const n = shape.reduce((x, y) => x * y, 1);
      const width = shape.at(-1)!;
      await expectSameResults(backend, (b) => {
        const x = b.fromArray(randomValues(n, 1, 3), shape);
        const w = b.fromArray(randomValues(width, 2), [width]);
        const dy = b.fromArray(randomValues(n, 3), shape);
        const dw = b.fromArray(randomValues(width, 4), [width]);
        const { y, rstd } = b.rmsNorm(x, w, 1e-6);
        return { y, rstd, dx: b.rmsNormBackward(dw, dy, x, w, rstd), dw };
      });
    },
  );

  test.each([
    [9, 3, 16],
    [4, 2, 6],
  ])("rotary embedding of %i tokens, %i heads of %i, and back", async (tokens, heads, size) => {
    const places = ids(tokens, 20, 3);
    await expectSameResults(backend, (b) => {
      const x = b.fromArray(randomValues(tokens * heads * size, 1), [tokens, heads, size]);
      const angles = randomValues(20 * (size / 2), 2, 3);
      const cos = b.fromArray(angles.map(Math.cos), [20, size / 2]);
      const sin = b.fromArray(angles.map(Math.sin), [20, size / 2]);
      const positions = b.fromArray(places, [tokens]);
      const y = b.rope(x, cos, sin, positions);
      return { y, back: b.rope(y, cos, sin, positions, true) };
    });
  });
});

/** First row of its own sequence and end of the sequence, for each row of a pack of sequences of these lengths. */
function pack(lengths: readonly number[]): { start: Uint32Array; end: Uint32Array; queryEnd: Uint32Array } {
  const start: number[] = [];
  const queryEnd: number[] = [];
  for (const length of lengths) {
    const first = start.length;
    for (let i = 0; i < length; i++) {
      start.push(first);
      queryEnd.push(first + length);
    }
  }
  return {
    start: Uint32Array.from(start),
    end: Uint32Array.from(start, (_, i) => i + 1),
    queryEnd: Uint32Array.from(queryEnd),
  };
}

describe("attention", () => {
  test.each([
    { lengths: [2], heads: 1, groups: 1, size: 4 },
    { lengths: [5, 1, 17], heads: 6, groups: 3, size: 32 },
    { lengths: [3, 3], heads: 4, groups: 2, size: 16 },
    { lengths: [70, 2, 61], heads: 6, groups: 2, size: 32 },
    { lengths: [9, 13], heads: 3, groups: 1, size: 24 },
    { lengths: [11, 6], heads: 2, groups: 2, size: 64 },
    { lengths: [6, 7], heads: 2, groups: 1, size: 128 },
  ])("packed causal attention and its gradients, %j", async ({ lengths, heads, groups, size }) => {
    const { start, end, queryEnd } = pack(lengths);
    const n = start.length;
    await expectSameResults(backend, (b) => {
      const q = b.fromArray(randomValues(n * heads * size, 1, 3), [n, heads, size]);
      const k = b.fromArray(randomValues(n * groups * size, 2), [n, groups, size]);
      const v = b.fromArray(randomValues(n * groups * size, 3), [n, groups, size]);
      const dout = b.fromArray(randomValues(n * heads * size, 4), [n, heads, size]);
      const keys = { start: b.fromArray(start, [n]), end: b.fromArray(end, [n]) };
      const { o, lse } = b.attention(q, k, v, keys);
      const ends = b.fromArray(queryEnd, [n]);
      return { o, lse, ...b.attentionBackward(dout, q, k, v, o, lse, keys, ends) };
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
    const { start, end } = pack([9]);
    await expectSameResults(backend, (b) => {
      const q = b.fromArray(randomValues(9 * 8, 1, 60), [9, 1, 8]);
      const k = b.fromArray(randomValues(9 * 8, 2, 60), [9, 1, 8]);
      const keys = { start: b.fromArray(start, [9]), end: b.fromArray(end, [9]) };
      return b.attention(q, k, k, keys);
    });
  });
});

describe.each(["tile", "shared"] as const)("vocabulary head, %s kernels", (matmul) => {
  let own: WebGpuBackend;
  beforeAll(async () => {
    own = await createWebGpuBackend(await openGpu(), { matmul });
  });
  afterAll(() => own.dispose());

  // The last one takes several blocks of rows and of the vocabulary.
  test.each([
    [1, 5, 4],
    [9, 1880, 64],
    [33, 131, 12],
    [5, 257, 6],
    [70, 128, 32],
    [300, 16402, 4],
  ])(
    "log-probabilities and gradients of %i rows over %i tokens, width %i",
    async (rows, vocabulary, width) => {
      const which = ids(rows, vocabulary, 9);
      await expectSameResults(own, (b) => {
        const h = b.fromArray(randomValues(rows * width, 1, 2), [rows, width]);
        const w = b.fromArray(randomValues(vocabulary * width, 2, 2), [vocabulary, width]);
        const targets = b.fromArray(which, [rows]);
        const { logprobs, lse } = b.headLogprobs(h, w, targets);
        const c = b.fromArray(randomValues(rows, 3), [rows]);
        const dw = b.fromArray(randomValues(vocabulary * width, 4), [vocabulary, width]);
        const dh = b.headBackward(dw, h, w, targets, lse, c);
        const frozen = b.headBackward(null, h, w, targets, lse, c);
        return { logprobs, lse, dh, dw, frozen };
      });
    },
  );
});

describe("optimizer", () => {
  test("sums of squares over tensors of any size", async () => {
    await expectSameResults(backend, (b) => ({
      several: b.sumSquares([1, 63, 64, 65, 5000, 300000].map((n) => b.fromArray(randomValues(n, n), [n]))),
      one: b.sumSquares([b.fromArray(Float32Array.of(3), [1])]),
      none: b.sumSquares([]),
    }));
  });

  test.each([0, 0.1])("five AdamW steps with weight decay %d", async (weightDecay) => {
    await expectSameResults(
      backend,
      (b) => {
        const p = b.fromArray(randomValues(1003, 1), [17, 59]);
        const [m, v] = [b.zeros([17, 59]), b.zeros([17, 59])];
        for (let step = 1; step <= 5; step++) {
          const settings: AdamWStep = {
            learningRate: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            weightDecay,
            step,
            gradScale: step % 2 === 0 ? 0.3 : 1,
          };
          b.adamw(p, b.fromArray(randomValues(1003, 10 + step), [17, 59]), m, v, settings);
        }
        return { p, m, v };
      },
      1e-6,
    );
  });
});
