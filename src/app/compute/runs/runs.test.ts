import { describe, expect, it } from "vitest";
import { InputError } from "../../../core/errors.ts";
import type { TrainEvent } from "../../../core/loop/events.ts";
import type { ParentRun } from "../../../core/loop/parent-run.ts";
import type { EngineInfo } from "../../../core/ports.ts";
import { runPolicy } from "../../features/runs/run-policy.ts";
import { CONFIG_FIELDS, checkConfig, configOf } from "./config-fields.ts";
import { parseBatch } from "./internal/batch.ts";
import { serverEvents } from "./internal/event-stream.ts";
import { curvesCsv, eventLines } from "./internal/export-run.ts";
import { foldEvent, foldEvents, withGap } from "./internal/fold.ts";
import { type Figures, NO_FIGURES, type Run } from "./run.ts";
import { speedKey, timeExpected, timeLeft } from "./run-time.ts";
import { newRun } from "./runs-store.ts";

const at = (step: number, stage = 0) => ({ step, stage, epoch: 0, batch: step - 1 });
const updated = (step: number, stage = 0, seconds = 2): TrainEvent => ({
  type: "updated",
  ...at(step, stage),
  metrics: {
    loss: step,
    gradNorm: 1,
    clipFraction: 0.5,
    meanAdvantage: -0.1,
    rolloutKl: 0.01,
    alignment: 0,
    tokens: 10,
    sequenceTokens: 100,
    episodes: 1,
    decisions: 1,
    meanAbsoluteAdvantage: 0.1,
    meanLogprob: -1,
    meanTeacherLogprob: -1.1,
  },
  seconds,
  updateSeconds: seconds,
  tokensPerSecond: 10 / seconds,
});
const scored = (step: number): TrainEvent => ({
  type: "scored",
  ...at(step),
  ...{ decisions: 1, tokens: 10, contextTokens: 200 },
  ...{ successReferences: 0, failureReferences: 0, backReferences: 0, cutPrompts: 0 },
  rolloutPolicy: "current",
  seconds: 1,
});
const MODEL: EngineInfo = {
  ...{ model: "m", device: "cpu", adapter: "plain", dtype: "f32", parameters: 1, vocabulary: 2 },
};
const start = (
  resumedFrom: number | null,
  parent: ParentRun | null = null,
  unit: "episode" | "task" = "episode",
): TrainEvent => ({
  type: "start",
  ...{ method: "gc-opd", units: 4, unit, batchSize: 2, steps: 4 },
  ...{ teacher: MODEL, student: MODEL, parent, resumedFrom },
});
const STAGES: TrainEvent[] = [
  { type: "stage", stage: 0, name: "vanilla", epochs: 1, evidence: { kind: "none" } },
  { type: "epoch", stage: 0, epoch: 0, batches: 2, repeating: 0 },
];
const evaluated = (step: number, mean: number): Extract<TrainEvent, { type: "evaluated" }> => ({
  type: "evaluated",
  ...{ step, seconds: 3, tasks: 4, seeds: [0, 1], technical: [], score: null, per_seed: [], per_type: {} },
  ...{ sr: { mean, sd: 5 }, sr_interval: [mean - 10, mean + 10], rounds: { mean: 8, sd: 0 } },
  ...{ pass_at_k: mean, score_at_k: null },
});
const fold = (events: readonly TrainEvent[], from: Figures = NO_FIGURES) =>
  events.reduce<Figures>((figures, event) => foldEvent(figures, event), from);

