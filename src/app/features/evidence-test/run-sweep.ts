/**
 * The evidence test over one property of the library: the same few decisions with more and more of its sources, and how
 * many tasks have a success among them.
 */
import { create } from "zustand";
import { GATE_CONTEXTS, type GateDecision, type GateSummary, gateOrder } from "../../../core/gate/index.ts";
import { type SourceSelection, sourcesKey } from "../../../core/retrieval/selection.ts";
import { remaining } from "../../base/eta.ts";
import {
  GATE_SEED,
  type GateSetting,
  SUBSET_SHARES,
  type SubsetShare,
} from "../../compute/gate/gate-store.ts";
import {
  gateSelection,
  gateSetting,
  optimalWithModels,
  PassPlan,
  prepareCase,
  scoreCases,
} from "../../compute/gate/run-gate.ts";
import { scoringRuns } from "../../compute/scoring/scoring-run.ts";
import { getUi } from "../../compute/store.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { KnownOptimal } from "../../data/model.ts";

interface Sweep {
  /** What it is drawn over, from least to most. */
  values: readonly number[];
  /** The sources with one of these values, whatever they had. */
  at(selection: SourceSelection, value: number): SourceSelection;
  /** One of them, after "with". */
  words(value: number): string;
}

const percent = (share: number): string => `${100 * share} %`;

const bySubset = (key: SubsetShare, words: (share: string) => string): Sweep => ({
  values: SUBSET_SHARES,
  at: (selection, share) => ({ ...selection, subset: { ...selection.subset, [key]: share } }),
  words: (share) => words(percent(share)),
});

export const SWEEPS = {
  /** The nested source budgets. */
  k: {
    values: [1, 2, 4, 8, 16],
    at: (selection, sourcesPerTask) => ({ ...selection, sourcesPerTask }),
    words: (k) => `K = ${k}`,
  },
  /** Tasks that keep their successes. */
  coverage: bySubset("successTasks", (share) => `successes of ${share} of the covered tasks`),
  failures: bySubset("failures", (share) => `${share} of the failed records`),
} as const satisfies Record<string, Sweep>;

export type SweepId = keyof typeof SWEEPS;

export const SWEEP_IDS = ["k", "coverage", "failures"] as const satisfies SweepId[];

/** The key of the job in the store's `scoring`. */
export const SWEEP_KEY = "gate-sweep";

/** Decisions of the sample: the first of the test's own order. */
export const SWEEP_DECISIONS = 48;

/** Decisions that one call scores. */
const TOGETHER = 4;

export interface Swept extends GateSetting {
  sweep: SweepId;
  tasks: number;
  /** By rising value; one whose decisions are not all scored yet has no summary. */
  rows: readonly {
    value: number;
    /** Tasks with a trusted success among their sampled sources. */
    covered: number;
    decisions: readonly GateDecision[];
    looked: number;
    summary: GateSummary | null;
  }[];
}

/** Everything that was drawn while the page is open, and which of them is looked at. */
export const useSweeps = create<{ shown: SweepId; drawn: readonly Swept[] }>(() => ({
  shown: "k",
  drawn: [],
}));

/** What is asked for now: whatever the swept property is, and every context. */
export function sweepSetting(
  sweep: SweepId,
  library: string,
  known: KnownOptimal,
  selection: SourceSelection,
): GateSetting {
  const { values, at }: Sweep = SWEEPS[sweep];
  return gateSetting(library, known, at(selection, values.at(-1)!), GATE_CONTEXTS);
}

/** What was drawn of a setting. */
export function presentSweep(
  drawn: readonly Swept[],
  sweep: SweepId,
  { library, selection, weights, known, teacherFrom }: GateSetting,
): Swept | null {
  return (
    drawn.find(
      (each) =>
        each.sweep === sweep &&
        each.library === library &&
        sourcesKey(each.selection) === sourcesKey(selection) &&
        each.weights === weights &&
        each.known === known &&
        each.teacherFrom === teacherFrom,
    ) ?? null
  );
}

/** Scores on from what is there, value by value. */
export async function scoreSweep(sweep: SweepId = useSweeps.getState().shown): Promise<void> {
  const { library, place } = getUi();
  if (library === null) return;
  useSweeps.setState({ shown: sweep });
  const known = await optimalWithModels(library);
  if (known === null) return;
  const { values, at, words }: Sweep = SWEEPS[sweep];
  await scoringRuns.run("gate-sweep", SWEEP_KEY, async (run) => {
    await run.open("teacher");
    const selection = gateSelection(place);
    const setting = sweepSetting(sweep, library.id, known, selection);
    const begin = async (): Promise<Swept> => {
      const { tasks, covered } = await run.wait(
        libraryWorker().coverage(
          library.id,
          values.map((value) => at(selection, value)),
        ),
      );
      const rows = values.map((value, n) => ({
        ...{ value, covered: covered[n]!, decisions: [], looked: 0, summary: null },
      }));
      return { ...setting, sweep, tasks, rows };
    };
    let present = presentSweep(useSweeps.getState().drawn, sweep, setting) ?? (await begin());
    const tell = (rows: Swept["rows"]): void => {
      const before = present;
      present = { ...present, rows };
      useSweeps.setState(({ drawn }) => ({ drawn: [...drawn.filter((each) => each !== before), present] }));
    };
    tell(present.rows);
    const order = gateOrder(known.decisions, GATE_SEED, SWEEP_DECISIONS);
    const total = order.length * values.length;
    const looked = (): number => present.rows.reduce((sum, row) => sum + row.looked, 0);
    const plan = new PassPlan(run);
    const began = performance.now();
    const from = looked();
    const units = Array.from({ length: total - from }, () => 1);
    for (const [n, value] of values.entries()) {
      const of = { ...setting, selection: at(selection, value) };
      while (present.rows[n]!.looked < order.length) {
        const eta = remaining(units, looked() - from, (performance.now() - began) / 1000);
        run.show(`Scoring with ${words(value)}`, looked(), total, eta, "decisions");
        const row = present.rows[n]!;
        const some = order.slice(row.looked, row.looked + TOGETHER);
        const found = await run.wait(Promise.all(some.map((each) => prepareCase(each, of))));
        const cases = found.flatMap((each) => ("reason" in each ? [] : [each]));
        let decisions = row.decisions;
        if (cases.length > 0) {
          await plan.cover(cases);
          if (getUi().scoring.status === "cancelling") throw new DOMException("stopped", "AbortError");
          decisions = [...decisions, ...(await scoreCases(run, cases))];
        }
        const next = row.looked + some.length;
        const summary =
          next < order.length || decisions.length === 0
            ? null
            : await run.wait(libraryWorker().gateSummary(decisions, GATE_SEED));
        tell(
          present.rows.map((each, place) =>
            place === n ? { ...each, decisions, looked: next, summary } : each,
          ),
        );
      }
    }
  });
}
