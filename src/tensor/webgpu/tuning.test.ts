import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { relativeError } from "../../../test/support/relative-error.ts";
import { openGpu, openNullGpu } from "../../../test/webgpu.ts";
import type { ProductForm, TuningShapes } from "../tuning-shapes.ts";
import { matrixFitting, matrixTiles, rowsOf } from "./attention-matrix.ts";
import type { Context } from "./context.ts";
import { createWebGpuBackend, type TuningOptions, type TuningStore, type WebGpuBackend } from "./index.ts";
import { productCandidates } from "./matmul.ts";
import { matrixCandidates } from "./matmul-matrix.ts";
import { kernelHash } from "./tuner.ts";
import {
  attentionClass,
  decide,
  parseTuningFile,
  productClass,
  SHARED_KERNELS,
  Tuning,
  type TuningFile,
} from "./tuning.ts";

const FORMS: readonly ProductForm[] = ["nt", "nn", "tn"];
const shapes = (m: number, n: number, k: number): TuningShapes => ({
  products: FORMS.map((form) => ({ form, m, n, k })),
  attention: [],
});

/** In memory, with what was written. */
function memoryStore(text: string | null = null): TuningStore & { text: string | null } {
  return {
    text,
    async read() {
      return this.text;
    },
    async write(given) {
      this.text = given;
    },
  };
}

/** Pretends that every measurement takes longer than the one before, or ever shorter. */
function fakeTime(step: number): { count: number; time(): Promise<number> } {
  return {
    count: 0,
    async time() {
      this.count++;
      return 1 + step * this.count;
    },
  };
}

describe("the choice", () => {
  test("is the rule's unless another is clearly faster", () => {
    const of = (...seconds: number[]) => decide(seconds.map((s, i) => ({ choice: i, seconds: s })));
    expect(of(1)).toBe(0);
    expect(of(1, 0.98, 0.99)).toBe(0);
    expect(of(1, 0.96, 0.9, 0.95)).toBe(2);
    expect(of(1, 2, 3)).toBe(0);
    expect(() => of()).toThrow("no choice");
  });

  test("is found for shapes of the same class, and for no other", () => {
    const tuning = new Tuning();
    expect(tuning.product("f32", "nt", 300, 64, 64)).toBeUndefined();
    tuning.setProduct(productClass("f32", { form: "nt", m: 512, n: 64, k: 64 }), { kernel: "tile" });
    expect(tuning.product("f32", "nt", 300, 64, 64)).toEqual({ kernel: "tile" });
    expect(tuning.product("f32", "nt", 513, 64, 64)).toBeUndefined();
    expect(tuning.product("f32", "nn", 300, 64, 64)).toBeUndefined();
    expect(tuning.product("matrix", "nt", 300, 64, 64)).toBeUndefined();
  });
});

describe("what is measured of an f32 product", () => {
  const kernels = (matmul: Context["matmul"], workgroupStorage: number, size = 256) => {
    const context = { matmul, matmulFixed: false, software: false, features: { workgroupStorage } };
    const shape = { form: "nt", m: size, n: size, k: size } as const;
    return productCandidates(context as Context, shape).map(({ kernel }) => kernel);
  };

  test("the widest tiles where there are several, and workgroup memory for them", () => {
    expect(kernels("shared", 32_768)).toEqual(["shared-64", "shared-128", "tile", "shared-128x128"]);
    expect(kernels("tile", 16_384)).toEqual(["tile", "shared-128", "shared-64"]);
    expect(kernels("shared", 32_768, 252)).not.toContain("shared-128x128");
  });

  test("nothing but a kernel that was asked for by name", () => {
    expect(kernels("shared-64", 32_768)).toEqual(["shared-64"]);
  });
});

