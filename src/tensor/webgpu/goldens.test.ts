import { afterAll, beforeAll, expect, test } from "vitest";
import { GOLDEN_CHECKS } from "../../../test/goldens.ts";
import { openModelFixture } from "../../../test/model-fixtures.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { createWebGpuBackend, type WebGpuBackend } from "./index.ts";

let backend: WebGpuBackend;
/** With the gated delta rule by chunks, which a software adapter does not take by itself. */
let chunked: WebGpuBackend;
beforeAll(async () => {
  backend = await createWebGpuBackend(await openGpu());
  chunked = await createWebGpuBackend(await openGpu(), { deltaForm: "chunks" });
});
afterAll(() => {
  backend.dispose();
  chunked.dispose();
});

test.each(GOLDEN_CHECKS)("$name", async ({ run }) => {
  const deviations = await run({ backend, open: openModelFixture });
  expect(Object.keys(deviations).length).toBeGreaterThan(0);
  expect(backend.live()).toEqual({ tensors: 0, bytes: 0 });
});

/** Formats of weights come before the rule, and the optimizer after it: they are checked above. */
const WITH_DELTA_RULE = GOLDEN_CHECKS.filter(({ name }) => /^qwen3_5: (?!.*AdamW)/.test(name));

test("some goldens have the delta rule", () => {
  expect(WITH_DELTA_RULE.length).toBeGreaterThan(0);
});

test.each(WITH_DELTA_RULE)("$name, the delta rule by chunks", async ({ run }) => {
  const deviations = await run({ backend: chunked, open: openModelFixture });
  expect(Object.keys(deviations).length).toBeGreaterThan(0);
  expect(chunked.live()).toEqual({ tensors: 0, bytes: 0 });
});
