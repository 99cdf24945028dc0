import { describe, expect, it } from "vitest";
import type { EvaluatedEpisode } from "../../../core/evaluation/index.ts";
import { type ExperimentResults, recordedResultsSchema, type TrainEvent } from "../../../core/loop/index.ts";
import {
  studyPairs,
  studyResults,
  studyTables,
} from "../../features/evidence-test/students/study-results.ts";
import type { CellEvent } from "../worker/student-cell.ts";
import { readRecorded } from "./recorded-results.ts";
import { DEFAULT_CHOICES, studentConfig, studentGrid } from "./students-config.ts";
import { curvesOf, followCell, measuredStudent, type Study, secondsLeft, waitingCells } from "./study.ts";

/** Results of four tasks, with so many won. */
const played = (won: number): EvaluatedEpisode[] =>
  Array.from({ length: 4 }, (_, n) => ({
    ...{ task: `t${n}`, type: null, seed: 0, success: n < won, score: null, decisions: 5 },
  }));

const measured = (steps: number, won: number, seconds = 2): CellEvent => ({
  ...{ type: "measured", steps, seconds, episodes: played(won) },
});
const at = (step: number) => ({ step, stage: 0, epoch: 0, batch: step - 1 });
const loop = (event: object): CellEvent => ({ type: "loop", event: event as TrainEvent });
const updated = (step: number, seconds: number) =>
  loop({ type: "updated", ...at(step), seconds, metrics: { loss: step / 2, gradNorm: step / 4 } });
const rollout = (step: number) => loop({ type: "rollout", ...at(step), episodes: 8 });

function studyOf(choices: Partial<typeof DEFAULT_CHOICES> = {}): Study {
  const all = {
    ...DEFAULT_CHOICES,
    methods: ["opd", "gc-opd"] as const,
    steps: 2,
    batch: 8,
    every: 1,
    ...choices,
  };
  const config = studentConfig(all, {}, { teacher: "t", student: "s", tokenizer: "k", library: "l.jsonl" });
  const { grid } = studentGrid(config);
  return {
    ...{ key: "k", choices: all, config, grid, tasks: 8, oracle: null, about: null },
    untrained: measuredStudent({ steps: 0, episodes: played(1), seconds: 1 }),
    cells: waitingCells(grid, 2),
  };
}

/** The study after events of one cell. */
const afterEvents = (study: Study, cell: number, ...events: CellEvent[]): Study => ({
  ...study,
  cells: study.cells.map((each, n) => (n === cell ? events.reduce(followCell, each) : each)),
});

describe("curvesOf", () => {
  it("is the mean over the seeds that have come, from the parent on, with each training by itself", () => {
    let study = afterEvents(studyOf(), 0, measured(1, 2), measured(2, 3));
    study = afterEvents(study, 2, measured(1, 4));
    const [opd, graph] = curvesOf(study);
    expect(opd!.points.map(({ steps, n, mean }) => [steps, n, mean])).toEqual([
      [0, 1, 25],
      [1, 2, 75],
      [2, 1, 75],
    ]);
    // Student's t with one degree of freedom: 12.706 · SD / √2, SD = 50 / √2.
    const [low, high] = opd!.points[1]!.interval!;
    expect(high - 75).toBeCloseTo(12.7062 * 25, 2);
    expect(75 - low).toBeCloseTo(high - 75, 9);
    expect(opd!.points[2]!.interval).toBeNull();
    expect(opd!.seeds.map(({ seed, points }) => [seed, points.map(({ sr }) => sr)])).toEqual([
      [1, [25, 50, 75]],
      [2, [25, 100]],
    ]);
    expect(graph).toMatchObject({ label: "GC-OPD", points: [], seeds: [] });
  });
});

describe("followCell", () => {
  it("counts a batch once that is played again after a stop", () => {
    const cell = [rollout(1), updated(1, 3), rollout(2), rollout(2), updated(2, 5)].reduce(
      followCell,
      studyOf().cells[0]!,
    );
    expect(Object.values(cell.batches).map(({ sampled }) => sampled)).toEqual([8, 8]);
    expect(cell).toMatchObject({
      done: 2,
      updates: [
        { loss: 0.5, gradNorm: 0.25, seconds: 3 },
        { loss: 1, gradNorm: 0.5, seconds: 5 },
      ],
    });
  });

  it("goes back to the last kept step where it is resumed", () => {
    const cell = followCell(
      { ...studyOf().cells[0]!, done: 2 },
      loop({ type: "start", steps: 2, resumedFrom: 1 }),
    );
    expect(cell.done).toBe(1);
  });
});

