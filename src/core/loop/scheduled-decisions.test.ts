import { expect, it } from "vitest";
import { decisionsAt, scheduledDecisions } from "./scheduled-decisions.ts";

const place = { environment: "alfworld", horizon: 6, lengths: [2, 6], references: [4, null] };

it("cuts whole episodes at the depth of each update", () => {
  const stage = { sampling: { kind: "depth", first: 1, every: { alfworld: 2 } } } as const;
  // Depths 1, 1, 2, 2, 3, 3: of the episodes of 2 and 6 decisions 1, 1, 2, 2, 2.5, 2.5 on average.
  expect(scheduledDecisions(stage, { updates: 6 }, place)).toEqual({ low: 11 / 6, high: 11 / 6 });
  // From its fifth update on: depths 3, 3, 4, 4.
  expect(scheduledDecisions(stage, { from: 4, updates: 4 }, place)).toEqual({ low: 2.75, high: 2.75 });
  expect(decisionsAt(stage, 1000, place)).toEqual({ low: 4, high: 4 });
});

it("has one decision behind a prefix at least, and what the horizon leaves at most", () => {
  const stage = { sampling: { kind: "prefix", every: 2 } } as const;
  // Three of four actions are replayed; the task without a reference is played whole, 4 decisions on average.
  expect(decisionsAt(stage, 0, place)).toEqual({ low: (1 + 4) / 2, high: (3 + 4) / 2 });
  expect(decisionsAt(stage, 2, place)).toEqual({ low: (1 + 4) / 2, high: (4 + 4) / 2 });
  expect(decisionsAt(stage, 6, place)).toEqual({ low: 4, high: 4 });
  // A reference as long as the horizon and longer.
  expect(decisionsAt(stage, 0, { ...place, references: [9] })).toEqual({ low: 0, high: 0 });
});

it("plays the probes of an adaptive depth whole, and others as deep as that may say", () => {
  const stage = {
    sampling: { kind: "adaptive-depth", probe: 2, coverage: 0.8, smoothing: 0.3, least: 1 },
  } as const;
  expect(scheduledDecisions(stage, { updates: 4 }, place)).toEqual({ low: (4 + 1 + 4 + 1) / 4, high: 4 });
});

it("plays whole episodes without a schedule", () => {
  expect(scheduledDecisions({}, { updates: 3 }, place)).toEqual({ low: 4, high: 4 });
});
