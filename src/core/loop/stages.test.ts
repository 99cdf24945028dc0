import { describe, expect, it } from "vitest";
import { corridorData, Scripted, walk } from "../../../test/support/corridor-training.ts";
import { MemoryStore, type ToyModel } from "../../../test/support/toy-model.ts";
import { ToyPlayer } from "../../../test/support/toy-player.ts";
import { of, options } from "../../../test/support/toy-training.ts";
import { METHODS, type Method, type MethodId, type Stage } from "../method/index.ts";
import type { StepSettings, TrainItem } from "../ports.ts";
import type { Source } from "../record/schema.ts";
import type { TrainEvent } from "./events.ts";
import type { ParentRun } from "./parent-run.ts";
import { referenceOf } from "./references.ts";
import { type TrainOptions, train } from "./train.ts";

const forward = () => "forward";

/** The items of each step, as the student got them. */
class Watched extends Scripted {
  readonly taken: TrainItem[][] = [];

  override step(items: readonly TrainItem[], settings: StepSettings) {
    this.taken.push(structuredClone([...items]));
    return super.step(items, settings);
  }
}

const method = (stage: Partial<Stage>, epochs = 1): Method => ({
  id: "test",
  description: "",
  stages: [{ name: "test", epochs, evidence: { kind: "none" }, ...stage }],
});

/** A run of one batch of all four corridors per epoch. */
async function run(
  stage: Partial<Stage>,
  epochs: number,
  says: (id: string, nth: number) => string = forward,
  more = {},
) {
  const student = new Watched(2, says);
  const given = options({
    method: method(stage, epochs),
    data: corridorData(),
    batchSize: 4,
    openStudent: async () => student,
    ...more,
  });
  await train(given);
  return { student, events: given.events };
}

const turns = (items: readonly TrainItem[]) =>
  Object.fromEntries(
    ["c3", "c4", "c5", "c6"].map((task) => [
      task,
      items.filter(({ episode }) => episode.startsWith(task)).map(({ decision }) => decision),
    ]),
  );

describe("TCOD-F2B", () => {
  it("cuts every episode after k(s) decisions from its start, and scores all of them", async () => {
    const { student, events } = await run({ sampling: { kind: "depth", first: 1, every: 2 } }, 5);
    expect(student.taken.map(turns)).toEqual(
      [
        [[0], [0], [0], [0]],
        [[0], [0], [0], [0]],
        [
          [0, 1],
          [0, 1],
          [0, 1],
          [0, 1],
        ],
        [
          [0, 1],
          [0, 1],
          [0, 1],
          [0, 1],
        ],
        [
          [0, 1],
          [0, 1, 2],
          [0, 1, 2],
          [0, 1, 2],
        ],
      ].map(([c3, c4, c5, c6]) => ({ c3, c4, c5, c6 })),
    );
    expect(of(events, "rollout").map(({ depth }) => depth)).toEqual([1, 1, 2, 2, 3]);
    // 1/(N·L_e) as ever.
    for (const { weight, responseIds } of student.taken[0]!)
      expect(weight).toBe(1 / (4 * responseIds.length));
  });
});

