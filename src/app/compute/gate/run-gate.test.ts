import { beforeEach, expect, it, vi } from "vitest";
import { librarySummary } from "../../../../test/support/summaries.ts";
import { DeviceError, InputError } from "../../../core/errors.ts";
import { GATE_CONTEXTS, type GateCase, summarizeGate } from "../../../core/gate/index.ts";
import type { EngineInfo } from "../../../core/ports.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { KnownOptimal, OptimalDecision } from "../../data/model.ts";
import type { Shipped } from "../../url/library-link.ts";
import { HOME } from "../../url/place.ts";
import { useOptimal } from "../open/optimal.ts";
import { scoringRuns } from "../scoring/scoring-run.ts";
import { getUi, setUi } from "../store.ts";
import { useGate } from "./gate-store.ts";
import { gateSetting, presentGate, scoreGate } from "./run-gate.ts";

/** What the workers do, and what is open. */
const fake = vi.hoisted(() => ({
  source: "sample" as Shipped | FolderFiles,
  take: async (): Promise<void> => {},
  prepare: async (): Promise<void> => {},
  summary: async (): Promise<void> => {},
  scored: 0,
  ended: 0,
}));

vi.mock("../models/models.ts", async (original) => {
  const { Models } = await original<typeof import("../models/models.ts")>();
  const api = {
    takePasses: async () => undefined,
    abort: async () => undefined,
    score: async (_: string, requests: readonly { responseIds: readonly number[] }[]) => {
      fake.scored += 1;
      return requests.map(({ responseIds }) => ({ logprobs: new Float32Array(responseIds.length).fill(-1) }));
    },
  };
  const client = async () => ({ api });
  const endWorker = (): void => {
    fake.ended += 1;
  };
  return {
    models: Object.assign(Object.create(Models.prototype), {
      source: () => fake.source,
      takeShipped: () => fake.take(),
      worker: client,
      ensure: client,
      ensureTokenizers: async () => undefined,
      endWorker,
      endFailed: endWorker,
    }),
  };
});
vi.mock("../models/memory.ts", () => ({
  memory: () => ({ weights: "f32" }),
  requirePlan: async () => ({}),
}));
vi.mock("../scoring/score.ts", () => ({ planScoring: async () => ({}) }));
vi.mock("../../data/library-client.ts", () => ({
  libraryWorker: () => ({
    tasks: {
      gateCase: async (each: OptimalDecision): Promise<GateCase> => {
        await fake.prepare();
        const { environment, task, episode, decision } = each;
        const requests = [{ id: "0", promptIds: [1], responseIds: [2] }];
        return {
          ...{ environment, task, episode, decision, requests },
          actions: [{ action: "go", optimal: true, taken: true }],
          contexts: GATE_CONTEXTS.map((context) => ({ context, promptTokens: 1, read: 0 })),
        };
      },
    },
    gateSummary: async (...asked: Parameters<typeof summarizeGate>) => {
      await fake.summary();
      return summarizeGate(...asked);
    },
  }),
}));

const optimal = (): KnownOptimal => ({
  file: "o.jsonl",
  decisions: Array.from({ length: 8 }, (_, n) => ({
    ...{ environment: "e", task: "t", episode: `e${n}`, decision: 0, optimal: ["go"] },
  })),
});
const info = { model: "tiny", dtype: "f32" } as EngineInfo;
const link = { library: "own", disk: [], addresses: [] };
const own = librarySummary(link, [], { id: "own" });
const other = librarySummary(link, [], { id: "other" });

/** The results that the page shows. */
function shown() {
  const { gate, contexts } = useGate.getState();
  return presentGate(gate, gateSetting("own", useOptimal.getState().own!, {}, contexts));
}

beforeEach(() => {
  const nothing = async (): Promise<void> => {};
  Object.assign(fake, { source: "sample", take: nothing, prepare: nothing, summary: nothing });
  Object.assign(fake, { scored: 0, ended: 0 });
  useGate.setState({ gate: null, limit: null });
  useOptimal.setState({ own: optimal() }, true);
  const teacher = { info, origin: "sample", steps: 0 } as const;
  setUi({ library: own, place: HOME, notice: null, scoring: { status: "idle" } });
  setUi({ models: { teacher, student: null } });
});