describe("what a run's responses are to its student", () => {
  const run = (config: Record<string, unknown>, figures = NO_FIGURES) => runPolicy({ config, figures });

  it("follows from its config, until its start says it", () => {
    // It may have a single step.
    expect(run({ episodes: "e" })).toBeNull();
    expect(run({ episodes: "e", sample: {} })).toBe("on policy");
    expect(run({ environment: { name: "alfworld" } })).toBe("on policy");
    // A config that lies on the worker's disk is not known.
    expect(run({})).toBeNull();
    expect(run({}, fold([start(null)]))).toBe("off-policy after step 1");
    expect(run({}, fold([start(null, null, "task")]))).toBe("on policy");
    // Nothing comes after its only step.
    const three = { name: "parent", step: 3 } as ParentRun;
    expect(run({}, fold([start(null, three)]))).toBeNull();
  });
});

describe("events into figures", () => {
  it("has a point a step, with what its parts told", () => {
    const rollout: TrainEvent = {
      type: "rollout",
      ...at(1),
      ...{ episodes: 4, decisions: 8, successes: 1, ended: {}, seconds: 1 },
    };
    const { points, total, done } = fold([start(null), ...STAGES, rollout, scored(1), updated(1)]);
    expect({ total, done }).toEqual({ total: 4, done: 1 });
    expect(points[0]).toMatchObject({
      ...{ loss: 1, teacherTokens: 200, studentTokens: 100, success: 0.25, rolloutPolicy: "current" },
    });
  });

  it("is done with a checkpoint that is written after the run's end", () => {
    const work = { type: "work", what: "checkpoint", done: 1, total: 2, unit: "MB" } as const;
    const ended = foldEvents(NO_FIGURES, [{ type: "done", step: 2 }, work]);
    expect([ended.done, ended.work?.what]).toEqual([2, "checkpoint"]);
    expect(fold([{ type: "checkpoint", step: 2, stage: 0, epoch: 0, batch: 1 }], ended).work).toBeNull();
  });

  it("calls the student of a run that goes on as it was called first", () => {
    const resumed = { ...start(1), student: { ...MODEL, model: "step 1", adapter: "another" } } as TrainEvent;
    expect(fold([start(null), ...STAGES, updated(1), resumed]).start?.student).toMatchObject({
      ...{ model: "m", adapter: "another" },
    });
    // A run that began again, or whose first start is not known, is what it says.
    expect(fold([resumed]).start?.student.model).toBe("step 1");
  });

  it("takes back steps after the checkpoint that a run went on from, and marks the place", () => {
    const figures = fold([start(null), ...STAGES, updated(1), updated(2), start(1), ...STAGES, updated(2)]);
    expect(figures.points.map(({ step }) => step)).toEqual([1, 2]);
    expect(figures.marks).toEqual([{ step: 1, kind: "resumed", text: "went on after step 1", at: null }]);
    const damaged = {
      type: "damaged",
      step: 1,
      checkpoint: "step-00000002",
      reason: "config.json is missing",
    } as const;
    expect(fold([damaged], figures).marks.at(-1)).toEqual({
      step: 1,
      kind: "fault",
      text: "step-00000002 is damaged (config.json is missing): went on from the one before",
      at: null,
    });
    const fault = {
      type: "fault",
      step: 1,
      fault: "lost",
      message: "gone",
      attempt: 2,
      attempts: 3,
    } as const;
    expect(foldEvent(figures, fault)).toMatchObject({ done: 1, points: [{ step: 1 }] });
    const time = "2026-01-02T03:04:05.678Z";
    expect(foldEvent(figures, { ...fault, time }).marks.at(-1)).toEqual({
      step: 1,
      kind: "fault",
      text: "device failed (2 of 3): gone",
      at: time,
    });
    const { attempt: _covered, ...earlier } = fault;
    expect(foldEvent(figures, earlier).marks.at(-1)?.text).toBe("device failed: gone");
  });

  it("marks where a run went on, to its end, also where no event from before was kept", () => {
    const figures = fold([start(1), ...STAGES, updated(2), { type: "done", step: 2, seconds: 1 }]);
    expect(figures.marks).toEqual([{ step: 1, kind: "resumed", text: "went on after step 1", at: null }]);
  });

  it("comes to the same with many events at once, and leaves what it began with as it was", () => {
    const before = fold([start(null), ...STAGES, updated(1)]);
    const events = [scored(2), updated(2), start(1), updated(2), updated(3)];
    expect(foldEvents(before, events)).toEqual(fold(events, before));
    expect(before.points.map(({ step }) => step)).toEqual([1]);
  });

  it("has the evaluations by step: one that is told again, or made again, takes the place of the one before", () => {
    const rates = ({ evaluations }: Figures) => evaluations.map(({ step, sr }) => [step, sr.mean]);
    const before = [start(null), evaluated(0, 10), ...STAGES, updated(1), evaluated(1, 20), updated(2)];
    const figures = fold([...before, evaluated(2, 30)]);
    expect(rates(figures)).toEqual([
      [0, 10],
      [1, 20],
      [2, 30],
    ]);
    const fault = {
      type: "fault",
      step: 1,
      fault: "lost",
      message: "gone",
      attempt: 1,
      attempts: 3,
    } as const;
    expect(rates(fold([fault, start(1), evaluated(1, 20)], figures))).toEqual([
      [0, 10],
      [1, 20],
    ]);
    // From its beginning, without a checkpoint.
    expect(rates(fold([start(null), evaluated(0, 11)], figures))).toEqual([[0, 11]]);
  });

  it("has the watched decisions by step, again from the step that a run went on from", () => {
    const watched = (step: number, logprob: number) => ({
      ...{ type: "held-out" as const, step },
      decisions: [{ label: "e, decision 0", action: "wait", trained: false, logprob }],
    });
    const figures = foldEvents(NO_FIGURES, [
      ...[start(null), watched(0, -3), updated(1), updated(2), watched(2, -2)],
      ...[updated(3), watched(3, -1), start(2), watched(2, -2.5)],
    ]);
    expect(figures.heldOut.map(({ step, decisions }) => [step, decisions[0]!.logprob])).toEqual([
      [0, -3],
      [2, -2.5],
    ]);
  });

  it("counts episodes that are not part of an update, and one step less for a batch of no other", () => {
    const excluded = (step: number, of: number, steps: number, noTurn = {}): TrainEvent => ({
      ...{ type: "excluded", ...at(step), of, steps },
      episodes: [{ episode: "e", reason: null, ...noTurn }],
    });
    const figures = fold([
      start(null),
      ...STAGES,
      excluded(1, 2, 4),
      updated(1),
      excluded(2, 1, 3, { noTurn: true }),
      updated(2),
    ]);
    expect(figures).toMatchObject({ total: 3, done: 2 });
    expect(figures.excluded).toEqual([
      { step: 1, episodes: 1, noTurn: 0, whole: false },
      { step: 2, episodes: 1, noTurn: 1, whole: true },
    ]);
    // After a checkpoint they are told again.
    expect(fold([start(1)], figures).excluded).toHaveLength(1);
  });

  it("marks a gap of the connection where it was", () => {
    const { marks } = withGap(fold([start(null), updated(1)]), new Date(0), new Date(61_000));
    expect(marks[0]).toMatchObject({ step: 1, kind: "gap" });
    expect(marks[0]!.text).toContain("00:00:00 to 00:01:01");
  });
});

