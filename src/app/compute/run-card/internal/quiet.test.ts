import { expect, it } from "vitest";
import { NO_FIGURES, type Run, type RunPoint } from "../../runs/run.ts";
import { newRun } from "../../runs/runs-store.ts";
import { quietReason } from "./quiet.ts";

const run = (...points: Partial<RunPoint>[]): [Run] => [
  {
    ...newRun({ id: "a", where: "page", title: "", config: {} }),
    figures: { ...NO_FIGURES, points: points.map((point, n) => ({ step: n + 1, ...point }) as RunPoint) },
  },
];

it("folds what is 0 everywhere, and only where 0 is what one expects", () => {
  const zero = run({ clipFraction: 0, rolloutKl: 0, loss: 0 }, { clipFraction: 0, rolloutKl: 3e-8, loss: 0 });
  expect(quietReason("clipFraction", [zero])).toBe("0 at every step");
  expect(quietReason("rolloutKl", [zero])).toBe("at most 3.00e−8 at every step: rounding");
  expect(quietReason("loss", [zero])).toBeNull();
  expect(quietReason("clipFraction", [zero, run({ clipFraction: 0.25 })])).toBeNull();
  expect(quietReason("rolloutKl", [run({ rolloutKl: 1e-3 })])).toBeNull();
});

it("says that nothing was measured against a rollout policy that is the student itself", () => {
  const none = run({ clipFraction: 0, rolloutKl: 0, rolloutPolicy: "current" });
  const some = run({ clipFraction: 0, rolloutKl: 0, rolloutPolicy: "recorded" });
  for (const key of ["clipFraction", "rolloutKl"] as const) {
    expect(quietReason(key, [none])).toBe("not measured: the episodes carry no rollout log-probabilities");
    expect(quietReason(key, [none, some])).toBe("0 at every step");
  }
});

it("folds an advantage that is the loss with its sign turned", () => {
  const mirrored = run({ loss: 2, meanAdvantage: -2 }, { loss: 1, meanAdvantage: -1.0005 });
  expect(quietReason("meanAdvantage", [mirrored])).toBe("the loss with its sign turned");
  expect(quietReason("meanAdvantage", [mirrored, run({ loss: 2, meanAdvantage: -1 })])).toBeNull();
  expect(quietReason("meanAdvantage", [run({ loss: 2, meanAdvantage: -2 }, { loss: 1 })])).not.toBeNull();
});
