import { describe, expect, it } from "vitest";
import { corridorData, Scripted } from "../../../test/support/corridor-training.ts";
import { ToyModel, toyCodec } from "../../../test/support/toy-model.ts";
import { of, options, SETTINGS } from "../../../test/support/toy-training.ts";
import type { Method } from "../method/index.ts";
import type { ScoreRequest, TrainItem } from "../ports.ts";
import type { BatchTokens } from "./batch-tokens.ts";
import { bridgedTurn, bridges, type ScoredRow } from "./bridge.ts";
import { batchRows } from "./rows.ts";
import { train } from "./train.ts";

/** A student that walks forward in corridor c6, with log p = −1 of every token. */
const studentOf = (says: (id: string, nth: number) => string) => {
  const student = new Scripted(2, says);
  student.logprobs = (_, response) => Float32Array.from(response, () => -1);
  return student;
};

/** A teacher that says `help`-less things: log q by the text of what it scores. */
class Judge extends Scripted {
  constructor(
    says: string,
    private readonly scored: (request: ScoreRequest) => number,
  ) {
    super(1, () => says);
  }

  override async score(requests: readonly ScoreRequest[]) {
    return requests.map((request) => ({
      id: request.id,
      logprobs: Float32Array.from(request.responseIds, () => this.scored(request)),
    }));
  }
}

const CONTEXT = { policyVersion: 0, codec: toyCodec, seed: 7 };

/** The rows of one played episode of c6, with log q by decision. */
async function played(student: Scripted, teacherOf: (decision: number) => number) {
  const data = corridorData();
  const place = data.units.indexOf("c6");
  const [episode] = await data.episodes([place], { ...CONTEXT, student });
  const rows = batchRows([episode!], toyCodec).map(
    (row): ScoredRow => ({
      row,
      student: row.rolloutLogprobs!,
      teacher: row.responseIds.map(() => teacherOf(row.decision)),
    }),
  );
  return { data, rows };
}

describe("the bridged turn", () => {
  it("has the largest mean of log p − log q, is not the last, and has an action", async () => {
    const says = (_: string, nth: number) => (nth === 2 ? "</action>" : "forward");
    // log p = −1; the last turn and the malformed one are worst for the teacher, then turn 1.
    const { rows } = await played(studentOf(says), (decision) => [-2, -4, -9, -3, -3, -20, -2][decision]!);
    expect(rows[2]!.row.episode.decisions[2]!.action).toBe(null);
    expect(rows.at(-1)!.row.decision).toBe(rows[0]!.row.episode.decisions.length - 1);
    const chosen = bridgedTurn(rows)!;
    expect(chosen.row.decision).toBe(1);
    expect(bridgedTurn(rows.slice(-1))).toBe(null);
  });

  it("is the first of equals", async () => {
    const { rows } = await played(
      studentOf(() => "forward"),
      () => -2,
    );
    expect(bridgedTurn(rows)!.row.decision).toBe(0);
  });
});