describe("time", () => {
  it("has an end only where every stage that is left was timed", () => {
    expect(timeLeft(NO_FIGURES)).toBeNull();
    const one = fold([start(null), ...STAGES, updated(1, 0, 2)]);
    expect(timeLeft(one)).toEqual({ low: 2 + 4, high: Number.POSITIVE_INFINITY });
    const graph: TrainEvent[] = [
      { type: "stage", stage: 1, name: "graph", epochs: 1, evidence: { kind: "none" } },
      { type: "epoch", stage: 1, epoch: 0, batches: 2, repeating: 0 },
    ];
    const three = fold([updated(2, 0, 2), ...graph, updated(3, 1, 8)], one);
    expect(timeLeft(three)).toEqual({ low: 8, high: 8 });
    // A run that continues another one counts its steps on from there.
    const child = start(null, { name: "vanilla", step: 2 });
    const begun = fold([child, ...graph, updated(3, 1, 8)]);
    expect(begun).toMatchObject({ total: 4, done: 3 });
    expect(timeLeft(begun)).toEqual({ low: 8, high: 8 });
  });

  it("is expected from the slowest and the fastest step of runs that were alike", () => {
    const config = { teacher: "t", student: "s" };
    const run = (seconds: number): Run => ({
      ...newRun({ id: "page-000000000000", where: "page", title: "", config }),
      figures: fold([start(null), scored(1), updated(1, 0, seconds)]),
    });
    const work = { teacherTokens: 400, studentTokens: 200 };
    expect(timeExpected(work, [])).toBeNull();
    expect(timeExpected(work, [run(2), run(5)])).toEqual({ low: 4, high: 10, steps: 2 });
    expect(timeExpected({ ...work, studentTokens: null }, [run(2)])).toBeNull();
    expect(speedKey({ where: "page", config })).not.toBe(speedKey({ where: "worker", config }));
  });
});

