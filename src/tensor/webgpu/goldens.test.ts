import { afterAll, beforeAll, expect, test } from "vitest";
import { GOLDEN_CHECKS } from "../../../test/goldens.ts";
import { openModelFixture } from "../../../test/model-fixtures.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

let backend: WebGpuBackend;
beforeAll(async () => {
  backend = await createWebGpuBackend(await openGpu());
});
afterAll(() => backend.dispose());

test.each(GOLDEN_CHECKS)(
  "$name",
  async ({ run }) => {
    const deviations = await run({ backend, open: openModelFixture });
    expect(Object.keys(deviations).length).toBeGreaterThan(0);
    expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
  },
  180_000,
);