describe("a bridge", () => {
  /** Turn 1 of c6 is the worst; both branches go on for three turns, by the branch's name. */
  const rowsOf = (student: Scripted) => played(student, (decision) => (decision === 1 ? -3 : -1));
  const rule = { turns: 2 };
  const forward = () => "forward";

  it("is accepted where the student agrees with the teacher more behind it", async () => {
    const student = studentOf(forward);
    const { data, rows } = await rowsOf(student);
    // Of the base's two turns one agrees, of the bridge's both: shares of tokens, not of turns.
    const teacher = new Judge("back", ({ id }) =>
      id.includes("~bridge") || id.endsWith("#3") ? -0.5 : -1.5,
    );
    const [judged] = await bridges(rows, rule, teacher, data, { ...CONTEXT, student });
    expect(judged!.verdict).toBe("accepted");
    expect(judged!.ratios!.bridge).toBe(1);
    expect(judged!.ratios!.base).toBe(0.5);
    const { row } = judged!;
    expect([row.episode.episode, row.decision]).toEqual(["c6", 1]);
    expect(toyCodec.decode(row.responseIds.slice(0, -1))).toBe("<action>back</action>");
    // Off-policy data: its p_old is the student's own, in the student's context.
    expect(row.rolloutLogprobs).toBe(null);
    expect(row.promptIds).toEqual(rows[1]!.row.promptIds);
    const [asked] = teacher.asked;
    expect(asked).toMatchObject({ temperature: 1, promptIds: rows[1]!.row.promptIds });
    expect(asked).not.toHaveProperty("topP");
  });

  it("plays both branches afresh: from a reset, with the student's turns replayed and seeds of their own", async () => {
    const student = studentOf(forward);
    const { data, rows } = await rowsOf(student);
    const before = student.asked.length;
    await bridges(rows, rule, new Judge("back", () => -1), data, { ...CONTEXT, student });
    const later = student.asked.slice(before);
    expect(later.map(({ id }) => id).sort()).toEqual(["c6~base", "c6~base", "c6~bridge", "c6~bridge"]);
    const seeds = [...student.asked.slice(0, before), ...later].map(({ seed }) => seed);
    expect(new Set(seeds).size).toBe(seeds.length);
    const text = (n: number) => String.fromCharCode(...later[n]!.promptIds.map((id) => id + 31));
    const [base, bridge] = [0, 1].map((n) => later.findIndex(({ id }) => id === ["c6~base", "c6~bridge"][n]));
    expect(text(base!)).toContain("Room 2.");
    expect(text(bridge!)).toMatch(/Room 0\..*Room 1\..*Room 0\./s);
  });

  it("is refused where both agree as much", async () => {
    const student = studentOf(forward);
    const { data, rows } = await rowsOf(student);
    const [judged] = await bridges(rows, rule, new Judge("back", () => -0.5), data, { ...CONTEXT, student });
    expect(judged).toMatchObject({ verdict: "refused", ratios: { base: 1, bridge: 1 } });
  });

  it.each([
    ["the bridge's action is not a valid one", "help", forward, { turns: 2 }],
    ["the bridge has no action", "</action>", forward, { turns: 2 }],
    [
      "a continuation has an invalid action",
      "back",
      (id: string, nth: number) => (id === "c6~bridge" && nth === 1 ? "help" : "forward"),
      { turns: 2 },
    ],
    // Behind turn 1, forward reaches the last room after three more turns; four are asked for.
    ["the base ends before all turns were played, in success too", "back", forward, { turns: 4 }],
  ])("is invalid where %s", async (_, bridge, says, stage) => {
    const student = studentOf(says);
    const { data, rows } = await rowsOf(student);
    const teacher = new Judge(bridge, ({ id }) => (id.includes("~bridge") ? -0.5 : -1.5));
    const [judged] = await bridges(rows, stage, teacher, data, { ...CONTEXT, student });
    expect(judged).toMatchObject({ verdict: "invalid", ratios: null });
  });

  it("needs a teacher that samples", async () => {
    const student = studentOf(forward);
    const { data, rows } = await rowsOf(student);
    const model = new ToyModel(1, "served");
    const scorer = { info: model.info, score: model.score.bind(model), dispose: () => undefined };
    await expect(bridges(rows, rule, scorer, data, { ...CONTEXT, student })).rejects.toThrow(
      "the engine of the teacher served only scores: the stage's bridge needs one that samples",
    );
  });
});

it("an accepted bridge joins the update as one more row among the tokens of its episode", async () => {
  const student = studentOf(() => "forward");
  const steps: TrainItem[][] = [];
  const { step } = student;
  student.step = (items, settings) => {
    steps.push(structuredClone([...items]));
    return step.call(student, items, settings);
  };
  // Bridged where the teacher thinks least of the student; behind `~bridge` it agrees.
  const teacher = new Judge("back", ({ id }) => (id.includes("~bridge") ? -0.5 : /#0$/.test(id) ? -3 : -1.5));
  const method: Method = {
    id: "test",
    description: "",
    stages: [{ name: "test", epochs: 1, evidence: { kind: "none" }, bridge: { turns: 1 } }],
  };
  const batches: BatchTokens[] = [];
  const run = options({
    method,
    data: corridorData(),
    batchSize: 4,
    teacher,
    onBatch: (batch) => void batches.push(batch),
    openStudent: async () => student,
    settings: { ...SETTINGS, learningRate: 0 },
  });
  await train(run);
  // c3 has two turns: behind the first one and one more its episode is over, but its bridge still goes back and forth.
  const [bridged] = of(run.events, "bridged");
  expect(bridged).toMatchObject({ accepted: 4, refused: 0, invalid: 0 });
  const { seconds, playSeconds, scoreSeconds } = bridged!;
  expect(playSeconds).toBeGreaterThan(0);
  expect(scoreSeconds).toBeGreaterThan(0);
  expect(playSeconds + scoreSeconds).toBeCloseTo(seconds, 9);
  const items = steps[0]!;
  const own = items.filter(({ episode }) => episode === "c6");
  expect(own.map(({ decision }) => decision)).toEqual([0, 1, 2, 3, 4, 0]);
  // The tokens of the step tell it from the student's own row of the same decision.
  const told = batches[0]!.decisions.filter(({ episode }) => episode === "c6");
  for (const rows of [own, told])
    expect(rows.map(({ bridge }) => bridge)).toEqual([...Array(5).fill(undefined), true]);
  const last = own.at(-1)!;
  expect(last.rolloutLogprobs).toBe(null);
  expect(last.teacherLogprobs).toHaveLength(last.responseIds.length);
  const tokens = own.reduce((sum, { responseIds }) => sum + responseIds.length, 0);
  for (const { weight } of own) expect(weight).toBeCloseTo(1 / (4 * tokens), 12);
});
