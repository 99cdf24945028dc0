import { beforeEach, expect, it, vi } from "vitest";
import { fake } from "../../../../../test/support/fake.ts";
import { fakeLibrary } from "../../../../../test/support/fake-library.ts";
import { scoredSide, tokenScores } from "../../../../../test/support/token-scores.ts";
import { DeviceError } from "../../../../core/errors.ts";
import type { EvidencePart } from "../../../../core/evidence/index.ts";
import type { ComputeClient } from "../../../compute/clients.ts";
import { models } from "../../../compute/models/models.ts";
import { scoreKey } from "../../../compute/scoring/scoring-run.ts";
import { getUi, setUi } from "../../../compute/store.ts";
import type { DecisionModel, LeftOutContext } from "../../../data/model.ts";
import { recordsWithEvents, scoreLeftOut, scorePointed } from "./leave-out.ts";

const part = (record: EvidencePart["record"], event: number | null = null): EvidencePart => ({
  record,
  event,
});
const without = (of: EvidencePart, promptIds: number[], vanilla = false): LeftOutContext => ({
  ...{ part: of, promptIds, evidenceTokens: promptIds.length - 1, backReferences: false, vanilla },
});
/** What is left without each part: of the records, and of one record's events. */
const CONTEXTS: Record<string, LeftOutContext[]> = {
  null: [without(part("student"), [1, 2]), without(part("success"), [1], true)],
  student: [without(part("student", 0), [1, 2, 3]), without(part("student", 1), [1, 2, 4])],
  success: [without(part("success", 0), [1, 2, 5])],
};

const asked = vi.hoisted((): (string | null)[] => []);
vi.mock("../../../data/library-client.ts", async (original) => ({
  ...(await original<object>()),
  libraryWorker: () =>
    fakeLibrary({
      leftOut: async (_ref, _episode, _decision, _selection, record) => {
        asked.push(record);
        return CONTEXTS[String(record)]!;
      },
    }),
}));

/** Prompts that the device was asked to score; the one that it cannot. */
let scored: (readonly number[])[];
let refused: number | null;
const client = fake<ComputeClient>({
  api: fake<ComputeClient["api"]>({
    score: async (_model, [sequence]) => {
      if (scored.length === refused) throw new DeviceError("out of memory", "memory");
      scored.push(sequence!.promptIds);
      return [{ id: "", logprobs: sequence!.responseIds.map(() => -sequence!.promptIds.length) }] as never;
    },
  }),
});
vi.spyOn(models, "ensure").mockImplementation(async () => client);

const TEACHER = scoredSide("graph", [-1, -1]).provenance.engine!;
const decision = {
  ...{ library: "l", environment: "e", task: "t", episode: "t#0", decision: 1, selection: {} },
  endOfTurn: true,
  evidence: { spans: ["student", "student", "success"].map((kind) => ({ kind, part: "event" })) },
} as DecisionModel;
const leftOut = () =>
  getUi().scores[scoreKey(decision)]!.leftOut.map(({ part: of, logprobs }) => [of, Array.from(logprobs)]);

beforeEach(() => {
  [scored, refused] = [[], null];
  asked.length = 0;
  setUi((ui) => ({
    decision,
    place: { ...ui.place, part: null },
    scores: {
      [scoreKey(decision)]: tokenScores(scoredSide("vanilla", [-7, -8]), scoredSide("graph", [-1, -1])),
    },
    scoring: { status: "idle" },
    models: { ...ui.models, teacher: { info: TEACHER, origin: "sample", steps: 0 } },
  }));
});

it("leaves out each record; without all evidence the teacher is the vanilla one, which was scored", async () => {
  await scoreLeftOut(null);
  expect(leftOut()).toEqual([
    [part("success"), [-7, -8]],
    [part("student"), [-2, -2]],
  ]);
  expect(scored).toEqual([[1, 2]]);
  // What is known is not scored again.
  await scoreLeftOut(null);
  expect(scored).toHaveLength(1);
  expect(leftOut()).toHaveLength(2);
});

it("leaves out each event of one record, or of all that print events", async () => {
  await scoreLeftOut("student");
  expect(leftOut().map(([of]) => of)).toEqual([part("student", 0), part("student", 1)]);
  expect(recordsWithEvents(decision)).toEqual(["student", "success"]);
  await scoreLeftOut("all events");
  expect(asked).toEqual(["student", "student", "success"]);
  expect(scored).toEqual([
    [1, 2, 3],
    [1, 2, 4],
    [1, 2, 5],
  ]);
});

it("leaves out the part that the address points at alone, and refuses one that the evidence does not have", async () => {
  setUi((ui) => ({ place: { ...ui.place, part: part("student", 1) } }));
  await scorePointed();
  expect(leftOut().map(([of]) => of)).toEqual([part("student", 1)]);
  setUi((ui) => ({ place: { ...ui.place, part: part("student", 9) } }));
  await scorePointed();
  expect(getUi().scoring).toMatchObject({
    status: "failed",
    message: "this evidence does not have event 10 of the student’s execution",
  });
});

it("keeps what was scored before the device failed", async () => {
  refused = 1;
  await scoreLeftOut("student");
  expect(getUi().scoring).toMatchObject({
    status: "failed",
    message: expect.stringContaining("out of memory"),
  });
  expect(leftOut().map(([of]) => of)).toEqual([part("student", 0)]);
});

it("compares nothing with the scores of another teacher", async () => {
  const info = { ...TEACHER, model: "other" };
  setUi((ui) => ({ models: { ...ui.models, teacher: { info, origin: "sample", steps: 0 } } }));
  await scoreLeftOut(null);
  expect(getUi().scoring).toMatchObject({
    status: "failed",
    message: expect.stringMatching(
      /of m \(f32, \), and now other .* is open: score the decision again first/,
    ),
  });
  expect(scored).toEqual([]);
});

it("does nothing where nothing was scored", async () => {
  setUi({ scores: {} });
  await scoreLeftOut(null);
  expect([asked, getUi().scoring.status]).toEqual([[], "idle"]);
});
