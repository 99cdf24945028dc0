import { beforeEach, expect, it, vi } from "vitest";
import { fake } from "../../../../test/support/fake.ts";
import { fakeLibrary } from "../../../../test/support/fake-library.ts";
import { InputError } from "../../../core/errors.ts";
import type { EngineInfo } from "../../../core/ports.ts";
import type { DecisionModel, ScorePair, TokenCounts } from "../../data/model.ts";
import type { ComputeClient } from "../clients.ts";
import { models } from "../models/models.ts";
import { getUi, setUi, useUi } from "../store.ts";
import { scoreDecision, scoreKey, teacherReads } from "./score.ts";

const library = vi.hoisted(() => ({ pairs: [] as object[], pair: {} as Partial<ScorePair>, changed: {} }));

vi.mock("../../data/library-client.ts", async (original) => ({
  ...(await original<object>()),
  libraryWorker: () =>
    fakeLibrary({
      pair: async (_ref, _episode, _decision, selection = {}) => {
        library.pairs.push(selection);
        const isFull = Object.keys(selection).length === 0;
        return { ...library.pair, ...(isFull ? {} : library.changed) } as ScorePair;
      },
      tokenizerHashes: async () => ({ tokenizer: "t", template: "c" }),
      tokenTexts: async (ids) => ids.map(String),
    }),
}));

const engineOf = (model: string): EngineInfo => ({
  ...{ model, device: "webgpu", adapter: "", dtype: "f32", parameters: 1, vocabulary: 50 },
});

/** Prompts that the device was asked to score, by model. */
let scored: [string, readonly number[]][] = [];
let opened: string[] = [];
let studentFault: Error | null = null;

const client = fake<ComputeClient>({
  api: fake<ComputeClient["api"]>({
    planScoring: async () => ({ problem: null, passes: {} }) as never,
    takePasses: async () => undefined as never,
    score: async (model, [sequence]) => {
      scored.push([model as string, sequence!.promptIds]);
      return [{ id: "", logprobs: sequence!.responseIds.map(() => -sequence!.promptIds.length) }] as never;
    },
  }),
});
vi.spyOn(models, "worker").mockImplementation(async () => client);
vi.spyOn(models, "teacherWorkload").mockImplementation(async () => ({}) as never);
vi.spyOn(models, "workload").mockImplementation(async () => ({}) as never);
vi.spyOn(models, "ensure").mockImplementation(async (role) => {
  opened.push(role);
  if (role === "student" && studentFault !== null) throw studentFault;
  return client;
});

const counts = { vanilla: 1, graph: 2, response: 2 } as TokenCounts;

/** Shows a decision; `selection` makes it a what-if. */
function show(parts: Partial<DecisionModel> = {}): DecisionModel {
  const decision = {
    ...{ library: "l", environment: "e", task: "t", episode: "t#0", decision: 1 },
    ...{ selection: {}, endOfTurn: true, counts, countsProblem: null, full: null },
    ...parts,
  } as DecisionModel;
  setUi({ decision });
  return decision;
}

const sides = (decision: DecisionModel) =>
  getUi().scores[scoreKey(decision)]?.sides.map(({ key, promptIds }) => [key, promptIds]);

beforeEach(() => {
  Object.assign(library, {
    pairs: [],
    pair: {
      ...{ responseIds: [8, 9], vanillaIds: [1], graphIds: [1, 2], pieces: ["a", "b"] },
      studentProblem: null,
    },
    changed: { graphIds: [1, 2, 3] },
  });
  [scored, opened, studentFault] = [[], [], null];
  const loaded = (name: string) => ({ info: engineOf(name), origin: "sample" as const, steps: 0 });
  setUi({
    scores: {},
    scoring: { status: "idle" },
    models: { teacher: loaded("teacher"), student: loaded("student") },
  });
});

it("scores the teacher under both contexts, and the student under the first", async () => {
  const decision = show();
  await scoreDecision();
  expect(getUi().scoring.status).toBe("idle");
  expect(scored).toEqual([
    ["teacher", [1]],
    ["student", [1]],
    ["teacher", [1, 2]],
  ]);
  expect(sides(decision)).toEqual([
    ["vanilla", [1]],
    ["graph", [1, 2]],
    ["student", [1]],
  ]);
  expect(getUi().scores[scoreKey(decision)]).toMatchObject({ ids: [8, 9], studentProblem: null });
});