describe("on the software adapter", () => {
  let gpu: GPU | null;
  beforeAll(async () => {
    gpu = await openGpu();
  });
  afterAll(() => {
    gpu = null;
  });
  const open = (tuning: TuningOptions | false) => createWebGpuBackend(gpu!, { tuning });

  const [m, n, k] = [96, 72, 64];
  async function products(b: WebGpuBackend): Promise<Float32Array[]> {
    const x = b.fromArray(randomValues(m * k, 1), [m, k]);
    const w = b.fromArray(randomValues(n * k, 2), [n, k]);
    const dy = b.fromArray(randomValues(m * n, 3), [m, n]);
    const dw = b.zeros([n, k]);
    b.linearBackwardWeight(dw, dy, x);
    const found = [b.linear(x, w), b.linearBackwardInput(dy, w), dw];
    const values = await Promise.all(found.map((t) => b.read(t)));
    b.free(x, w, dy, ...found);
    return values;
  }
  /** The products of a linear layer of these sizes. */
  const layer: TuningShapes = {
    products: [
      { form: "nt", m, n, k },
      { form: "nn", m, n: k, k: n },
      { form: "tn", m: n, n: k, k: m },
    ],
    attention: [],
  };

  test("nothing is measured unless it is forced, and with tuning off not even then", async () => {
    const fake = fakeTime(1);
    for (const tuning of [{ time: fake.time.bind(fake) }, false] as const) {
      const backend = await open(tuning);
      await backend.tune!(layer);
      expect(backend.tuned).toEqual({ products: {}, attention: {} });
      backend.dispose();
    }
    expect(fake.count).toBe(0);
  });

  test("a forced measurement gives a choice that exists, and equal results", async () => {
    const backend = await open({ force: true });
    const before = await products(backend);
    const live = backend.live();
    await backend.tune!({ ...layer, products: layer.products.slice(0, 1) });
    expect(backend.live()).toEqual(live);
    const choices = Object.values(backend.tuned.products);
    expect(choices).toHaveLength(1);
    for (const { kernel } of choices) expect(["tile", ...SHARED_KERNELS]).toContain(kernel);
    (await products(backend)).forEach((values, i) => {
      expect(relativeError(values, before[i]!)).toBeLessThan(1e-6);
    });
    backend.dispose();
  });

  test("a choice is what runs from then on, and gives the same results", async () => {
    const reference = await open(false);
    const expected = await products(reference);
    reference.dispose();
    const backend = await open({
      force: true,
      time: async () => (Object.values(backend.tuned.products).at(-1)!.kernel === "shared-64" ? 0.1 : 1),
    });
    await backend.tune!(layer);
    const chosen = Object.values(backend.tuned.products).map(({ kernel }) => kernel);
    expect(chosen).toEqual(["shared-64", "shared-64", "shared-64"]);
    const entries = new Set<string>();
    const { createComputePipeline } = backend.device;
    backend.device.createComputePipeline = (descriptor) => {
      entries.add(descriptor.compute.entryPoint!);
      return createComputePipeline.call(backend.device, descriptor);
    };
    (await products(backend)).forEach((values, i) => {
      expect(relativeError(values, expected[i]!)).toBeLessThan(1e-6);
    });
    expect([...entries].filter((entry) => entry.startsWith("matmul"))).toEqual(["matmul_shared"]);
    backend.dispose();
  });

  test("what was measured is stored, and another start measures nothing again", async () => {
    const store = memoryStore();
    const first = fakeTime(-0.01);
    const backend = await open({ force: true, store, time: first.time.bind(first) });
    await backend.tune!(layer);
    const { tuned } = backend;
    expect(first.count).toBeGreaterThan(6);
    await backend.tune!(layer);
    const again = fakeTime(0.01);
    const other = await open({ force: true, store, time: again.time.bind(again) });
    await other.tune!(layer);
    expect(again.count).toBe(0);
    expect(other.tuned).toEqual(tuned);
    // More shapes are added to those that are there.
    await other.tune!(shapes(40, 40, 40));
    expect(again.count).toBeGreaterThan(0);
    const [adapter] = Object.values(parseTuningFile(store.text!).adapters);
    expect(Object.keys(adapter!.products)).toHaveLength(6);
    expect(adapter!.kernels).toBe(kernelHash());
    backend.dispose();
    other.dispose();
  });

  test("of two processes that measure at the same time, both take what was stored first", async () => {
    const store = memoryStore();
    const first = fakeTime(-0.1);
    const second = fakeTime(0.1);
    const one = await open({ force: true, store, time: first.time.bind(first) });
    const alone = await open({ force: true, time: second.time.bind(second) });
    await one.tune!(layer);
    expect(one.tuned.products).not.toEqual({});
    let reads = 0;
    const late = await open({
      force: true,
      // Nothing was there when it began.
      store: {
        read: async () => (reads++ === 0 ? null : store.read()),
        write: (text) => store.write(text),
      },
      time: second.time.bind(second),
    });
    await alone.tune!(layer);
    expect(alone.tuned).not.toEqual(one.tuned);
    await late.tune!(layer);
    expect(late.tuned).toEqual(one.tuned);
    for (const backend of [one, alone, late]) backend.dispose();
  });

  test("choices of another adapter or of other kernels are not taken; another adapter's are kept", async () => {
    const store = memoryStore();
    const fake = fakeTime(0.01);
    const options = { force: true, store, time: fake.time.bind(fake) };
    const backend = await open(options);
    await backend.tune!(layer);
    const { count } = fake;
    const file = JSON.parse(store.text!) as TuningFile;
    const [key, adapter] = Object.entries(file.adapters)[0]!;
    file.adapters = { another: adapter, [key]: { ...adapter, kernels: "older" } };
    store.text = JSON.stringify(file);
    const other = await open(options);
    await other.tune!(layer);
    expect(fake.count).toBe(2 * count);
    const { adapters } = parseTuningFile(store.text!);
    expect(Object.keys(adapters).sort()).toEqual(["another", key].sort());
    expect(adapters[key]!.kernels).toBe(kernelHash());
    backend.dispose();
    other.dispose();
  });

  test.each([
    ["{", /JSON/],
    ["[]", /not a tuning file/],
    [JSON.stringify({ format: 2, adapters: {} }), /not a tuning file of format 1/],
    [
      JSON.stringify({
        format: 1,
        adapters: { a: { kernels: "", products: { "f32 nt 1x1x1": { kernel: "large" } }, attention: {} } },
      }),
      /a choice that no kernel knows/,
    ],
    [
      JSON.stringify({
        format: 1,
        adapters: {
          a: { kernels: "", products: { "f32 tn 1x1x1": { kernel: "tile", parts: 0 } }, attention: {} },
        },
      }),
      /a choice that no kernel knows/,
    ],
    [
      JSON.stringify({
        format: 1,
        adapters: { a: { kernels: "", products: {}, attention: { "dq 64 1": {} } } },
      }),
      /a choice that no kernel knows/,
    ],
  ])("a damaged store is measured over, with a note: %s", async (text, why) => {
    expect(() => parseTuningFile(text)).toThrow();
    const notes: string[] = [];
    const store = memoryStore(text);
    const fake = fakeTime(0.01);
    const backend = await open({
      force: true,
      store,
      time: fake.time.bind(fake),
      onNote: (n) => notes.push(n),
    });
    await backend.tune!(shapes(20, 20, 20));
    expect(notes[0]).toMatch(/^The stored choices of kernels are ignored and measured again: /);
    expect(notes[0]).toMatch(why);
    expect(notes).toHaveLength(1);
    expect(Object.keys(Object.values(parseTuningFile(store.text!).adapters)[0]!.products)).toHaveLength(3);
    backend.dispose();
  });

  test("a store that cannot be written, and a measurement that fails, leave a note and the rules", async () => {
    const notes: string[] = [];
    const onNote = (note: string) => notes.push(note);
    const time = async () => {
      throw new Error("no memory");
    };
    const failing = await open({ force: true, time, onNote });
    const before = failing.live();
    await failing.tune!(layer);
    expect(failing.tuned.products).toEqual({});
    expect(failing.live()).toEqual(before);
    failing.dispose();
    const fake = fakeTime(0.01);
    const store = { read: async () => null, write: () => Promise.reject(new Error("read-only")) };
    const unkept = await open({ force: true, time: fake.time.bind(fake), store, onNote });
    await unkept.tune!(layer);
    expect(Object.keys(unkept.tuned.products)).toHaveLength(3);
    unkept.dispose();
    expect(notes).toEqual([
      "Measuring kernels was given up, the fixed rules hold: no memory",
      "The choices of kernels could not be stored: read-only",
    ]);
  });
});