describe("the form of the config", () => {
  it("has a field for every key of the schema", () => {
    const keys = CONFIG_FIELDS.map(({ key }) => key);
    for (const key of ["method", "settings.learning_rate", "sample", "sample.temperature", "cards", "stages"])
      expect(keys).toContain(key);
    expect(CONFIG_FIELDS.find(({ key }) => key === "method")).toMatchObject({
      kind: "choice",
      standard: "gc-opd",
    });
    expect(CONFIG_FIELDS.find(({ key }) => key === "settings.learning_rate")).toMatchObject({
      kind: "number",
      standard: "0.00001",
    });
  });

  it("leaves out what is empty, and reads numbers, lists and switches", () => {
    expect(
      configOf({
        method: "opd",
        seed: " ",
        "settings.learning_rate": "1e-4",
        cards: "0, 1",
        "sample.temperature": "0.5",
        batch_size: "many",
      }),
    ).toEqual({ method: "opd", settings: { learning_rate: 1e-4 }, cards: [0, 1], batch_size: "many" });
    expect(configOf({ sample: "true", "sample.temperature": "0.5" })).toEqual({
      sample: { temperature: 0.5 },
    });
  });

  it("reads keys inside of others only where all around them are switched on", () => {
    const texts = {
      "environment.name": "alfworld",
      "environment.made.count": "4",
      "environment.max_tokens": "8",
      "environment.tasks": '["a", "b"]',
    };
    expect(configOf(texts)).toEqual({});
    expect(configOf({ ...texts, "environment.made": "true" })).toEqual({});
    const named = { name: "alfworld", max_tokens: 8, tasks: ["a", "b"] };
    expect(configOf({ ...texts, environment: "true" })).toEqual({ environment: named });
    expect(configOf({ ...texts, environment: "true", "environment.made": "true" })).toEqual({
      environment: { ...named, made: { count: 4 } },
    });
  });

  it("says what is wrong at its key", () => {
    const base = { library: "l", episodes: "e", teacher: "t", student: "s" };
    expect(checkConfig(base)).toMatchObject({ problems: {}, config: { method: "gc-opd" } });
    const wrong = checkConfig({ ...base, batch_size: "many", settings: { clip: 2 }, epochs: [1, -1] });
    expect(Object.keys(wrong.problems).sort()).toEqual(["batch_size", "epochs", "settings.clip"]);
    expect(checkConfig({ ...base, library: undefined }).problems).toEqual({
      library: "missing: graph-conditioned stages retrieve from it",
    });
    expect(checkConfig({ ...base, epochs: [0, 0] }).problems).toEqual({
      epochs: "at least one stage needs an epoch",
    });
  });
});