describe("TCOD-B2F", () => {
  const sources = async (_: string, task: string) => (task === "c6" ? [] : [walk(task)]);

  it("replays c(s) actions of the reference: they are history and give no loss; without one it begins at the start", async () => {
    // M = 2, 3, 4 actions: at s = 0 all but the last one, then one less at each update.
    const { student, events } = await run({ sampling: { kind: "prefix", every: 1 } }, 4, forward, {
      sources,
    });
    expect(student.taken.map(turns)).toEqual([
      { c3: [1], c4: [2], c5: [3], c6: [0, 1, 2, 3, 4] },
      { c3: [0, 1], c4: [1, 2], c5: [2, 3], c6: [0, 1, 2, 3, 4] },
      { c3: [0, 1], c4: [0, 1, 2], c5: [1, 2, 3], c6: [0, 1, 2, 3, 4] },
      { c3: [0, 1], c4: [0, 1, 2], c5: [0, 1, 2, 3], c6: [0, 1, 2, 3, 4] },
    ]);
    expect(of(events, "rollout").map(({ replayed, successes }) => [replayed, successes])).toEqual([
      [6, 4],
      [3, 4],
      [1, 4],
      [0, 4],
    ]);
    // The prompt behind the prefix shows what was replayed.
    const [behind] = student.asked.filter(({ id }) => id === "c5");
    const text = String.fromCharCode(...behind!.promptIds.map((id) => id + 31));
    expect(text).toContain("Room 3.");
    expect(text.match(/forward/g)!.length).toBeGreaterThanOrEqual(3);
  });

  it("drops an episode that the replay ends, and counts replayed steps in the horizon", async () => {
    const { student, events } = await run({ sampling: { kind: "prefix", every: 1 } }, 1, () => "back", {
      sources,
      data: corridorData(2),
    });
    // c3 replays 1 of 2; c4 and c5 replay 2 and 3: nothing is left of the horizon.
    expect(turns(student.taken[0]!)).toEqual({ c3: [1], c4: [], c5: [], c6: [0, 1] });
    expect(
      of(events, "excluded")[0]!
        .episodes.map(({ episode, reason, noTurn }) => [episode, reason, noTurn])
        .sort(),
    ).toEqual([
      ["c4", "the replayed reference left the student no turn", true],
      ["c5", "the replayed reference left the student no turn", true],
    ]);
    for (const { weight, episode } of student.taken[0]!)
      expect(
        weight *
          student.taken[0]!.filter((each) => each.episode === episode).reduce(
            (sum, each) => sum + each.responseIds.length,
            0,
          ),
      ).toBeCloseTo(1 / 2, 12);
  });

  it("ends a run whose replays left nothing to train on, with both reasons and their counts", async () => {
    const broken = walk("c5");
    broken.decisions[1]!.feedback = "Another room.";
    const references: Record<string, Source> = {
      c5: broken,
      c6: { ...walk("c6"), initial_observation: "Another room." },
    };
    const events: TrainEvent[] = [];
    const whole = run({ sampling: { kind: "prefix", every: 1 } }, 1, forward, {
      sources: async (_: string, task: string) => [references[task] ?? walk(task)],
      data: corridorData(1),
      onEvent: (event: TrainEvent) => void events.push(event),
    });
    await expect(whole).rejects.toThrow(
      "no step was taken: no episode of the only batch left anything to train on: " +
        "in 2 the student had no turn or said nothing, 2 ended for technical reasons",
    );
    // One that broke off is technical, also behind decisions that were replayed.
    expect(
      of(events, "excluded")[0]!
        .episodes.map(({ episode, noTurn = false }) => [episode, noTurn])
        .sort(),
    ).toEqual([
      ["c3", true],
      ["c4", true],
      ["c5", false],
      ["c6", false],
    ]);
  });

  it("leaves out an episode whose reference does not replay, with the reason", async () => {
    const other = { ...walk("c4"), initial_observation: "Another room." };
    const { events } = await run({ sampling: { kind: "prefix", every: 1 } }, 1, forward, {
      sources: async (_: string, task: string) => (task === "c4" ? [other] : []),
    });
    expect(of(events, "excluded")[0]!.episodes).toEqual([
      { episode: "c4", reason: "the replay differs in the first observation" },
    ]);
  });

  it("takes the first planner or oracle record that succeeded, is verified and has no gap", () => {
    const outcome = walk("c3").outcome;
    const broken = walk("c3", { source: "planner:0" });
    broken.decisions[1]!.gap_before = true;
    const wanted = walk("c3", { source: "oracle:1", origin: { kind: "oracle" } });
    expect(
      referenceOf([
        walk("c3", { origin: { kind: "teacher" } }),
        walk("c3", { outcome: { ...outcome, success: false } }),
        walk("c3", { outcome: { ...outcome, verified: false } }),
        broken,
        wanted,
        walk("c3"),
      ]),
    ).toBe(wanted);
    expect(referenceOf([broken])).toBe(null);
    // ALFWorld's library holds plans of up to 30 decisions.
    const long = walk("c3", { environment: "alfworld", source: "planner:31" });
    long.decisions = Array.from({ length: 31 }, () => long.decisions[0]!);
    expect(referenceOf([long])).toBe(null);
    expect(referenceOf([{ ...long, decisions: long.decisions.slice(1) }])).not.toBe(null);
    expect(referenceOf([{ ...long, environment: "scienceworld" }])).not.toBe(null);
  });
});