test("with matrix units parts and tiles of attention are chosen, and all of them are valid", async () => {
  let seconds = 1;
  const time = async (work: () => void) => {
    work();
    seconds *= 0.9;
    return seconds;
  };
  const gpu = await openNullGpu();
  const backend = await createWebGpuBackend(gpu, {
    compute: "f16",
    f16: "matrix",
    tuning: { force: true, time },
  });
  await backend.tune!({
    products: shapes(1024, 512, 8192).products,
    attention: [false, true].map((backward) => ({ queries: 600, heads: 4, groups: 2, size: 32, backward })),
  });
  await backend.sync();
  const { products } = backend.tuned;
  // This adapter's workgroups have no memory for large tiles.
  expect(Object.keys(products)).toEqual(["matrix tn 1024x512x8192"]);
  expect(products["matrix tn 1024x512x8192"]).toEqual({ kernel: "small", parts: 8 });
  expect(gpu).toBeDefined();
  backend.dispose();
});

test("candidates of the matrix kernel: each tile, and sums in several numbers of parts, the rule's first", () => {
  const context = { features: { workgroupStorage: 49_152 } } as Context;
  const of = (form: ProductForm, m: number, n: number, k: number) =>
    matrixCandidates(context, { form, m, n, k }).map(({ kernel, parts }) =>
      parts ? `${kernel}/${parts}` : kernel,
    );
  expect(of("nt", 4096, 4096, 4096)).toEqual(["large", "small"]);
  expect(of("nn", 64, 4096, 4096)).toEqual(["small", "large"]);
  expect(of("tn", 1024, 1024, 4096)).toEqual([
    "small/1",
    "large/2",
    "large/4",
    "large/8",
    "small/2",
    "small/4",
  ]);
  expect(of("tn", 64, 64, 256)).toEqual(["small/1", "large/1"]);
});

test("tiles of attention that were measured are taken where they fit", () => {
  const tuning = new Tuning();
  const context = {
    f16: "matrix",
    tuning,
    features: { subgroupSize: 32, matrices: [{ m: 16, n: 16, k: 16 }] },
    commands: { limits: { maxComputeWorkgroupStorageSize: 49_152, maxStorageBuffersPerShaderStage: 10 } },
  } as unknown as Context;
  const rule = matrixTiles(context, "forward", { queries: 1000, size: 128 })!;
  const smaller = matrixFitting(context, "forward", { queries: 1000, size: 128 }).at(-1)!;
  expect(smaller).not.toEqual(rule);
  tuning.setAttention(attentionClass("forward", 128, 1000), smaller);
  expect(matrixTiles(context, "forward", { queries: 1000, size: 128 })).toEqual(smaller);
  expect(matrixTiles(context, "dq", { queries: 1000, size: 128 })).not.toEqual(smaller);
  tuning.setAttention(attentionClass("forward", 128, 20), rule);
  expect(rowsOf(matrixTiles(context, "forward", { queries: 20, size: 128 })!)).toBe(16);
});
