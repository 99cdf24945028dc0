/** A comparison of the page in the files of `gcopd experiment`, and what its differences say. Pure. */
import { type GridTable, gridTable, type PlayedCell } from "../../../../core/evaluation/index.ts";
import { type ExperimentResults, experimentResults } from "../../../../core/loop/index.ts";
import type { StudentCell, Study } from "../../../compute/students/study.ts";

/**
 * Fewer trainings tell nothing apart: that all of n differences have one sign is chance 2 × 0.5ⁿ of the time, and from
 * six on below 5 %.
 */
export const FEWEST_TRAININGS = 6;

const EVALUATION = "unseen";

/** A table per kind of checkpoint, in the order of results.json: the final one, then the steps. */
export function studyTables({ grid, cells, untrained, choices }: Study): GridTable[] {
  const steps = [...new Set(cells.flatMap(({ measured }) => measured.map((each) => each.steps)))]
    .filter((at) => at % choices.every === 0)
    .sort((a, b) => a - b);
  const played = (checkpoint: string, at: (cell: StudentCell) => number | null): GridTable[] => {
    const found = cells.flatMap((cell): PlayedCell[] => {
      const measured = cell.measured.find((each) => each.steps === at(cell));
      return measured === undefined
        ? []
        : [{ method: cell.method, seed: cell.seed, episodes: measured.episodes }];
    });
    if (found.length === 0) return [];
    const about = { evaluation: EVALUATION, environment: "alfworld", checkpoint, methods: grid.methods };
    const table = gridTable({ ...about, cells: found, untrained: untrained?.episodes ?? null });
    return table === null ? [] : [table];
  };
  return [
    ...played("final", ({ state, total }) => (state === "done" ? total : null)),
    ...steps.flatMap((at) => played(`step-${at}`, () => at)),
  ];
}

/** What `gcopd experiment` writes of the same cells. */
export function studyResults(study: Study): ExperimentResults {
  const { grid, cells, tasks } = study;
  return experimentResults(grid, {
    environment: "alfworld",
    tasks,
    tables: studyTables(study),
    cells: grid.cells.map((cell) => {
      const { state, done, batches } = cells.find(({ run }) => run.name === cell.run)!;
      const all = Object.values(batches);
      const sum = (of: (batch: (typeof all)[number]) => number): number =>
        all.reduce((total, batch) => total + of(batch), 0);
      return {
        ...cell,
        steps: state === "done" ? done : null,
        episodes: {
          sampled: sum(({ sampled }) => sampled),
          left_out: sum(({ leftOut }) => leftOut),
          no_turn: sum(({ noTurn }) => noTurn),
        },
      };
    }),
    deviations: cells.flatMap(({ run, state, reason, done, total }) =>
      state === "done"
        ? []
        : [
            {
              part: run.name,
              kind: state === "failed" ? "failed" : "unfinished",
              reason: reason ?? `${done} of ${total} steps are taken`,
            },
          ],
    ),
  });
}

/** The file of a comparison: its results, and what they came from. */
export function studyFile(study: Study) {
  const { config, oracle, about, cells } = study;
  const updates = cells.map(({ run, updates }) => ({ run: run.name, updates }));
  return { ...studyResults(study), config, oracle, about, updates };
}

/** Two methods on the same training seeds and tasks. */
export interface StudyPair {
  a: string;
  b: string;
  n: number;
  /** SR of a less SR of b, in points. */
  difference: number;
  interval: readonly [number, number] | null;
  toldApart: boolean;
}

/** The differences after the latest step that at least two methods reached; null before there is one. */
export function studyPairs(study: Study): { checkpoint: string; pairs: StudyPair[] } | null {
  const tables = studyTables(study);
  const [final] = tables.filter(({ checkpoint }) => checkpoint === "final");
  const whole = final?.methods.every(({ sr }) => sr.n === study.grid.seeds.length) ? final : undefined;
  const latest = whole ?? tables.findLast(({ comparisons }) => comparisons.length > 0);
  if (latest === undefined || latest.comparisons.length === 0) return null;
  const labels = new Map(study.grid.methods.map(({ id, label }) => [id, label]));
  return {
    checkpoint: latest.checkpoint,
    pairs: latest.comparisons.map(({ a, b, sr: { n, mean, interval } }) => ({
      ...{ a: labels.get(a) ?? a, b: labels.get(b) ?? b, n, difference: mean, interval },
      toldApart: n >= FEWEST_TRAININGS && interval !== null && (interval[0] > 0 || interval[1] < 0),
    })),
  };
}
