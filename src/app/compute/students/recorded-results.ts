/** Recorded results of `gcopd experiment`, as bands behind the students of the page. Pure. */
import { InputError } from "../../../core/errors.ts";
import { type RecordedResults, recordedResultsSchema } from "../../../core/loop/index.ts";
import { checkedBy } from "../../../core/record/describe-issue.ts";
import type { CurvePoint } from "./study.ts";

export interface RecordedBand {
  method: string;
  label: string;
  points: CurvePoint[];
}

export interface RecordedBands {
  file: string;
  /** The evaluation that they are of: the first in the file. */
  evaluation: string;
  bands: RecordedBand[];
}

/** @throws InputError for a file that is no results.json of an experiment, and for one without any curve */
export function readRecorded(text: string, file: string): RecordedBands {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InputError("not JSON; expected the results.json of gcopd experiment", { file });
  }
  const results = checkedBy(recordedResultsSchema, value, { file });
  const { evaluation } = results.tables[0]!;
  const tables = results.tables.filter((table) => table.evaluation === evaluation);
  const methods = new Map(
    tables.flatMap((table) => table.methods.map(({ method, label }) => [method, label])),
  );
  const bands = [...methods].map(([method, label]): RecordedBand => {
    const byStep = new Map<number, CurvePoint>();
    for (const { checkpoint, untrained, methods: rows } of tables) {
      const row = rows.find((each) => each.method === method);
      const steps = stepsOf(checkpoint, method, results);
      if (untrained !== null) byStep.set(0, { steps: 0, n: 1, mean: untrained.sr.mean, interval: null });
      if (row !== undefined && steps !== null) byStep.set(steps, { steps, ...row.sr });
    }
    return { method, label, points: [...byStep.values()].sort((a, b) => a.steps - b.steps) };
  });
  const drawn = bands.filter(({ points }) => points.some(({ steps }) => steps > 0));
  if (drawn.length === 0)
    throw new InputError("has no student of a known number of steps", { file, key: "tables" });
  return { file, evaluation, bands: drawn };
}

/** Optimizer steps of a kind of checkpoint; null where they are not known, or differ between the cells of a method. */
function stepsOf(checkpoint: string, method: string, { cells }: RecordedResults): number | null {
  const step = /^step-(\d+)$/.exec(checkpoint)?.[1];
  if (step !== undefined) return Number(step);
  if (checkpoint !== "final") return null;
  const all = new Set(cells.flatMap((cell) => (cell.method === method ? [cell.steps] : [])));
  return all.size === 1 ? ([...all][0] ?? null) : null;
}
