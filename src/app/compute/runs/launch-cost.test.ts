import { expect, it } from "vitest";
import { amountText, costToCome, diskBytes, gpuCost } from "./launch-cost.ts";
import { NO_FIGURES } from "./run.ts";
import type { Launched } from "./worker-answers.ts";

it("counts GPU-hours and money as the paper counts its own, and nothing that is not known", () => {
  // Two epochs of the paper's student on 8 H20: 5.91 hours for vanilla OPD, 8.60 for GC-OPD.
  const paper = { low: 5.91 * 3600, high: 8.6 * 3600 };
  const { gpuHours, price } = gpuCost(paper, { gpus: 8, price_per_gpu_hour: 2 });
  expect(gpuHours!.low).toBeCloseTo(47.31, 1);
  expect(gpuHours!.high).toBeCloseTo(68.79, 1);
  expect(price!.high).toBeCloseTo(2 * 68.79, 1);
  expect(gpuCost(paper, { gpus: 8 })).toMatchObject({ price: null });
  expect(gpuCost(paper, { price_per_gpu_hour: 2 })).toEqual({ gpuHours: null, price: null });
  expect(gpuCost(null, { gpus: 8, price_per_gpu_hour: 2 })).toEqual({ gpuHours: null, price: null });
});

it("counts what is left of a run by its steps, at least where a stage is still to be timed", () => {
  const launched: Launched = {
    ...{ id: "r", target: "box", folder: "/s/r", command: "gcopd train", title: null, config: null },
    ...{ attempt: 1, created_at: "2026-11-23T19:00:00Z", submitted: true, state: "running", as_of: null },
    ...{ unreached: null, words: "running", code: null, asked: null, reason: null, expected: null },
    ...{ began_at: null, seconds: 7200, silent: null, gpu_hours: 4, price: 12 },
    ...{ gpus: 2, price_per_gpu_hour: 3, doing: null, problem: null, fetched_at: null },
  };
  const point = (step: number, seconds: number) => ({
    ...{ step, seconds, stage: 0, loss: 0, gradNorm: 0, clipFraction: 0, meanAdvantage: 0, rolloutKl: 0 },
    ...{ alignment: 0, tokens: 1, studentTokens: 1, teacherTokens: 1, teacherSeconds: 0 },
    ...{ tokensPerSecond: 1, success: null, rolloutPolicy: null },
  });
  const stage = { name: "vanilla", epochs: 1, steps: 4 };
  const points = [point(1, 1800), point(2, 5400)];
  const figures = { ...NO_FIGURES, points, stages: [stage], total: 4, done: 2 };
  const run = { state: "running", figures, launched } as const;
  const { gpuHours, price } = costToCome(run);
  expect(gpuHours).toEqual({ low: 4, high: 6 });
  expect(amountText(price!, 2)).toBe("12.00 to 18.00");
  const later = { ...figures, stages: [{ ...stage, steps: 2 }], total: 4 };
  expect(amountText(costToCome({ ...run, figures: later }).gpuHours!, 2)).toBe("at least 4.00");
  expect(costToCome({ ...run, state: "done" })).toEqual({ gpuHours: null, price: null });
  expect(costToCome({ ...run, launched: { ...launched, gpus: null } }).gpuHours).toBeNull();
});

it("counts twelve bytes of disk for each parameter of each checkpoint and of the student", () => {
  const items = [
    { name: "student: weights (f32)", part: "weights", bytes: 4_000 },
    { name: "student: optimizer state", part: "training state", bytes: 8_000 },
  ];
  expect(diskBytes({ items }, 2)).toBe(4 * 12_000);
  expect(diskBytes({ items: [] }, 2)).toBeNull();
});
