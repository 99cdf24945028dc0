import { expect, it } from "vitest";
import { type Cost, costRows } from "./costs.ts";

const on = { device: "webgpu (card)", gpus: 4 };

it("sums seconds by stage and device, in the order of the stages, and takes them to GPU-hours and a price", () => {
  const costs: Cost[] = [
    { stage: "update", ...on, seconds: 900 },
    { stage: "collection", ...on, seconds: 3600 },
    { stage: "update", ...on, seconds: 900 },
    { stage: "update", device: "cpu (reference)", gpus: 0, seconds: 60 },
  ];
  expect(costRows(costs, 2.5)).toEqual([
    { stage: "collection", ...on, seconds: 3600, gpu_hours: 4, price: 10 },
    { stage: "update", ...on, seconds: 1800, gpu_hours: 2, price: 5 },
    { stage: "update", device: "cpu (reference)", gpus: 0, seconds: 60, gpu_hours: 0, price: 0 },
  ]);
  expect(costRows(costs)[0]!.price).toBeNull();
  expect(costRows([])).toEqual([]);
});
