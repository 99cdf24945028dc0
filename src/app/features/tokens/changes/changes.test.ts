import { beforeEach, expect, it, vi } from "vitest";
import { fake } from "../../../../../test/support/fake.ts";
import { fakeLibrary } from "../../../../../test/support/fake-library.ts";
import { DeviceError, InputError } from "../../../../core/errors.ts";
import type { EngineInfo } from "../../../../core/ports.ts";
import type { ComputeClient } from "../../../compute/clients.ts";
import { models } from "../../../compute/models/models.ts";
import { scoreKey } from "../../../compute/scoring/scoring-run.ts";
import { getUi, setUi } from "../../../compute/store.ts";
import type { ScorePair, TaskModel } from "../../../data/model.ts";
import { KEPT_STRIPS, scoreChanges, useChanges } from "./changes.ts";

/** Decisions, as "episode decision", whose prompt cannot be made. */
const library = vi.hoisted(() => ({ unreadable: new Set<string>() }));
vi.mock("../../../data/library-client.ts", async (original) => ({
  ...(await original<object>()),
  libraryWorker: () =>
    fakeLibrary({
      contextLengths: async (_ref, episode, decision) => {
        if (library.unreadable.has(`${episode} ${decision}`)) throw new InputError("no prompt was recorded");
        return { vanilla: 1 + decision, graph: 2, response: 2 };
      },
      pair: async (_ref, _episode, decision) =>
        fake<ScorePair>({
          ...{ vanillaIds: [decision], graphIds: [decision, 1], responseIds: [8, 9], pieces: ["a", "b"] },
        }),
      tokenizerHashes: async () => null,
    }),
}));

const ENGINE: EngineInfo = {
  ...{ model: "teacher", device: "webgpu", adapter: "", dtype: "f32", parameters: 1, vocabulary: 50 },
};
/** Calls of the device; the ones that fail, by their number. */
let calls: number;
let faults: Record<number, Error>;
let onCall: () => void;
const client = fake<ComputeClient>({
  api: fake<ComputeClient["api"]>({
    planScoring: async () => ({ problem: null, passes: {} }) as never,
    takePasses: async () => undefined as never,
    score: async (_model, sequences) => {
      const fault = faults[calls++];
      if (fault !== undefined) throw fault;
      onCall();
      return sequences.map(({ promptIds, responseIds }) => ({
        ...{ id: "", logprobs: responseIds.map(() => -promptIds.length) },
        topIds: [[8], [7]],
      })) as never;
    },
  }),
});
vi.spyOn(models, "worker").mockImplementation(async () => client);
vi.spyOn(models, "teacherWorkload").mockImplementation(async () => ({}) as never);
vi.spyOn(models, "ensure").mockImplementation(async () => client);

const task = (...decisions: number[]): TaskModel =>
  ({
    ...{ library: "l", environment: "e", task: "t" },
    episodes: decisions.map((count, n) => ({ id: `t#${n}`, decisions: count })),
  }) as TaskModel;
const changes = () => useChanges.getState().changes!;
const strips = () => Object.keys(getUi().scores);

beforeEach(() => {
  [calls, faults, onCall] = [0, {}, () => undefined];
  library.unreadable.clear();
  useChanges.setState({ changes: null });
  setUi((ui) => ({
    ...{ task: task(2, 3), decision: null, scores: {}, scoring: { status: "idle" } },
    place: { ...ui.place, episode: "t#1" },
    models: { ...ui.models, teacher: { info: ENGINE, origin: "sample", steps: 0 } },
  }));
});

it("scores every decision of the task under both contexts, each pair in one call", async () => {
  await scoreChanges("task");
  expect(calls).toBe(5);
  expect(changes()).toMatchObject({ total: 5, finished: true, skipped: [], teacher: ENGINE, episode: null });
  expect(changes().figures).toMatchObject({ decisions: 5, tokens: 10 });
  expect(strips()).toHaveLength(5);
  expect(getUi().scoring.status).toBe("idle");
});

it("scores one episode, which the address names, and shows its strips ready", async () => {
  await scoreChanges("episode");
  expect(changes()).toMatchObject({ total: 3, episode: "t#1" });
  const key = scoreKey({
    ...{ library: "l", environment: "e", task: "t", episode: "t#1", decision: 2 },
    ...{ selection: {}, endOfTurn: getUi().place.endOfTurn },
  });
  const [vanilla, graph] = getUi().scores[key]!.sides;
  expect([vanilla!.key, vanilla!.promptIds, Array.from(vanilla!.logprobs)]).toEqual([
    "vanilla",
    [2],
    [-1, -1],
  ]);
  expect([graph!.key, graph!.promptIds, Array.from(graph!.logprobs)]).toEqual(["graph", [2, 1], [-2, -2]]);
});

it("leaves out what has no prompt or cannot be computed, says why, and goes on", async () => {
  library.unreadable.add("t#0 1");
  faults = { 1: new InputError("a token of another vocabulary") };
  await scoreChanges("task");
  expect(changes().skipped).toEqual([
    { episode: "t#0", decision: 1, reason: expect.stringContaining("no prompt was recorded") },
    { episode: "t#1", decision: 0, reason: expect.stringContaining("a token of another vocabulary") },
  ]);
  expect(changes()).toMatchObject({ total: 5, finished: true, figures: { decisions: 3 } });
});

it("opens nothing of a task whose decisions cannot be scored", async () => {
  for (const n of [0, 1, 2]) library.unreadable.add(`t#1 ${n}`);
  await scoreChanges("episode");
  expect(getUi().scoring).toMatchObject({
    status: "failed",
    message: expect.stringContaining("no decision can be scored: no prompt was recorded"),
  });
  expect([calls, changes()]).toEqual([0, null]);
});

it("a lost device ends the job; what was scored stays, unfinished", async () => {
  faults = { 2: new DeviceError("the device was lost", "lost") };
  await scoreChanges("task");
  expect(getUi().scoring.status).toBe("failed");
  expect(changes()).toMatchObject({ finished: false, skipped: [], figures: { decisions: 2 } });
});

it("a stopped job keeps what it has", async () => {
  onCall = () => {
    if (calls === 2) setUi({ scoring: { status: "cancelling", job: "changes", key: "changes" } });
  };
  await scoreChanges("task");
  expect(changes()).toMatchObject({ finished: false, figures: { decisions: 2 } });
  expect(calls).toBe(2);
});

it("keeps no more strips than it says; those that were scored otherwise are left as they are", async () => {
  setUi({ task: task(KEPT_STRIPS + 5) });
  await scoreChanges("task");
  expect(changes().figures.decisions).toBe(KEPT_STRIPS + 5);
  expect(strips()).toHaveLength(KEPT_STRIPS);
});
