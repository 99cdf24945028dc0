import { beforeEach, expect, it, vi } from "vitest";
import { librarySummary } from "../../../../test/support/summaries.ts";
import { GATE_CONTEXTS, type GateCase, summarizeGate } from "../../../core/gate/index.ts";
import type { EngineInfo } from "../../../core/ports.ts";
import type { SourceSelection } from "../../../core/retrieval/selection.ts";
import type { LibrarySubset } from "../../../core/retrieval/subset.ts";
import { gateSelection } from "../../compute/gate/run-gate.ts";
import { useOptimal } from "../../compute/open/optimal.ts";
import { scoringRuns } from "../../compute/scoring/scoring-run.ts";
import { getUi, setUi } from "../../compute/store.ts";
import type { KnownOptimal, OptimalDecision } from "../../data/model.ts";
import { HOME } from "../../url/place.ts";
import { partOfLibrary } from "../../url/what-if.ts";
import { presentSweep, SWEEPS, type SweepId, scoreSweep, sweepSetting, useSweeps } from "./run-sweep.ts";

const fake = vi.hoisted(() => ({
  asked: [] as [decision: string, selection: SourceSelection][],
  prepare: async (): Promise<void> => {},
  coverage: 0,
}));

vi.mock("../../compute/models/models.ts", async (original) => {
  const { Models } = await original<typeof import("../../compute/models/models.ts")>();
  const api = {
    takePasses: async () => undefined,
    abort: async () => undefined,
    score: async (_: string, requests: readonly { responseIds: readonly number[] }[]) =>
      requests.map(({ responseIds }) => ({ logprobs: new Float32Array(responseIds.length).fill(-1) })),
  };
  return {
    models: Object.assign(Object.create(Models.prototype), {
      source: () => "sample",
      takeShipped: async () => undefined,
      ensure: async () => ({ api }),
      ensureTokenizers: async () => undefined,
      worker: async () => ({ api }),
      endWorker: () => undefined,
    }),
  };
});
vi.mock("../../compute/models/memory.ts", () => ({
  memory: () => ({ weights: "f32" }),
  requirePlan: async () => ({}),
}));
vi.mock("../../compute/scoring/score.ts", () => ({ planScoring: async () => ({}) }));
vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({
    coverage: async (_: string, selections: readonly SourceSelection[]) => {
      fake.coverage += 1;
      return { tasks: 2, covered: selections.map(({ sourcesPerTask: k = 0 }) => (k > 2 ? 2 : 1)) };
    },
    tasks: {
      gateCase: async (each: OptimalDecision, selection: SourceSelection): Promise<GateCase> => {
        await fake.prepare();
        fake.asked.push([each.episode, selection]);
        const { environment, task, episode, decision } = each;
        return {
          ...{
            environment,
            task,
            episode,
            decision,
            requests: [{ id: "0", promptIds: [1], responseIds: [2] }],
          },
          actions: [{ action: "go", optimal: true, taken: true }],
          contexts: GATE_CONTEXTS.map((context) => ({ context, promptTokens: 1, read: 0 })),
        };
      },
    },
    gateSummary: async (...asked: Parameters<typeof summarizeGate>) => summarizeGate(...asked),
  }),
}));

const known: KnownOptimal = {
  file: "o.jsonl",
  decisions: Array.from({ length: 6 }, (_, n) => ({
    ...{ environment: "e", task: "t", episode: `e${n}`, decision: 0, optimal: ["go"] },
  })),
};
const present = (augmentation = true, sweep: SweepId = "k") =>
  presentSweep(
    useSweeps.getState().drawn,
    sweep,
    sweepSetting(sweep, "own", known, gateSelection({ ...getUi().place, sourcesPerTask: 4, augmentation })),
  );

const showPart = (subset: LibrarySubset): void =>
  setUi(({ place }) => ({ place: { ...place, subset: partOfLibrary(subset) } }));

beforeEach(() => {
  Object.assign(fake, { asked: [], coverage: 0, prepare: async () => {} });
  useSweeps.setState({ shown: "k", drawn: [] });
  useOptimal.setState({ own: known }, true);
  const library = librarySummary({ library: "own", disk: [], addresses: [] }, [], { id: "own" });
  setUi({ library, place: { ...HOME, sourcesPerTask: 4 }, notice: null, scoring: { status: "idle" } });
  const teacher = { info: { model: "tiny" } as EngineInfo, origin: "sample", steps: 0 } as const;
  setUi({ models: { teacher, student: null } });
});

it("scores the same decisions with each K, whatever K the page shows, and keeps what was drawn", async () => {
  await scoreSweep();
  const { rows, tasks } = present()!;
  const { values } = SWEEPS.k;
  expect(rows.map(({ value, summary }) => [value, summary?.decisions])).toEqual(values.map((k) => [k, 6]));
  for (const k of values)
    expect(new Set(fake.asked.filter(([, { sourcesPerTask }]) => sourcesPerTask === k)).size).toBe(6);
  expect([tasks, ...rows.map(({ covered }) => covered)]).toEqual([2, 1, 1, 2, 2, 2]);

  // Other sources are drawn beside it; those before are not scored again.
  expect(present(false)).toBeNull();
  setUi({ place: { ...HOME, augmentation: false } });
  await scoreSweep();
  expect(present(false)!.rows).toHaveLength(values.length);
  expect(present()!.rows[0]!.summary).not.toBeNull();
  const asked = fake.asked.length;
  await scoreSweep();
  expect(fake.asked).toHaveLength(asked);
  expect(fake.coverage).toBe(2);
});

it("draws over coverage with the K, and the share of failures, that the page shows", async () => {
  showPart({ successTasks: 0.25, failures: 0.5 });
  await scoreSweep("coverage");
  const { values } = SWEEPS.coverage;
  expect(present(true, "coverage")!.rows.map(({ summary }) => summary?.decisions)).toEqual(
    values.map(() => 6),
  );
  const asked = new Set(fake.asked.map(([, selection]) => JSON.stringify(selection)));
  expect([...asked].map((each) => JSON.parse(each))).toEqual(
    values.map((successTasks) => ({ subset: { successTasks, failures: 0.5 }, sourcesPerTask: 4 })),
  );
  // The share that the page shows is not the curve's; its share of failures is.
  showPart({ failures: 0.5 });
  expect(present(true, "coverage")).not.toBeNull();
  showPart({});
  expect(present(true, "coverage")).toBeNull();
  expect(present(true, "failures")).toBeNull();
});

it("stopped, it goes on where it was", async () => {
  let calls = 0;
  let stopped: Promise<void> | null = null;
  fake.prepare = async () => {
    calls += 1;
    if (calls === 5) stopped = scoringRuns.cancel();
  };
  await scoreSweep();
  await stopped;
  expect(getUi().scoring.status).toBe("idle");
  expect(present()!.rows.map(({ looked }) => looked)).toEqual([4, 0, 0, 0, 0]);
  fake.prepare = async () => {};
  await scoreSweep();
  expect(present()!.rows.every(({ summary }) => summary?.decisions === 6)).toBe(true);
});
