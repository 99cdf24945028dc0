import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { getUi, setUi } from "../store.ts";
import { cancelScoring, runScoring, type ScoringRun } from "./scoring-run.ts";

/** What the device was asked for, and how often its worker was ended. */
const fake = vi.hoisted(() => ({ asked: 0, ended: 0 }));

vi.mock("../models/models.ts", async (original) => {
  const { Models } = await original<typeof import("../models/models.ts")>();
  const asked = async (): Promise<unknown[]> => {
    fake.asked += 1;
    return [{}];
  };
  const client = async () => ({ api: { score: asked, loadOther: asked, abort: () => undefined } });
  return {
    models: Object.assign(Object.create(Models.prototype), {
      worker: client,
      ensure: async () => {
        await asked();
        return client();
      },
      ensureTokenizers: async () => undefined,
      endWorker: () => {
        fake.ended += 1;
      },
    }),
  };
});

beforeEach(() => {
  vi.useFakeTimers();
  Object.assign(fake, { asked: 0, ended: 0 });
  setUi({ scoring: { status: "idle" } });
});
afterEach(() => vi.useRealTimers());

const pass = { model: "teacher", label: "", promptIds: [1], responseIds: [2] } as const;
const folder: FolderFiles = { name: "m", files: new Map() };

it.each<[string, (run: ScoringRun) => unknown]>([
  ["a model", (run) => run.open("student")],
  ["a further model", (run) => run.openOther(folder)],
  ["a pass", (run) => run.score([pass], () => undefined)],
  ["several sequences", (run) => run.together("teacher", [pass], {})],
  [
    "a job",
    (run) => run.runJobs([{ label: "", tokens: 1 }], (_, call) => call("teacher", [pass], {}).then()),
  ],
  [
    "something else",
    (run) => {
      run.checkStop();
      fake.asked += 1;
    },
  ],
])(
  "stopped between two passes, a run asks the device for nothing more and keeps its worker: %s",
  async (_, ask) => {
    let stopped: Promise<void> | null = null;
    await runScoring("left-out", "key", async (run) => {
      await run.open("teacher");
      expect(fake.asked).toBe(1);
      stopped = cancelScoring();
      // What is not of the device may come in between, and is kept.
      expect(await run.wait(Promise.resolve("text"))).toBe("text");
      await ask(run);
    });
    expect(fake.asked).toBe(1);
    expect(getUi().scoring.status).toBe("idle");
    await vi.runAllTimersAsync();
    await stopped;
    expect(fake.ended).toBe(0);
  },
);
