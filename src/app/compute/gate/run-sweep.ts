/** The evidence test over K: the same few decisions with the first 1, 2, 4, … sources of each task, and the coverage of each. */
import { create } from "zustand";
import { GATE_CONTEXTS, type GateDecision, type GateSummary, gateOrder } from "../../../core/gate/index.ts";
import type { CoverageRow } from "../../../core/statistics/index.ts";
import { remaining } from "../../base/eta.ts";
import type { KnownOptimal } from "../../data/library/known-optimal.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { Place } from "../../url/place.ts";
import { runScoring } from "../scoring/scoring-run.ts";
import { getUi } from "../store.ts";
import { GATE_SEED, type GateSetting } from "./gate-store.ts";
import { gateSetting, optimalWithModels, PassPlan, prepareCase, scoreCases } from "./run-gate.ts";

export const OVER_K = [1, 2, 4, 8, 16] as const;

/** The key of the job in the store's `scoring`. */
export const OVER_K_KEY = "gate-over-k";

/** Decisions of the sample: the first of the test's own order. */
export const OVER_K_DECISIONS = 48;

/** Decisions that one call scores. */
const TOGETHER = 4;

export interface OverK extends GateSetting {
  coverage: { tasks: number; rows: readonly CoverageRow[] };
  /** By rising K; one whose decisions are not all scored yet has no summary. */
  rows: readonly {
    k: number;
    decisions: readonly GateDecision[];
    looked: number;
    summary: GateSummary | null;
  }[];
}

/** Everything that was drawn while the page is open. */
export const useOverK = create<{ drawn: readonly OverK[] }>(() => ({ drawn: [] }));

/** What is asked for now: the sources without a limit, and every context. */
export function overKSetting(
  library: string,
  known: KnownOptimal,
  place: Pick<Place, "augmentation">,
): GateSetting {
  return gateSetting(library, known, { budget: null, augmentation: place.augmentation }, GATE_CONTEXTS);
}

/** What was drawn of a setting. */
export function presentOverK(drawn: readonly OverK[], setting: GateSetting): OverK | null {
  const key = ({ library, selection, weights }: GateSetting): string =>
    JSON.stringify([library, selection, weights]);
  return (
    drawn.find(
      (each) =>
        key(each) === key(setting) &&
        each.known === setting.known &&
        each.teacherFrom === setting.teacherFrom,
    ) ?? null
  );
}

/** Scores on from what is there, K by K. */
export async function scoreOverK(): Promise<void> {
  const { library, place } = getUi();
  if (library === null) return;
  const known = await optimalWithModels(library);
  if (known === null) return;
  await runScoring("gate-over-k", OVER_K_KEY, async (run) => {
    await run.open("teacher");
    const setting = overKSetting(library.id, known, place);
    let present: OverK = presentOverK(useOverK.getState().drawn, setting) ?? {
      ...setting,
      coverage: await run.wait(libraryWorker().coverage(library.id, OVER_K)),
      rows: OVER_K.map((k) => ({ k, decisions: [], looked: 0, summary: null })),
    };
    const tell = (rows: OverK["rows"]): void => {
      const before = present;
      present = { ...present, rows };
      useOverK.setState(({ drawn }) => ({ drawn: [...drawn.filter((each) => each !== before), present] }));
    };
    tell(present.rows);
    const order = gateOrder(known.decisions, GATE_SEED, OVER_K_DECISIONS);
    const total = order.length * OVER_K.length;
    const looked = (): number => present.rows.reduce((sum, row) => sum + row.looked, 0);
    const plan = new PassPlan(run);
    const began = performance.now();
    const from = looked();
    const units = Array.from({ length: total - from }, () => 1);
    for (const [n, { k }] of present.rows.entries()) {
      const of = { ...setting, selection: { ...setting.selection, sourcesPerTask: k } };
      while (present.rows[n]!.looked < order.length) {
        const eta = remaining(units, looked() - from, (performance.now() - began) / 1000);
        run.show(`Scoring with K = ${k}`, looked(), total, eta, "decisions");
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
        tell(present.rows.map((each, at) => (at === n ? { k, decisions, looked: next, summary } : each)));
      }
    }
  });
}