describe("secondsLeft", () => {
  it("is by the measured steps, without an end while a method has taken none", () => {
    expect(secondsLeft(studyOf())).toBeNull();
    const begun = afterEvents(studyOf({ seeds: 1 }), 0, updated(1, 10));
    // One step and two measurements of 1 s here, two and two there.
    expect(secondsLeft(begun)).toEqual({ low: 10 + 1 + 20 + 2, high: Number.POSITIVE_INFINITY });
    const both = afterEvents(begun, 1, updated(1, 4));
    expect(secondsLeft(both)).toEqual({ low: 10 + 1 + 4 + 1, high: 10 + 1 + 4 + 1 });
  });
});

describe("the files", () => {
  const whole = (seeds: number, wins: (cell: number) => number): Study => {
    const study = studyOf({ seeds, steps: 2 });
    return study.cells.reduce((now, _, n) => {
      const next = afterEvents(now, n, rollout(1), updated(1, 1), measured(1, 1), rollout(2), updated(2, 1));
      const ended = afterEvents(next, n, measured(2, wins(n)));
      return { ...ended, cells: ended.cells.map((c, i) => (i === n ? { ...c, state: "done" as const } : c)) };
    }, study);
  };

  it("are those of gcopd experiment: a table per checkpoint, cells, and what deviates", () => {
    const study = whole(2, (n) => (n % 2 === 0 ? 1 : 2));
    expect(studyTables(study).map(({ checkpoint }) => checkpoint)).toEqual(["final", "step-1", "step-2"]);
    const results: ExperimentResults = studyResults(study);
    expect(results).toMatchObject({ episodes_per_cell: 16, deviations: [], training_seeds: [1, 2] });
    expect(results.cells.map(({ steps, episodes }) => [steps, episodes.sampled])).toEqual(
      Array.from({ length: 4 }, () => [2, 16]),
    );
    expect(results.tables[0]!.methods.map(({ label, sr }) => [label, sr.n, sr.mean])).toEqual([
      ["Vanilla OPD", 2, 25],
      ["GC-OPD", 2, 50],
    ]);
    expect(recordedResultsSchema.safeParse(results).success).toBe(true);
  });

  it("say what is not finished", () => {
    const { deviations } = studyResults(afterEvents(studyOf({ seeds: 1 }), 0, rollout(1), updated(1, 1)));
    expect(deviations.map(({ part, kind }) => [part, kind])).toEqual([
      ["cells/opd-seed-1", "unfinished"],
      ["cells/gc-opd-seed-1", "unfinished"],
    ]);
  });

  it("tell nothing apart over few trainings, even where all agree", () => {
    const few = studyPairs(whole(2, (n) => (n % 2 === 0 ? 1 : 2)))!;
    expect(few).toMatchObject({ checkpoint: "final", pairs: [{ n: 2, difference: 25, toldApart: false }] });
    const many = studyPairs(whole(6, (n) => (n % 2 === 0 ? 1 : 2)))!;
    expect(many.pairs[0]).toMatchObject({ n: 6, difference: 25, toldApart: true });
    const noise = studyPairs(whole(6, (n) => (n % 4 === 0 ? 1 : 2)))!;
    expect(noise.pairs[0]!.toldApart).toBe(false);
  });

  it("are drawn again as bands", () => {
    const text = JSON.stringify(studyResults(whole(2, () => 2)));
    const { bands, evaluation } = readRecorded(text, "results.json");
    expect(evaluation).toBe("unseen");
    expect(bands.map(({ label, points }) => [label, points.map(({ steps, mean }) => [steps, mean])])).toEqual(
      ["Vanilla OPD", "GC-OPD"].map((label) => [
        label,
        [
          [0, 25],
          [1, 25],
          [2, 50],
        ],
      ]),
    );
  });
});

describe("readRecorded", () => {
  it("names what is wrong with another file", () => {
    expect(() => readRecorded("{", "a.json")).toThrow("a.json: not JSON");
    expect(() => readRecorded('{"format":"gcopd.gate.v1"}', "a.json")).toThrow("a.json, format:");
  });
});