describe("GRPO", () => {
  // c3 succeeds in its first rollout alone, whichever tasks the batch has.
  const reward = { of: "success", group: 2, teacher: 0, factor: 1 } as const;
  const says = (id: string) => (id.endsWith("#0") ? "forward" : "back");

  it("plays 1/G as many tasks G times, asks no teacher, and gives each token (r − mean)/(std + 10⁻⁶)", async () => {
    const { student, events } = await run(
      { reward, sampling: { kind: "depth", first: 5, every: 99 } },
      1,
      says,
      {
        teacher: null,
      },
    );
    const items = student.taken[0]!;
    const episodes = [...new Set(items.map(({ episode }) => episode))];
    expect(episodes.length).toBe(4);
    const played = new Set(episodes.map((episode) => episode.split("#")[0]));
    expect(played.size).toBe(2);
    expect(of(events, "step")[0]!.units).toEqual([...played]);
    // Rewards 1 and 0: mean 1/2, std √(1/2).
    const advantage = 0.5 / (Math.SQRT1_2 + 1e-6);
    for (const { episode, teacherLogprobs, rewardAdvantage } of items) {
      expect(teacherLogprobs).toBe(null);
      expect(rewardAdvantage).toBeCloseTo(episode.endsWith("#0") ? advantage : -advantage, 12);
    }
    expect(of(events, "scored")).toEqual([]);
    expect(of(events, "start")[0]!.teacher).toBe(null);
    const [updated] = of(events, "updated");
    expect(updated!.metrics.meanTeacherLogprob).toBe(null);
    // The seeds of a group's rollouts differ.
    const first = student.asked.slice(0, 4);
    expect(new Set(first.map(({ seed }) => seed)).size).toBe(4);
  });

  it("takes the score where asked, and mixes with the teacher's signal", async () => {
    const { student } = await run(
      {
        reward: { of: "score", group: 4, teacher: { from: 1, to: 0, over: { updates: 2 } }, factor: 2 },
        sampling: { kind: "depth", first: 2, every: 99 },
      },
      2,
      (id, nth) => (nth < Number(id.split("#")[1]) ? "forward" : "back"),
    );
    const [first, second] = student.taken;
    expect(new Set(first!.map(({ teacherScale }) => teacherScale))).toEqual(new Set([1]));
    expect(new Set(second!.map(({ teacherScale }) => teacherScale))).toEqual(new Set([0.5]));
    // Two decisions each: at the end, the rollouts are in rooms 0, 0, 2 and 2 (forward, back; forward, forward), so that
    // the mean is that of room 1 and r − mean is one room's score: ±1/std' of a group of four, std' = √(4/3).
    const advantages = new Map(
      first!.map(({ episode, rewardAdvantage }) => [episode.split("#")[1], rewardAdvantage!]),
    );
    const expected = 2 / Math.sqrt(4 / 3);
    expect(
      ["0", "1", "2", "3"].map((n) => advantages.get(n)! / expected).map((x) => Number(x.toFixed(4))),
    ).toEqual([-1, -1, 1, 1]);
  });
});

describe("weights of turns", () => {
  it("SOD scales the teacher's signal by what both models say of each turn", async () => {
    const { student } = await run({ weights: { kind: "step-divergence", epsilon: 1e-6, delta: 0.2 } }, 1);
    const items = student.taken[0]!.filter(({ episode }) => episode === "c5");
    const divergence = items.map(
      ({ rolloutLogprobs, teacherLogprobs }) =>
        [...(rolloutLogprobs as number[])].reduce(
          (sum, p, i) => sum + Math.abs(p - teacherLogprobs![i]!),
          0,
        ) / teacherLogprobs!.length,
    );
    expect(items.map(({ teacherScale }) => teacherScale)).toEqual([
      1,
      ...[1, 2, 3].map((k) =>
        expect.closeTo(Math.min((divergence[0]! + 1e-6) / (divergence[k]! + 1e-6), 1.2), 10),
      ),
    ]);
  });

  it("TurnOPD goes from the mean over tokens to equal turns over the stage", async () => {
    const { student } = await run(
      { weights: { kind: "turn-balanced", balance: { from: 0, to: 1, over: { share: 0.5 } } } },
      2,
    );
    const [first, second] = student.taken;
    const tokens = first!.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
    for (const { weight } of first!) expect(weight).toBeCloseTo(1 / tokens, 12);
    // Every response has the same number of tokens; turns 0 … 4 have 4, 4, 3, 2 and 1 of them.
    const length = second![0]!.responseIds.length;
    for (const { weight, decision } of second!)
      expect(weight).toBeCloseTo(1 / (5 * [4, 4, 3, 2, 1][decision]! * length), 12);
  });
});

