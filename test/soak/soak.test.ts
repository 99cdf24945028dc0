import { expect, it } from "vitest";
import { openGpu } from "../webgpu.ts";
import { soak } from "./soak.ts";

it("a round of lost devices and refused allocations: no step is lost, nothing stays, numbers are the same", async () => {
  const report = await soak({ gpu: await openGpu(), seconds: 0, seed: 4 });
  expect(report.faults).toEqual([]);
  expect(report.left).toEqual({ buffers: 0, bytes: 0, devices: 0 });
  expect(report.losses).toBeGreaterThan(0);
  expect(report.refusals).toBeGreaterThan(0);
});
