import { describe, expect, it } from "vitest";
import { corridor } from "../../../test/support/corridor.ts";
import { EnvironmentError } from "../errors.ts";
import type { Environment } from "../ports.ts";
import type { Source } from "../record/schema.ts";
import { plannedSource, verified } from "./collect.ts";

const NAME = { source: "planner:16", repetition: 16, origin: { kind: "planner" } } as const;
const TASK = { environment: "alfworld", task: "t" };
const PLAN = ["forward", "forward"];

async function planned(environment: Environment, plan: readonly string[] = PLAN): Promise<Source> {
  const source = await plannedSource(environment, TASK, plan, NAME);
  if (source === null) throw new Error("the plan gave no record");
  return source;
}

/** A corridor whose resets fail where `fails` says so, counted from 1. */
function unreliable(fails: (reset: number) => boolean): Environment {
  const plain = corridor(3);
  let resets = 0;
  return {
    ...plain,
    reset: async (name) => {
      resets += 1;
      if (fails(resets)) throw new EnvironmentError("the process died");
      return plain.reset(name);
    },
  };
}

describe("executing a plan", () => {
  it("gives a verified record, and none that the library does not take", async () => {
    expect((await planned(corridor(3))).outcome).toMatchObject({ success: true, verified: true });
    expect(await plannedSource(corridor(4), TASK, PLAN, NAME)).toBeNull();
  });

  it("gives an incomplete record where a step is not answered", async () => {
    const plain = corridor(3);
    let steps = 0;
    const source = await planned({
      ...plain,
      step: async (action) => {
        steps += 1;
        return steps === 2 ? { unanswered: "the process died" } : plain.step(action);
      },
    });
    expect(source.decisions.map(({ action }) => action)).toEqual(["forward"]);
    expect(source.outcome).toMatchObject({
      ...{ complete: false, verified: false, ended: "technical", technical_reason: "the process died" },
    });
  });

  it("tries the reset three times, before the plan and before its verification", async () => {
    const source = await planned(unreliable((reset) => ![3, 6].includes(reset)));
    expect(source.outcome).toMatchObject({ complete: true, verified: true });
    const none = await planned(unreliable(() => true));
    expect(none.outcome).toMatchObject({ complete: false, technical_reason: "the process died" });
    const { outcome } = await planned(unreliable((reset) => reset > 1));
    expect(outcome).toMatchObject({ complete: true, verified: false, replay_difference: "the process died" });
  });
});

describe("verification", () => {
  /** A corridor that says it has ended, or has not, against what it did when it was recorded. */
  const ending = (done: (room: number) => boolean): Environment => {
    const plain = corridor(4);
    let room = 0;
    return {
      ...plain,
      reset: async (name) => {
        room = 0;
        return plain.reset(name);
      },
      step: async (action) => {
        room += 1;
        return { ...(await plain.step(action)), done: done(room) } as Awaited<
          ReturnType<Environment["step"]>
        >;
      },
    };
  };
  const lost = (room: number) => room === 2;

  it.each([
    ["the environment ended it and no longer does", lost, () => false, "the end"],
    ["the environment ends it before its last decision", lost, () => true, "decision 1: end"],
    ["the environment ends it where the record stops at a limit", () => false, lost, "the end"],
  ])("fails where %s", async (_name, recorded, repeated, difference) => {
    const environment = ending(recorded);
    const start = await environment.reset("t");
    const source: Source = {
      format: "gcopd.source.v1",
      ...TASK,
      ...NAME,
      task_description: start.description,
      initial_observation: start.observation,
      decisions: [],
      final_state: null,
      outcome: {
        ...{ complete: true, success: false, score: null, verified: false },
        ended: recorded(2) ? "environment" : "horizon",
      },
    };
    let turn = start;
    for (const action of PLAN) {
      const next = await environment.step(action);
      if ("unanswered" in next) throw new Error(next.unanswered);
      const { observation, state } = turn;
      const { status, feedback, score } = next;
      source.decisions.push({
        ...{ observation, state, action, binding: null, status, feedback, score },
        ...{ gap_before: false, attempts: [] },
      });
      turn = { ...next, description: start.description };
    }
    const { outcome } = await verified(source, ending(repeated));
    expect(outcome).toMatchObject({ verified: false, replay_difference: difference });
    expect((await verified(source, ending(recorded))).outcome.verified).toBe(true);
  });
});
