import { describe, expect, it } from "vitest";
import { corridor } from "../../../test/support/corridor.ts";
import { MemoryStore } from "../../../test/support/toy-model.ts";
import { ToyPlayer } from "../../../test/support/toy-player.ts";
import { EPISODES, of, options, ROLLOUT, TASKS } from "../../../test/support/toy-training.ts";
import { EnvironmentError } from "../errors.ts";
import type { EvaluatedEpisode } from "../evaluation/index.ts";
import type { Environment } from "../ports.ts";
import { freshData, recordedData, type TrainingData } from "./data.ts";
import { liveEvaluation } from "./evaluation.ts";
import type { TrainEvent } from "./events.ts";
import type { LiveTask } from "./live-task.ts";
import { type TrainOptions, train } from "./train.ts";

const liveTasks = (open: (task: string) => Environment = () => corridor()): LiveTask[] =>
  ["a", "b", "c"].map((task) => ({
    ...{ environment: "alfworld", task, maxDecisions: 4 },
    open: async () => open(task),
  }));
const evaluation = (every: number, tasks = liveTasks()) =>
  liveEvaluation(tasks, { every, seeds: [0, 1], atOnce: 4, digest: "" });

/** Six steps of a student that plays. */
const playing = (overrides: Partial<TrainOptions> = {}) =>
  options({ openStudent: ToyPlayer.openPlayer, ...overrides });

const evaluatedSteps = (events: TrainEvent[]) => of(events, "evaluated").map(({ step }) => step);

