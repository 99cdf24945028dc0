/** The table that shows whether evidence means something to the teacher on tasks that it never saw. */
import {
  type SourceActionCase,
  type SourceActionResult,
  scoreSourceActions,
  sourceActionCases,
} from "../../core/loop/source-action.ts";
import type { Scorer } from "../../core/ports.ts";
import type { Sample } from "./sample.ts";
import { plain, signed, table } from "./table.ts";

/** Every decision of the kept-out tasks at which a successful source with a next action is retained by its state. */
export async function keptOutCases(sample: Sample): Promise<SourceActionCase[]> {
  const cases: SourceActionCase[] = [];
  for (const episode of sample.episodes) {
    if (!sample.keptOutTasks.includes(episode.task)) continue;
    cases.push(
      ...(await sourceActionCases(sample.prepared(episode.task), episode, sample.contexts, sample.codec)),
    );
  }
  return cases;
}

/** At most `count` cases of each task, spread evenly over its decisions. */
export function spread(cases: readonly SourceActionCase[], count: number): SourceActionCase[] {
  return [...new Set(cases.map(({ task }) => task))].flatMap((task) => {
    const all = cases.filter((item) => item.task === task);
    if (all.length <= count) return all;
    return Array.from({ length: count }, (_, i) => all[Math.floor(((i + 0.5) * all.length) / count)]!);
  });
}

export interface EvidenceWorth {
  text: string;
  /** Mean rise of the log-probability of the source's next action over all measured decisions, in nats. */
  rise: number;
}

/** Scores the chosen cases and prints one row per task and one for all. */
export async function evidenceWorth(
  teacher: Scorer,
  all: readonly SourceActionCase[],
  chosen: readonly SourceActionCase[],
  onCase: (done: number, total: number) => void,
  signal: AbortSignal,
): Promise<EvidenceWorth> {
  const results: SourceActionResult[] = [];
  for (const item of chosen) {
    results.push(...(await scoreSourceActions(teacher, [item], { signal })));
    onCase(results.length, chosen.length);
  }
  const mean = (rows: readonly SourceActionResult[], pick: (row: SourceActionResult) => number) =>
    rows.reduce((sum, row) => sum + pick(row), 0) / rows.length;
  const row = (name: string, rows: readonly SourceActionResult[], of: number) => [
    name,
    rows.length,
    of,
    plain(mean(rows, (r) => r.without)),
    plain(mean(rows, (r) => r.with)),
    signed(mean(rows, (r) => r.with - r.without)),
    rows.filter((r) => r.with > r.without).length,
  ];
  const tasks = [...new Set(chosen.map(({ task }) => task))];
  const rows = tasks.map((task) =>
    row(
      task,
      results.filter((r) => r.case.task === task),
      all.filter((item) => item.task === task).length,
    ),
  );
  if (tasks.length > 1) rows.push(row("both", results, all.length));
  return {
    text: table(["kept-out task", "measured", "of", "without", "with evidence", "rise", "rose in"], rows),
    rise: mean(results, (r) => r.with - r.without),
  };
}