it("shows figures for their teacher and their optimal actions alone, and scores all again for others", async () => {
  await scoreGate();
  expect(shown()).toMatchObject({ leftOut: [], summary: { decisions: 8 } });
  // Two libraries that lie beside the page have models of their own.
  fake.source = "miniature";
  expect(shown()).toBeNull();
  fake.source = { name: "mine", files: new Map() };
  expect(shown()).toBeNull();
  await scoreGate();
  expect(shown()?.decisions).toHaveLength(8);
  useOptimal.setState({ own: optimal() });
  expect(shown()).toBeNull();
  await scoreGate();
  expect(shown()?.decisions).toHaveLength(8);
});

it("leaves out a decision that is at fault, and fails with a fault of the workbench or the device", async () => {
  let asked = 0;
  fake.prepare = async () => {
    asked += 1;
    if (asked === 2) throw new InputError("carries no prompt");
  };
  await scoreGate();
  expect(shown()?.leftOut).toMatchObject([{ reason: "carries no prompt" }]);
  expect(shown()?.decisions).toHaveLength(7);

  useGate.setState({ gate: null });
  fake.prepare = async () => {
    throw new DeviceError("the device is gone", "lost");
  };
  await scoreGate();
  expect(getUi().scoring).toMatchObject({
    status: "failed",
    message: "the device is gone. The next work opens another.",
  });
  expect(shown()).toBeNull();
});

it("can be asked again where no decision could be scored", async () => {
  fake.prepare = async () => {
    throw new InputError("carries no prompt");
  };
  await scoreGate();
  expect(getUi().scoring).toMatchObject({
    status: "failed",
    message: "no decision can be scored: carries no prompt",
  });
  expect(shown()).toBeNull();
  fake.prepare = async () => {};
  await scoreGate();
  expect(shown()?.decisions).toHaveLength(8);
});

it.each(["prepare", "summary"] as const)(
  "stops between two passes and keeps worker and figures: at %s",
  async (where) => {
    let asked = 0;
    let stopped: Promise<void> | null = null;
    fake[where] = async () => {
      asked += 1;
      // The second one stands for a pass that is over.
      if (stopped !== null || fake.scored === 0 || asked < 2) return;
      stopped = scoringRuns.cancel();
    };
    // Each pass is followed by figures.
    const now = vi.spyOn(performance, "now");
    let clock = 0;
    now.mockImplementation(() => {
      clock += 1000;
      return clock;
    });
    await scoreGate();
    now.mockRestore();
    expect(stopped).not.toBeNull();
    expect(getUi().scoring.status).toBe("idle");
    const scored = fake.scored;
    expect(scored).toBeLessThan(8);
    expect(shown()?.decisions).toHaveLength(scored);
    await stopped;
    expect(fake.ended).toBe(0);
    await scoreGate();
    expect(new Set(shown()?.decisions.map(({ episode }) => episode)).size).toBe(8);
    expect(shown()?.decisions).toHaveLength(8);
  },
);

it("says that a tokenizer is out of reach, and does not begin", async () => {
  fake.take = async () => {
    throw new InputError("tokenizer.json: not found");
  };
  await scoreGate();
  expect(getUi().notice).toEqual({ kind: "error", text: "tokenizer.json: not found" });
  expect(fake.scored).toBe(0);
});

it("does not begin where another library is shown before its models are taken", async () => {
  fake.take = async () => setUi({ library: other });
  await scoreGate();
  expect(fake.scored).toBe(0);
  expect(useGate.getState().gate).toBeNull();
});

it("goes on with its library while another one is shown", async () => {
  fake.prepare = async () => {
    if (fake.scored > 0) setUi({ library: other });
  };
  await scoreGate();
  expect(shown()).toMatchObject({ library: "own", decisions: { length: 8 } });
});

it("forgets a test that was asked for where the page goes elsewhere", () => {
  setUi({ place: { ...HOME, library: "miniature", view: "evidence-test" } });
  useGate.setState({ wanted: true });
  setUi({ place: { ...getUi().place, episode: "e0" } });
  expect(useGate.getState().wanted).toBe(true);
  setUi({ place: HOME });
  expect(useGate.getState().wanted).toBe(false);
});
