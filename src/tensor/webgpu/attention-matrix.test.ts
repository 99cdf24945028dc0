import { expect, test } from "vitest";
import { openNullGpu } from "../../../test/webgpu.ts";
import { MATRIX_HEAD_SIZES, matrixChoices, matrixKernel, matrixTiles } from "./attention-matrix.ts";
import common from "./common.wgsl?raw";
import type { Context } from "./context.ts";
import { type MatrixPass, Tuning } from "./tuning.ts";
import { joinModules, specialise } from "./wgsl.ts";

const PASSES: readonly MatrixPass[] = ["forward", "dq", "dkv"];
const VARIANTS = {
  forward: [{}, { held: false }],
  dq: [{}, { held: false }],
  dkv: [{}, { held: false }, { gradients: "dk" }, { gradients: "dv" }],
} as const;

/** Dawn's null backend compiles WGSL for matrix units that are not there. */
async function openNullDevice(): Promise<GPUDevice> {
  const adapter = (await (await openNullGpu()).requestAdapter())!;
  const features = ["shader-f16", "subgroups", "chromium-experimental-subgroup-matrix"];
  return adapter.requestDevice({ requiredFeatures: features as GPUFeatureName[] });
}

test("every matrix kernel of attention compiles, for every head size and choice of tiles", async () => {
  const device = await openNullDevice();
  let count = 0;
  for (const pass of PASSES)
    for (const size of MATRIX_HEAD_SIZES)
      for (const choice of matrixChoices(pass, size))
        for (const options of VARIANTS[pass]) {
          const kernel = matrixKernel(pass, size, choice, options);
          const code = joinModules(common, specialise(kernel.source, kernel.constants ?? {}));
          const module = device.createShaderModule({ code });
          const { messages } = await module.getCompilationInfo();
          const label = `${kernel.entry} ${JSON.stringify(kernel.constants)}`;
          expect(
            messages.map((m) => `${m.lineNum}: ${m.message}`),
            label,
          ).toEqual([]);
          // The null device has less workgroup memory and fewer bindings than kernels want, and subgroups up to 128, which it checks last.
          const made = device.createComputePipelineAsync({
            layout: "auto",
            compute: { module, entryPoint: kernel.entry },
          });
          const error = await made.then(
            () => "",
            (reason: Error) => reason.message,
          );
          expect(error, label).toMatch(/^$|workgroup storage|storage buffers|maxSubgroupSize/);
          expect(
            choice.split * 16,
            "sixteen columns of O per side fit where the scores were",
          ).toBeLessThanOrEqual(choice.columns + 4);
          count++;
        }
  expect(count).toBeGreaterThan(20);
  device.destroy();
});

test("a device that binds 8 buffers computes dK and dV without matrix units", () => {
  const sizes = { queries: 512, keys: 512, heads: 4, groups: 2, size: 128 };
  const context = (maxStorageBuffersPerShaderStage: number) =>
    ({
      f16: "matrix",
      features: { subgroupSize: 32, matrices: [{ m: 16, n: 16, k: 16 }] },
      tuning: new Tuning(),
      commands: { limits: { maxComputeWorkgroupStorageSize: 49_152, maxStorageBuffersPerShaderStage } },
    }) as unknown as Context;
  const served = (buffers: number) =>
    PASSES.filter((pass) => matrixTiles(context(buffers), pass, sizes) !== undefined);
  expect(served(8)).toEqual(["forward", "dq"]);
  expect(served(9)).toEqual(PASSES);
});
