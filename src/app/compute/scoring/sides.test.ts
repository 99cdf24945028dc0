import { expect, it, vi } from "vitest";
import { distributionOf } from "../../../../test/support/distributions.ts";
import { fake } from "../../../../test/support/fake.ts";
import { scoredSide, tokenScores } from "../../../../test/support/token-scores.ts";
import type { ComputeClient } from "../clients.ts";
import { models, useStudentRun } from "../models/models.ts";
import { type Side, sideOf, teacherOf, tokenKey } from "../side.ts";
import { getUi, setUi } from "../store.ts";
import type { ScoringRun } from "./scoring-run.ts";
import { computedSide, keepSide, keepUnion } from "./sides.ts";

vi.spyOn(models, "worker").mockImplementation(async () =>
  fake<ComputeClient>({
    api: fake<ComputeClient["api"]>({ headLogprobs: async (_role, rows) => rows }),
  }),
);

const run: Pick<ScoringRun, "key" | "open" | "wait" | "hasOther"> = {
  ...{ key: "a", open: async () => undefined, hasOther: () => false },
  wait: (work) => work,
};

/** A side that lists these tokens, with a hidden row of one number in each place. */
const listing = (side: Side, topIds: number[]): Side => ({
  ...side,
  distribution: { ...distributionOf(topIds), rows: { hidden: Float32Array.of(10, 20) } },
});

it("asks the student only while it has the weights that scored", async () => {
  const vanilla = scoredSide("vanilla", [-1, -1]);
  const engine = teacherOf({ sides: [{ ...vanilla, key: "graph" }] });
  const model = (steps: number) => ({ info: engine, origin: "updated" as const, steps });
  setUi({ models: { teacher: model(0), student: model(2) } });
  useStudentRun.setState({ id: "page-1" });
  const student = computedSide(
    {
      key: "student",
      label: "",
      model: "student",
      promptIds: [0],
      responseIds: [1, 2],
      hashes: null,
      engine,
    },
    { logprobs: Float32Array.of(-1, -1) },
    1,
  );
  setUi({ scores: { a: tokenScores(listing(vanilla, [1, 2, 3, 4]), listing(student, [1, 5, 3, 4])) } });
  const told = async (): Promise<string[]> => {
    await keepUnion(run as ScoringRun);
    return [...(sideOf(getUi().scores.a!, "student")!.distribution?.further ?? new Map()).keys()];
  };
  expect(await told()).toEqual([tokenKey(0, 2)]);

  keepSide("a", listing(scoredSide("further", [-1, -1]), [1, 6, 3, 4]));
  // Other weights after as many steps.
  useStudentRun.setState({ id: "page-2" });
  expect(await told()).toEqual([tokenKey(0, 2)]);
  expect(sideOf(getUi().scores.a!, "vanilla")!.distribution!.further!.has(tokenKey(0, 6))).toBe(true);
  useStudentRun.setState({ id: "page-1" });
  setUi({ models: { teacher: model(0), student: model(3) } });
  expect(await told()).toEqual([tokenKey(0, 2)]);
  setUi({ models: { teacher: model(0), student: model(2) } });
  expect(await told()).toEqual([tokenKey(0, 2), tokenKey(0, 6)]);
});
