import { expect, it } from "vitest";
import { EVENTS } from "../../../test/support/train-events.ts";
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
  // No step comes after the only one.
  expect(describeEvent({ ...start, unit: "episode", steps: 1 })).toContain("3 episodes, 1 step; ");
  expect(describeEvent({ ...start, unit: "task" })).toContain("3 tasks, 2 steps, on policy; ");
});

it("tells episodes that the replayed reference left no turn from those that broke off", () => {
  const event = { type: "excluded", ...{ step: 1, stage: 0, epoch: 0, batch: 0 }, of: 4, steps: 3 } as const;
  const technical = { episode: "a", reason: "the process died" };
  const noTurn = {
    episode: "b",
    reason: "the replayed reference left the student no turn",
    noTurn: true,
  } as const;
  const told = (...episodes: (typeof technical | typeof noTurn)[]) => describeEvent({ ...event, episodes });
  expect(told(technical)).toBe(
    "  1 of 4 episodes ended for technical reasons: they are left out of the update: a (the process died)",
  );
  expect(told(noTurn)).toBe("  1 of 4 episodes had nothing to train on: they are left out of the update: b");
  expect(told(technical, noTurn, noTurn, noTurn)).toBe(
    "  1 of 4 episodes ended for technical reasons, 3 of 4 episodes had nothing to train on: " +
      "no step is taken: a (the process died), b, b, …",
  );
});

it("says what lets a stopped run go on", () => {
  const event = { type: "stopped", step: 3, steps: 5, seconds: 1 } as const;
  expect(describeEvent(event)).toBe("stopped after step 3 of 5; the same command goes on from here");
  expect(describeEvent(event, "gcopd launch resume")).toContain("; gcopd launch resume goes on from here");
});

it("says of a watched decision when its number is of the whole response", () => {
  const decision = {
    episode: "e",
    decision: 4,
    action: "wait",
    trained: false,
    taskTrained: false,
    logprob: -2.5,
  };
  const decisions = [
    { ...decision, whole: false },
    { ...decision, decision: 5, whole: true },
  ];
  expect(describeEvent({ type: "held-out", step: 3, decisions })).toBe(
    "  watched after step 3, log p of the action: e, decision 4: -2.500; e, decision 5: -2.500 (the whole response)",
  );
});

it("tells references that are unverified claims or of unknown outcome from the others", () => {
  const scored = EVENTS.find((event) => event.type === "scored")!;
  const told = (counts: object) => /\((.*)\)/.exec(describeEvent({ ...scored, ...counts })!)![1];
  const some = { successReferences: 3, failureReferences: 2 };
  expect(told({ ...some, unverifiedSuccesses: 1, unverifiedFailures: 2, unknownOutcomes: 4 })).toBe(
    "successful references 3 (1 unverified), failed 2 (2 unverified), of unknown outcome 4",
  );
  expect(told({ ...some, unverifiedSuccesses: 0, unverifiedFailures: 0, unknownOutcomes: 0 })).toBe(
    "successful references 3, failed 2",
  );
  // A log of an earlier version.
  expect(told(some)).toBe("successful references 3, failed 2");
});
