import { expect, it } from "vitest";
import type { EngineInfo } from "../../core/ports.ts";
import { describeEvent } from "./describe-event.ts";

it("says whether responses are the current student's", () => {
  const model: EngineInfo = {
    model: "m",
    ...{ device: "cpu", adapter: "plain", dtype: "f32" },
    ...{ parameters: 1, vocabulary: 1 },
  };
  const start = {
    type: "start",
    ...{ method: "opd", units: 3, batchSize: 2, steps: 2 },
    ...{ teacher: model, student: model, parent: null, resumedFrom: null },
  } as const;
  expect(describeEvent({ ...start, unit: "episode" })).toContain("2 steps, off-policy after step 1; ");
  expect(describeEvent({ ...start, unit: "task" })).toContain("3 tasks, 2 steps, on policy; ");
});
