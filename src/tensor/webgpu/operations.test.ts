import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { expectSameResults } from "../../../test/support/same-results.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { uniforms } from "../../core/seeded.ts";
import type { AdamWStep } from "../backend.ts";
import { createWebGpuBackend, requestDevice, type WebGpuBackend } from "./index.ts";

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
        const { dx, dgate: dsigmoid } = b.sigmoidGateBackward(a, c, dy);
        const gated = { gated: b.sigmoidGate(a, c), dx, dsigmoid };
        return { sum, twice, filled, y: b.swiglu(a, c), ...b.swigluBackward(a, c, dy), ...gated };
      });
    },
  );

  test("SwiGLU and the sigmoid gate of large values stay finite", async () => {
    await expectSameResults(backend, (b) => {
      const gate = b.fromArray(Float32Array.of(-1000, -90, 0.5, 90, 1000), [5]);
      const up = b.fromArray(Float32Array.of(1, 2, 3, 4, 5), [5]);
      const { dx, dgate: dsigmoid } = b.sigmoidGateBackward(up, gate, up);
      const gated = { gated: b.sigmoidGate(up, gate), dx, dsigmoid };
      return { y: b.swiglu(gate, up), ...b.swigluBackward(gate, up, up), ...gated };
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

describe.each(["on the processor", "as on a GPU"])("normalisation and positions, %s", (kind) => {
  let backend: WebGpuBackend;
  beforeAll(async () => {
    const device = await requestDevice(await openGpu());
    backend = await createWebGpuBackend({ ...device, software: kind === "on the processor" });
  });
  afterAll(() => backend.dispose());

  test.each([[[5, 192]], [[64, 3, 32]], [[7, 5]], [[1, 4]], [[700, 16]], [[3, 2100]]])(
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
        const dx = b.rmsNormBackward(dw, dy, x, w, rstd);
        const [past, added] = [b.rmsNormBackward(dw, dy, x, w, rstd, x), b.addRmsNorm(x, dy, w, 1e-6)];
        const plain = { y, rstd, dx, dw, past, sum: added.sum, sumY: added.y, sumRstd: added.rstd };
        const centredSum = b.addRmsNorm(x, dy, w, 1e-6, 1);
        return {
          ...plain,
          centred: b.rmsNorm(x, w, 1e-6, 1).y,
          centredSum: centredSum.y,
          centredDx: b.rmsNormBackward(null, dy, x, w, rstd, null, 1),
          centredPast: b.rmsNormBackward(b.zeros([width]), dy, x, w, rstd, x, 1),
        };
      });
    },
  );

  test.each([
    [9, 3, 16, 16],
    [4, 2, 6, 6],
    [3, 2, 12, 12],
    [7, 2, 24, 6],
    [5, 1, 64, 16],
  ])("rotary embedding of %i tokens, %i heads of %i, and back, %i numbers turning", async (...sizes) => {
    const [tokens, heads, size, turning] = sizes;
    const places = ids(tokens, 20, 3);
    await expectSameResults(backend, (b) => {
      const x = b.fromArray(randomValues(tokens * heads * size, 1), [tokens, heads, size]);
      const angles = randomValues(20 * (turning / 2), 2, 3);
      const cos = b.fromArray(angles.map(Math.cos), [20, turning / 2]);
      const sin = b.fromArray(angles.map(Math.sin), [20, turning / 2]);
      const positions = b.fromArray(places, [tokens]);
      const y = b.rope(x, cos, sin, positions);
      const w = b.fromArray(randomValues(size, 5), [size]);
      const { y: normed, rstd } = b.rmsNormRope(x, w, 1e-6, cos, sin, positions);
      const centred = b.rmsNormRope(x, w, 1e-6, cos, sin, positions, 1).y;
      return { y, back: b.rope(y, cos, sin, positions, true), normed, rstd, centred };
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

  test("AdamW over parameters of any sizes, more than a kernel takes at a time, and over none", async () => {
    await expectSameResults(
      backend,
      (b) => {
        const sizes = [1, 64, 1003, 5, 300, 2, 129, 16, 7];
        const parameters = sizes.map((size, n) => {
          const [p, g, m, v] = [0, 1, 2, 3].map((of) => {
            const values = randomValues(size, 4 * n + of);
            return b.fromArray(of === 3 ? values.map((x) => x * x) : values, [size]);
          });
          return { p: p!, g: g!, m: m!, v: v! };
        });
        const step = {
          learningRate: 0.1,
          beta1: 0.9,
          beta2: 0.999,
          epsilon: 1e-8,
          weightDecay: 0.1,
          step: 3,
        };
        b.adamw(parameters, { ...step, gradScale: 0.5 });
        b.adamw([], { ...step, gradScale: 0.5 });
        const named = parameters.flatMap(({ p, m, v }, n) => [
          [`p${n}`, p] as const,
          [`m${n}`, m] as const,
          [`v${n}`, v] as const,
        ]);
        return Object.fromEntries(named);
      },
      1e-6,
    );
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
          b.adamw([{ p, g: b.fromArray(randomValues(1003, 10 + step), [17, 59]), m, v }], settings);
        }
        return { p, m, v };
      },
      1e-6,
    );
  });
});