it("shows scores once, when each side tells what the others list", async () => {
  const decision = show();
  const { api } = client;
  const plain = api.score;
  Object.assign(api, {
    score: async (...[model, sequences]: Parameters<typeof plain>) => {
      const [scored] = await plain(model, sequences, {}, () => {});
      const first = sequences[0]!.promptIds.length;
      return [
        {
          ...{ ...scored, entropy: Float32Array.of(1, 1), hidden: Float32Array.of(1, 2) },
          ...{ topIds: Uint32Array.of(first, first), topLogprobs: Float32Array.of(-1, -1) },
        },
      ];
    },
    headLogprobs: async (_model: string, rows: Float32Array) => rows,
  });
  const shown = new Set<object>();
  const leave = useUi.subscribe(({ scores }) => {
    const known = scores[scoreKey(decision)];
    if (known !== undefined) shown.add(known);
  });
  await scoreDecision();
  leave();
  Object.assign(api, { score: plain });
  expect([...shown]).toEqual([getUi().scores[scoreKey(decision)]]);
  for (const { distribution } of getUi().scores[scoreKey(decision)]!.sides)
    expect(distribution!.further!.size).toBe(2);
});

it("leaves out a student that does not read the teacher's tokens, without opening it", async () => {
  library.pair.studentProblem = "other tokens";
  const decision = show();
  await scoreDecision();
  expect(opened).toEqual(["teacher"]);
  expect(sides(decision)?.map(([key]) => key)).toEqual(["vanilla", "graph"]);
  expect(getUi().scores[scoreKey(decision)]!.studentProblem).toBe("other tokens");
});

it("scores the teacher where the student cannot be opened, and says why", async () => {
  studentFault = new InputError("no weights", { file: "config.json" });
  const decision = show();
  await scoreDecision();
  expect(sides(decision)?.map(([key]) => key)).toEqual(["vanilla", "graph"]);
  expect(getUi().scores[scoreKey(decision)]!.studentProblem).toContain("no weights");
});

it("scores a what-if beside the full method, whose figures the second one takes over", async () => {
  const full = { counts } as DecisionModel["full"];
  const first = show({ selection: { sourcesPerTask: 1 }, full });
  await scoreDecision();
  expect(library.pairs).toEqual([{ sourcesPerTask: 1 }, {}]);
  expect(sides(first)).toEqual([
    ["vanilla", [1]],
    ["full", [1, 2]],
    ["graph", [1, 2, 3]],
    ["student", [1]],
  ]);
  expect(sides(show())).toEqual([
    ["vanilla", [1]],
    ["graph", [1, 2]],
    ["student", [1]],
  ]);

  scored = [];
  const second = show({ selection: { sourcesPerTask: 2 }, full });
  await scoreDecision();
  expect(scored).toEqual([["teacher", [1, 2, 3]]]);
  expect(sides(second)?.map(([key]) => key)).toEqual(["vanilla", "full", "graph", "student"]);
});

it("takes no figures over from another model", async () => {
  const full = { counts } as DecisionModel["full"];
  show({ selection: { sourcesPerTask: 1 }, full });
  await scoreDecision();
  scored = [];
  setUi((ui) => ({ models: { ...ui.models, teacher: { ...ui.models.teacher!, info: engineOf("other") } } }));
  show({ selection: { sourcesPerTask: 2 }, full });
  await scoreDecision();
  expect(scored.map(([model]) => model)).toEqual(["teacher", "teacher", "teacher"]);
});

it("refuses a what-if that changes the response", async () => {
  library.changed = { responseIds: [8, 8] };
  const decision = show({ selection: { sourcesPerTask: 1 }, full: { counts } as DecisionModel["full"] });
  await scoreDecision();
  expect(getUi().scoring).toMatchObject({
    status: "failed",
    message: expect.stringContaining("the what-if changed the response"),
  });
  expect([scored, sides(decision)]).toEqual([[], undefined]);
});

it("says why there is nothing to score", async () => {
  show({ counts: null, countsProblem: "no prompt was recorded" });
  await scoreDecision();
  expect(getUi().scoring).toMatchObject({ status: "failed", message: "no prompt was recorded" });
  expect(opened).toEqual([]);
});

it("tells what the evidence makes the teacher read, apart from the response", () => {
  expect(teacherReads({ vanilla: 530, graph: 1813, response: 24 })).toBe(
    "1,813 tokens instead of 530, then the same 24 response tokens",
  );
});