it("reads server-sent events over the borders of chunks, and passes comments over", async () => {
  const text = 'event: state\ndata: {"a":1}\nid: 3\n\n: still here\n\ndata: x\ndata: y\n\nevent: cut';
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let i = 0; i < bytes.length; i += 7) controller.enqueue(bytes.slice(i, i + 7));
      controller.close();
    },
  });
  const events = [];
  for await (const event of serverEvents(body)) events.push(event);
  expect(events).toEqual([
    { id: "3", event: "state", data: '{"a":1}' },
    { id: null, event: "message", data: "x\ny" },
  ]);
});

it("exports the events and the curves of runs", () => {
  const figures = fold([start(null), scored(1), updated(1)]);
  const run = {
    ...newRun({ id: "train-000000000000", where: "worker", title: 'first, "long"', config: {} }),
    figures,
  };
  const [head, line, ...rest] = curvesCsv([run]).split("\n");
  expect(head).toMatch(/^run,name,where,step,stage,loss,/);
  expect(line).toMatch(/^train-000000000000,"first, ""long""",worker,1,0,1,/);
  expect(rest).toEqual([""]);
  const measured = { ...run, figures: fold([start(null), evaluated(0, 10), updated(1), evaluated(1, 20)]) };
  const [names, ...rows] = curvesCsv([measured]).trimEnd().split("\n");
  const column = (name: string) =>
    rows.map((row) => row.split(",").at(names!.split(",").indexOf(name) - names!.split(",").length));
  expect(column("evaluated_sr")).toEqual(["10", "20"]);
  expect(column("evaluated_sr_sd")).toEqual(["5", "5"]);
  expect(column("evaluated_sr_high")).toEqual(["20", "30"]);
  expect(column("step")).toEqual(["0", "1"]);
  expect(column("loss")).toEqual(["", "1"]);
  const done = { time: "t", type: "done", step: 1, seconds: 2 } as const;
  expect(eventLines({ events: [done] })).toBe('{"time":"t","type":"done","step":1,"seconds":2}\n');
});

it("reads the tokens of a step as the command line writes them", () => {
  const line = {
    episode: "e",
    decision: 2,
    weight: 0.5,
    ids: [1],
    tokens: ["a"],
    logprobs: [-1],
    teacher_logprobs: [-2],
    ratio: [1],
    advantage: [-1],
    clipped: [0],
  };
  expect(parseBatch(`{"step":3,"decisions":1}\n${JSON.stringify(line)}\n`)).toMatchObject({
    step: 3,
    decisions: [{ pieces: ["a"], teacherLogprobs: [-2] }],
  });
  const written = (change: object): string =>
    `{"step":3,"decisions":1}\n${JSON.stringify({ ...line, ...change })}\n`;
  // Absent where the response is the student's, as in files of an earlier version.
  expect(parseBatch(written({})).decisions[0]).not.toHaveProperty("bridge");
  expect(parseBatch(written({ bridge: true })).decisions[0]?.bridge).toBe(true);
  // What JSON could not write as a number was none.
  expect(parseBatch(written({ advantage: [null] })).decisions[0]?.advantage).toEqual([Number.NaN]);
  const problemOf = (text: string): string => {
    try {
      parseBatch(text);
      return "none";
    } catch (error) {
      return error instanceof InputError ? error.message : String(error);
    }
  };
  const wrong: [string, string][] = [
    ["", "batch.jsonl, line 1: expected JSON"],
    ["{}", "batch.jsonl, line 1, step: missing; expected number"],
    ['{"step":3,"decisions":2}\n{}', "batch.jsonl, line 1, decisions: expected 2 lines after it, received 1"],
    [written({ ratio: ["1"] }), "batch.jsonl, line 2, ratio[0]: expected number, received string"],
    [written({ tokens: [] }), "batch.jsonl, line 2, tokens: expected 1 entries, as many as ids, received 0"],
  ];
  for (const [text, message] of wrong) expect(problemOf(text)).toBe(message);
});