describe("TurnOPD's depth", () => {
  it("is whole in the first and every eighth batch, and follows the probes between", async () => {
    const { student, events } = await run({ sampling: METHODS.turnopd.stages[0]!.sampling! }, 10);
    // Successful depths of the first probe: 1, 2, 3, 4; 0.8 of the way is 3.4, and its cut after round(3.4) + 1 = 4.
    expect(of(events, "rollout").map(({ depth }) => depth)).toEqual([
      undefined,
      ...Array(7).fill(4),
      undefined,
      4,
    ]);
    expect(turns(student.taken[1]!).c6).toEqual([0, 1, 2, 3]);
    expect(turns(student.taken[8]!).c6).toEqual([0, 1, 2, 3, 4]);
  });
});

describe("a child of a TurnOPD run", () => {
  it("begins with the parent's moving average, which its start does not tell", async () => {
    const sampling = METHODS.turnopd.stages[0]!.sampling!;
    const checkpoints = new MemoryStore();
    await run({ sampling }, 4, forward, { checkpoints });
    const { depth } = checkpoints.saved.at(-1)!.state;
    const child = async (parent: ParentRun) =>
      (await run({ sampling, firstEpoch: 4 }, 6, forward, { parent })).events;
    const cuts = (events: TrainEvent[]) => of(events, "rollout").map((event) => event.depth);
    const events = await child({ name: "parent", step: 4, depth: depth! });
    // As one run of both has it from its fifth batch on.
    expect(cuts(events)).toEqual([4, 4, 4, 4, undefined, 4]);
    expect(of(events, "start")[0]!.parent).toEqual({ name: "parent", step: 4 });
    expect(cuts(await child({ name: "parent", step: 4 }))).toEqual([...Array(5).fill(undefined), 4]);
  });
});

describe("a run that goes on", () => {
  const sources = async (_: string, task: string) => (task === "c6" ? [] : [walk(task)]);
  /** A named method over so many updates of all corridors, with schedules that move within them. */
  const named = (id: MethodId, epochs: number): Method => {
    const { stages }: Method = METHODS[id];
    return {
      ...method({}),
      stages: stages.slice(-1).map((stage) => ({
        ...stage,
        ...{ epochs, evidence: { kind: "none" } },
        ...(stage.sampling !== undefined && "every" in stage.sampling
          ? { sampling: { ...stage.sampling, every: 2 } }
          : {}),
        ...(stage.reward === undefined ? {} : { reward: { ...stage.reward, group: 2 } }),
      })),
    };
  };

  it.each<[MethodId, number, number[]]>([
    ["tcod-f2b", 5, [3]],
    ["tcod-b2f", 5, [3]],
    ["ftb", 4, [2]],
    ["turnopd", 12, [4, 9]],
    ["grpo", 4, [2]],
    ["sod", 4, [2]],
    ["atod", 4, [2]],
  ])("%s comes to the same numbers", async (id, epochs, cuts) => {
    const given = (more = {}) =>
      options({
        ...{ method: named(id, epochs), data: corridorData(9), batchSize: 4, sources },
        openStudent: ToyPlayer.openPlayer,
        ...more,
      });
    const logits = async (run: TrainOptions) => ((await train(run)).student as ToyModel).logits;
    const whole = given();
    const all = await logits(whole);
    for (const cut of cuts) {
      const checkpoints = new MemoryStore();
      const stop = new AbortController();
      const begun = given({ checkpoints, stop: stop.signal });
      const { onEvent } = begun;
      await train({
        ...begun,
        onEvent: async (event) => {
          await onEvent?.(event);
          if (event.type === "updated" && event.step === cut) stop.abort();
        },
      });
      const { state } = checkpoints.saved.at(-1)!;
      expect(state.step).toBe(cut);
      // What a schedule remembers is in the checkpoint; what follows from the position is not.
      expect(state.depth?.stage).toBe(id === "turnopd" ? 0 : undefined);
      const goesOn = given({ checkpoints });
      expect(await logits(goesOn)).toEqual(all);
      for (const type of ["rollout", "bridged"] as const) {
        const told = ({ events }: typeof whole) =>
          of(events, type).map((event) => ({ ...event, seconds: 0, playSeconds: 0, scoreSeconds: 0 }));
        expect([...told(begun), ...told(goesOn)]).toEqual(told(whole));
      }
    }
  });

  it("counts the epochs that a parent took of the stage", async () => {
    const stage = { sampling: { kind: "depth", first: 1, every: 1 } as const, firstEpoch: 2 };
    const { events } = await run(stage, 2);
    expect(of(events, "rollout").map(({ depth }) => depth)).toEqual([3, 4]);
  });
});
