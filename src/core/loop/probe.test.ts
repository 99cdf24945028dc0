import { describe, expect, it } from "vitest";
import { ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { METHODS, type Stage } from "../method/index.ts";
import { PAPER_SETTINGS, type ScoreRequest, type StepSettings, type TrainItem } from "../ports.ts";
import type { Episode } from "../record/schema.ts";
import { type ModelProbe, modelTime, type ProbeOptions, probedTime, probeRun } from "./probe.ts";
import type { TeacherContexts } from "./score-batch.ts";

function episode(id: string, lengths: readonly number[]): Episode {
  return {
    format: "gcopd.episode.v1",
    environment: "scienceworld",
    task: `task-${id}`,
    episode: id,
    task_description: "Do it.",
    initial_observation: "A room.",
    decisions: lengths.map((length) => ({
      observation: "A room.",
      state: null,
      action: "go",
      binding: null,
      status: "executed",
      feedback: "Done.",
      score: 0,
      gap_before: false,
      prompt: "x".repeat(length),
      response: "go",
    })),
    final_state: null,
    outcome: { complete: true, success: false, score: 0, ended: "horizon", verified: true },
  };
}

const EPISODES = [episode("a", [240, 300, 500]), episode("b", [700, 900]), episode("c", [250])];
/** Prompt and its two ids of the template, response and its end. */
const lengthOf = (prompt: number): number => prompt + 2 + 3;
const EVIDENCE = 100;

const contexts: TeacherContexts = async (_, evidence) => (_decision, promptIds) => ({
  promptIds: evidence.kind === "none" ? promptIds : [...promptIds, ...Array<number>(EVIDENCE).fill(40)],
  successReference: null,
  failureReference: null,
  backReferences: false,
});

class Watched extends ToyModel {
  readonly calls: (readonly (ScoreRequest | TrainItem)[])[] = [];

  override async score(requests: readonly ScoreRequest[]) {
    this.calls.push(requests);
    return super.score(requests);
  }
  override async step(items: readonly TrainItem[], settings: StepSettings) {
    this.calls.push(items);
    return super.step(items, settings);
  }
}

function options(changes: Partial<ProbeOptions> = {}) {
  return {
    units: EPISODES.length,
    episode: async (unit: number) => EPISODES[unit]!,
    stages: METHODS["gc-opd"].stages,
    batchSize: 2,
    contexts,
    codec: toyCodec,
    settings: PAPER_SETTINGS,
    teacher: new Watched(1),
    student: new Watched(2),
    most: 1000,
    ...changes,
  };
}

describe("what is measured", () => {
  it("is a warm-up, one short sequence, and neighbours of typical length, of the run itself", async () => {
    const teacher = new Watched(1);
    const student = new Watched(2);
    const {
      teacher: [read],
      student: [stepped],
    } = await probeRun(options({ teacher, student }));
    const prompts = EPISODES.flatMap(({ decisions }) => decisions.map(({ prompt }) => prompt!.length));
    const own = prompts.map(lengthOf);
    const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
    expect(stepped!.whole).toEqual({
      sequences: 12,
      tokens: 2 * sum(own),
      squares: 2 * sum(own.map((n) => n * n)),
      calls: 4,
    });
    const evidence = own.map((n) => n + EVIDENCE);
    expect(read!.whole).toEqual({
      sequences: 12,
      tokens: sum(own) + sum(evidence),
      squares: sum(own.map((n) => n * n)) + sum(evidence.map((n) => n * n)),
      calls: 6,
    });
    expect(stepped!.small).toMatchObject({ sequences: 1, tokens: 255 });
    // Σ n²/Σ n is 645 tokens: the decision of 705 is nearest, and the one after it is of the same episode.
    expect(stepped!.large).toHaveLength(2);
    expect(stepped!.large[0]).toMatchObject({ sequences: 2, tokens: lengthOf(700) + lengthOf(900) });
    expect(student.calls.map(({ length }) => length)).toEqual([1, 1, 2, 2, 2]);
    expect(teacher.calls.every((call) => call.every(({ responseIds }) => responseIds.length > 0))).toBe(true);
    // No prompt is the one of the call before: nothing that was kept of it helps.
    const firsts = student.calls.map(([item]) => item!.promptIds.length);
    expect(new Set(firsts).size).toBe(firsts.length);
  });

  it("is each comparison that the stages' signals make, with its part of the run", async () => {
    const student = new Watched(2);
    const [vanilla, graph] = METHODS["gc-opd"].stages;
    const topK: Stage = { ...graph!, epochs: 3, signal: { kind: "top-k", k: 2 } };
    const probe = await probeRun(options({ student, stages: [{ ...vanilla!, epochs: 1 }, topK] }));
    for (const [of, calls] of [
      ["teacher", [3, 9]],
      ["student", [2, 6]],
    ] as const) {
      expect(probe[of].map(({ whole }) => whole.calls)).toEqual(calls);
      // Six decisions: once with the sampled token, three times with the top two.
      expect(probe[of].map(({ whole }) => whole.sequences)).toEqual([6, 18]);
    }
    const items = student.calls.map(([item]) => item as TrainItem);
    expect(items.map(({ teacherTop }) => teacherTop !== undefined)).toEqual(
      [false, true].flatMap((top) => Array<boolean>(5).fill(top)),
    );
    // Its time is that of both.
    const [sampled, top] = probe.student.map(modelTime);
    const { low } = probedTime({ ...probe, teacher: [], preparing: 0 });
    expect(low).toBeCloseTo(sampled!.low + top!.low, 9);
  });

  it("leaves out the larger call where the small one says that it would take too long", async () => {
    const {
      teacher: [teacher],
      student: [student],
    } = await probeRun(options({ most: 0 }));
    expect([teacher!.large, student!.large]).toEqual([[], []]);
    expect(student!.small.tokens).toBe(255);
  });

  it("ends when it is asked to, also between two calls", async () => {
    const controller = new AbortController();
    const student = new Watched(2);
    const probing = probeRun(
      options({
        student,
        signal: controller.signal,
        onWork: (what) => what.startsWith("the student") && controller.abort(new Error("enough")),
      }),
    );
    await expect(probing).rejects.toThrow("enough");
    expect(student.calls).toEqual([]);
  });
});

describe("the range", () => {
  const whole = { sequences: 10, tokens: 10_000, squares: 10_000_000, calls: 10 };
  const one = (tokens: number, seconds: number) => ({ sequences: 1, tokens, squares: tokens ** 2, seconds });

  it("lies between tokens and squares where only a short sequence was measured", () => {
    const probe: ModelProbe = { whole, small: one(100, 1), large: [] };
    expect(modelTime(probe)).toEqual({ low: 100, high: 1000 });
  });

  it("is one figure where the cost is the same for every token, however calls are cut", () => {
    const probe: ModelProbe = { whole, small: one(100, 0.1), large: [one(1000, 1)] };
    const { low, high } = modelTime(probe);
    expect([low, high].map((seconds) => Math.round(seconds * 1e6) / 1e6)).toEqual([10, 10]);
  });

  it("takes the part of a call that does not grow once per call", () => {
    // 0.5 s per call and 1 ms per token: ten calls of 1,000 tokens take 15 s; twice as many tokens per call would take less.
    const probe: ModelProbe = { whole, small: one(100, 0.6), large: [one(1000, 1.5)] };
    expect(modelTime(probe).high).toBeCloseTo(15, 6);
    const fewer = { ...probe, whole: { ...whole, calls: 5 } };
    expect(modelTime(fewer).low).toBeCloseTo(12.5, 6);
  });

  it("adds both models and what is read beforehand, once at least and once an epoch at most", () => {
    const model: ModelProbe = { whole, small: one(100, 1), large: [] };
    const { low, high } = probedTime({ teacher: [model], student: [model], preparing: 3, epochs: 2 });
    expect([low, high]).toEqual([203, 2006]);
  });
});