describe("evaluation during training", () => {
  it.each<[string, () => TrainingData]>([
    ["recorded", () => recordedData(EPISODES)],
    ["fresh", () => freshData(TASKS, ROLLOUT)],
  ])("changes no number of a run over %s episodes", async (_, data) => {
    const checkpoints = new MemoryStore();
    const plain = playing({ data: data() });
    const measured = playing({ data: data(), evaluation: evaluation(2), checkpoints, checkpointEvery: 6 });
    const [without, with_] = [await train(plain), await train(measured)];
    const students = [without.student, with_.student];
    for (const student of students) expect(student).toBeInstanceOf(ToyPlayer);
    expect(students[1]).toMatchObject({ ...students[0] });
    const numbers = (events: TrainEvent[]) => of(events, "updated").map(({ metrics }) => metrics);
    expect(numbers(measured.events)).toEqual(numbers(plain.events));
    expect(evaluatedSteps(measured.events)).toEqual([0, 2, 4, 6]);
    // Figures of students that differ: they are of the student at that step, and not all the same.
    const [first, ...later] = of(measured.events, "evaluated");
    expect(first).toMatchObject({ tasks: 3, seeds: [0, 1], technical: [], score: null });
    expect(
      new Set([first!, ...later].map(({ sr, rounds }) => `${sr.mean} ${rounds.mean}`)).size,
    ).toBeGreaterThan(1);
    // Each student that was measured can be chosen.
    expect(checkpoints.saved.map(({ state }) => [state.step, state.evaluation?.sr.mean])).toEqual(
      later.map(({ step, sr }) => [step, sr.mean]),
    );
  });

  it("measures before the first step and after the last, also where `every` does not divide the steps", async () => {
    const run = playing({ evaluation: evaluation(4) });
    await train(run);
    expect(evaluatedSteps(run.events)).toEqual([0, 4, 6]);
    const types = run.events.map(({ type }) => type);
    expect(types.indexOf("evaluated")).toBe(1);
    expect(types.slice(-2)).toEqual(["evaluated", "done"]);
  });

  it("says how far it is", async () => {
    const works: string[] = [];
    await train(
      playing({
        evaluation: evaluation(9),
        onWork: ({ what, done, total, unit }) => {
          if (what === "evaluation") works.push(`${done}/${total} ${unit}`);
        },
      }),
    );
    // Before any episode has ended, and then less at most.
    expect(works.slice(0, 3)).toEqual(["0/24 decisions", "4/24 decisions", "8/22 decisions"]);
  });

  it("tells what was played, a measurement at a time", async () => {
    const played: string[][] = [];
    const onPlayed = (episodes: EvaluatedEpisode[]): void => {
      played.push(episodes.map(({ task, seed }) => `${task}${seed}`));
    };
    const how = { every: 9, seeds: [0, 1], atOnce: 4, digest: "" };
    await train(playing({ evaluation: liveEvaluation(liveTasks(), { ...how, onPlayed }) }));
    const each = ["a0", "b0", "c0", "a1", "b1", "c1"];
    expect(played).toEqual([each, each]);
    expect(liveEvaluation(liveTasks(), { ...how, onPlayed }).fingerprint).toBe(
      liveEvaluation(liveTasks(), how).fingerprint,
    );
  });

  it("leaves out a task whose environment cannot go on, and ends the run where no task is left", async () => {
    const broken = (): Environment => ({
      reset: () => Promise.reject(new EnvironmentError("the process died")),
      step: async () => ({ unanswered: "the process died" }),
      close: async () => undefined,
    });
    const run = playing({
      evaluation: evaluation(
        9,
        liveTasks((task) => (task === "b" ? broken() : corridor())),
      ),
    });
    await train(run);
    expect(of(run.events, "evaluated")[0]).toMatchObject({
      tasks: 2,
      technical: [
        { task: "b", seed: 0, reason: "the process died" },
        { task: "b", seed: 1, reason: "the process died" },
      ],
    });
    await expect(train(playing({ evaluation: evaluation(9, liveTasks(broken)) }))).rejects.toThrow(
      "no task is left: each has an episode that ended for a technical reason (the process died)",
    );
  });

  it("a stop ends an evaluation at once, with a checkpoint; it is made when the run goes on", async () => {
    const whole = playing({ evaluation: evaluation(3) });
    const { student } = await train(whole);
    for (const [at, resumed] of [
      [0, null],
      [3, 3],
      [6, 6],
    ] as const) {
      const checkpoints = new MemoryStore();
      const stop = new AbortController();
      const first = playing({ evaluation: evaluation(3), checkpoints, stop: stop.signal });
      first.onWork = ({ what, done }) => {
        const step = of(first.events, "updated").at(-1)?.step ?? 0;
        if (what === "evaluation" && done > 0 && step === at) stop.abort();
      };
      expect(await train(first)).toMatchObject({ step: at, finished: false });
      expect(first.events.at(-1)).toMatchObject({ type: "stopped", step: at });
      expect(evaluatedSteps(first.events)).toEqual([0, 3].filter((step) => step < at));
      const second = playing({ evaluation: evaluation(3), checkpoints });
      const result = await train(second);
      expect(second.events[0]).toMatchObject({ type: "start", resumedFrom: resumed });
      expect(result.student).toMatchObject({ ...student });
      expect(evaluatedSteps(second.events)).toEqual([0, 3, 6].filter((step) => step >= at));
      expect(checkpoints.saved.at(-1)!.state.evaluation).toMatchObject({ tasks: 3 });
    }
  });

  it("a checkpoint of other tasks, seeds or steps between evaluations is refused by name", async () => {
    const checkpoints = new MemoryStore();
    await train(playing({ evaluation: evaluation(3), checkpoints }));
    for (const other of [evaluation(2), evaluation(3, liveTasks().slice(1)), undefined])
      await expect(
        train(playing({ checkpoints, ...(other === undefined ? {} : { evaluation: other }) })),
      ).rejects.toThrow("it differs in evaluation;");
    // The same goes on, and tells what the checkpoint's student achieved.
    const again = playing({ evaluation: evaluation(3), checkpoints });
    await train(again);
    expect(again.events.map(({ type }) => type)).toEqual(["start", "evaluated", "done"]);
  });
});
