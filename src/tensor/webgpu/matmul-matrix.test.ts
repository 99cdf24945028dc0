import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openNullGpu } from "../../../test/webgpu.ts";
import type { ProductForm } from "../tuning-shapes.ts";
import common from "./common.wgsl?raw";
import { type ComputeDevice, createWebGpuBackend, requestDevice, type WebGpuBackend } from "./index.ts";
import { MATRIX_TILES, matrixConstants } from "./matmul-matrix.ts";
import source from "./matmul-matrix.wgsl?raw";
import { joinModules, specialise } from "./wgsl.ts";

let compute: ComputeDevice;
beforeAll(async () => {
  compute = await requestDevice(await openNullGpu());
});
afterAll(() => compute.device.destroy());

async function compile(code: string): Promise<string | undefined> {
  const { device } = compute;
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code });
  device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "matmul_matrix" } });
  const message = (await device.popErrorScope())?.message;
  // The one thing that a kernel for large GPUs may ask for and the null adapter does not offer.
  return message?.startsWith("The total use of workgroup storage") ? undefined : message;
}

const stores = [
  { direct: true, through: false, accumulate: false },
  { direct: true, through: true, accumulate: false },
  { direct: false, through: true, accumulate: true },
];

describe.each(["nt", "nn", "tn"] as const satisfies ProductForm[])("matrix kernel, form %s", (form) => {
  const sizes = Object.entries(MATRIX_TILES);
  test.each(sizes.flatMap(([size, tile]) => ([8, 16] as const).map((columns) => ({ size, tile, columns }))))(
    "$size tiles with fragments of $columns columns compile",
    async ({ tile, columns }) => {
      expect(compute.features.f16 && compute.features.subgroups).toBe(true);
      for (const [i, store] of stores.entries()) {
        const constants = matrixConstants(form, tile, 4096, store, i === 1, columns);
        expect(await compile(joinModules(common, specialise(source, constants)))).toBeUndefined();
      }
    },
  );
});

test("a mistake in the text does not compile", async () => {
  const constants = matrixConstants("nt", MATRIX_TILES.large, 4096, stores[1]!, false);
  const text = joinModules(common, specialise(source, constants));
  expect(
    await compile(text.replace("subgroup_matrix_left<f16, 16, 16>", "subgroup_matrix_left<u32, 16, 16>")),
  ).toMatch(/error/);
});

describe("operations by matrix kernels are valid", () => {
  let backend: WebGpuBackend;
  beforeAll(async () => {
    backend = await createWebGpuBackend(await openNullGpu(), { compute: "f16", f16: "matrix" });
  });
  afterAll(() => backend.dispose());

  test.each([
    // Rows, columns, depth, and how many of x, w and dy are cast: one row's products are not worth it.
    [4096, 4096, 256, 3],
    [300, 1880, 192, 3],
    [17, 4, 4, 3],
    [16, 64, 64, 2],
    [5, 7, 9, 0],
  ])("linear layers and head, %i rows, %i × %i", async (m, n, k, casts) => {
    const before = backend.live();
    const entries: string[] = [];
    backend.scope(() => {
      const [x, w, dy, dw] = [
        [m, k],
        [n, k],
        [m, n],
        [n, k],
      ].map((shape) => backend.zeros(shape)) as [
        ReturnType<typeof backend.zeros>,
        ReturnType<typeof backend.zeros>,
        ReturnType<typeof backend.zeros>,
        ReturnType<typeof backend.zeros>,
      ];
      backend.linear(x, w);
      backend.linearBackwardInput(dy, w);
      backend.linearBackwardWeight(dw, dy, x);
      const targets = backend.zeros([m], "u32");
      const { lse, logprobs } = backend.headLogprobs(x, w, targets);
      backend.headBackward(dw, x, w, targets, lse, logprobs);
      for (const t of [x, w, dy]) if (t.panels) entries.push("panels");
    });
    await backend.sync();
    expect(entries).toHaveLength(casts);
    expect(backend.live()).toEqual(before);
  });

  test.each(["bf16", "int8", "int4"] as const)("%s weights go straight to panels", async (format) => {
    const before = backend.live();
    const entries: string[] = [];
    const { createComputePipeline } = backend.device;
    backend.device.createComputePipeline = (descriptor) => {
      entries.push(descriptor.compute.entryPoint!);
      return createComputePipeline.call(backend.device, descriptor);
    };
    backend.scope(() => {
      const w = backend.allocateWeight(format, [256, 192]);
      backend.linear(backend.zeros([300, 192]), w);
      backend.linearBackwardInput(backend.zeros([300, 256]), w);
      expect(w.panels).toBeUndefined();
    });
    await backend.sync();
    backend.device.createComputePipeline = createComputePipeline;
    expect(entries).toEqual(expect.arrayContaining(["weight_peaks", "weight_scale", "expand_panels"]));
    expect(entries).not.toContain("expand_weights");
    expect(backend.live()).toEqual(before);
  });

  test.each([
    ["f32", 3],
    ["f16", 2],
    ["bf16", 2],
  ] as const)("fine columns with %s weights take %i products", async (format, products) => {
    const before = backend.live();
    const [m, n, k] = [300, 256, 192];
    backend.startProfile();
    backend.scope(() => {
      const w = format === "f32" ? backend.zeros([n, k]) : backend.allocateWeight(format, [n, k]);
      backend.linear(backend.zeros([m, k]), w, { first: 64, end: 128 });
    });
    const kernels = await backend.stopProfile();
    expect(kernels.find(({ entry }) => entry === "matmul_matrix")?.dispatches).toBe(products);
    expect(backend.live()).toEqual(before);
  });
});
