import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { DeviceError, InputError } from "../../../core/errors.ts";
import type { EngineInfo } from "../../../core/ports.ts";
import type { ComputeClient } from "../../compute/clients.ts";
import type { KeptLiveRun, LiveOutcome, LiveRunEvent, LiveRunPlan } from "../../compute/runs/live-run.ts";
import { getUi, setUi } from "../../compute/store.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { LiveRuns } from "./live-runs.ts";
import { type LiveRun, liveRunOf, useLiveRuns } from "./live-runs-store.ts";

type Clients = ConstructorParameters<typeof LiveRuns>[0];

const PLAN: LiveRunPlan = {
  ...{ kind: "collect", role: "student", environment: "alfworld", tasks: ["a"], at_once: 1 },
  ...{ repetitions: 1, planner: false },
};
const OUTCOME: LiveOutcome = { task: "a", type: null, seed: 0, success: true, score: null, decisions: 1 };

/** What the compute worker plays, and what it says of it. */
let playing: Pending;
let say: (event: LiveRunEvent) => void;
let kept: Map<string, KeptLiveRun>;
let owned: Set<string>;
let folder: FolderFiles;
let api: ComputeClient["api"];
let clients: Clients;
let runs: LiveRuns;

beforeEach(() => {
  playing = new Pending();
  [kept, owned] = [new Map(), new Set()];
  folder = { name: "student", files: new Map([["config.json", new Blob(["{}"])]]) };
  api = fake<ComputeClient["api"]>({
    playLive: vi.fn((_, emit) => {
      say = emit as typeof say;
      return playing.promise;
    }),
  });
  const client = fake<ComputeClient>({ api });
  clients = {
    models: fake<Clients["models"]>({
      ensure: vi.fn(async () => client),
      folder: async () => folder,
      endWorker: vi.fn(),
      stopWork: vi.fn(async (goesOn: () => boolean) => goesOn()),
    }),
    archive: fake<Clients["archive"]>({
      keepLiveRun: vi.fn(async (run) => kept.set(run.id, run)),
      keptOutcomes: async () => new Map(),
      keptRecord: async (_, episode) => (episode === "kept" ? { episode } : undefined),
      dropLiveRun: async (id) => void kept.delete(id),
    }),
    locks: fake<Clients["locks"]>({
      ownRun: vi.fn(async (id) => owned.add(id) !== undefined),
      leaveRun: (id) => void owned.delete(id),
    }),
    tabs: fake<Clients["tabs"]>({
      followElsewhere: vi.fn(async () => undefined),
      tell: vi.fn(),
      tellEvent: vi.fn(),
      tellRemoved: vi.fn(),
    }),
    ensureGames: async () => undefined,
    checkGames: async () => "games",
    computeWithGames: async () => client,
  };
  runs = new LiveRuns(clients);
  const info = fake<EngineInfo>({ model: "tiny" });
  setUi((ui) => ({ models: { ...ui.models, student: { info, origin: "own", steps: 0 } } }));
});
afterEach(() => {
  useLiveRuns.setState(useLiveRuns.getInitialState());
  setUi({ liveRun: null, models: { teacher: null, student: null } });
});

/** The only run that there is. */
function only(): LiveRun {
  const [run, more] = Object.values(useLiveRuns.getState().runs);
  expect([run === undefined, more]).toEqual([false, undefined]);
  return run!;
}
const hasBegun = () => until(() => expect(api.playLive).toHaveBeenCalledOnce());

it("one plays at a time; its end is written down before others may have it", async () => {
  const run = runs.start(PLAN);
  await runs.start(PLAN);
  await hasBegun();
  say({ type: "planned", ids: ["a#0"] });
  say({ type: "ended", episode: "a#0", outcome: OUTCOME, unkept: null });
  const writing = new Pending();
  vi.mocked(clients.archive.keepLiveRun).mockImplementationOnce(async (run) => kept.set(run.id, run));
  vi.mocked(clients.archive.keepLiveRun).mockImplementationOnce((run) =>
    writing.promise.then(() => kept.set(run.id, run)),
  );
  playing.resolve();
  await run;
  const { id } = only();
  expect([only().state, getUi().liveRun, owned.has(id)]).toEqual(["done", null, true]);
  writing.resolve();
  await until(() => expect(owned.size).toBe(0));
  expect(kept.get(id)).toMatchObject({
    state: "done",
    ids: ["a#0"],
    model: { name: "tiny" },
    games: "games",
  });
  expect(only().outcomes).toEqual(new Map([["a#0", OUTCOME]]));
});

it("that is cancelled before its model plays does not begin, and the worker lives on", async () => {
  const opening = new Pending<ComputeClient>();
  vi.mocked(clients.models.ensure).mockReturnValueOnce(opening.promise);
  vi.mocked(clients.models.stopWork).mockResolvedValueOnce(false);
  const run = runs.start(PLAN);
  await runs.cancel();
  expect(only().state).toBe("cancelling");
  await until(() => expect(clients.models.ensure).toHaveBeenCalled());
  opening.resolve(fake<ComputeClient>({ api }));
  await run;
  expect(api.playLive).not.toHaveBeenCalled();
  expect([only().state, getUi().liveRun]).toEqual(["cancelled", null]);
});

it("that does not hear a cancel is ended, and what it says later is of no interest", async () => {
  const run = runs.start(PLAN);
  await hasBegun();
  await runs.cancel();
  expect([only().state, getUi().liveRun]).toEqual(["cancelled", null]);
  say({ type: "ended", episode: "a#0", outcome: OUTCOME, unkept: null });
  playing.reject(new InputError("late"));
  await run;
  expect(only()).toMatchObject({ state: "cancelled", message: null, outcomes: new Map() });
});

it("that fails says why, and ends the worker of a failed device; it goes on with the same model only", async () => {
  const run = runs.start(PLAN);
  await hasBegun();
  playing.reject(new DeviceError("the device was lost", "lost"));
  await run;
  const { id } = only();
  expect(clients.models.endWorker).toHaveBeenCalledOnce();
  expect(only()).toMatchObject({
    state: "failed",
    message: "the device was lost. The next work opens another.",
  });
  const own = folder;
  folder = { name: "student", files: new Map([["config.json", new Blob(["[]"])]]) };
  await runs.goOn(id);
  expect(only()).toMatchObject({ state: "failed", message: expect.stringContaining("another model, tiny") });
  folder = own;
  playing = new Pending();
  playing.resolve();
  await runs.goOn(id);
  expect(only()).toMatchObject({ state: "done", message: null });
});

it("that another tab plays is followed, and not removed", async () => {
  vi.mocked(clients.locks.ownRun).mockResolvedValue(false);
  await runs.start(PLAN);
  const { id } = only();
  expect(clients.tabs.followElsewhere).toHaveBeenCalledWith(id);
  expect([vi.mocked(api.playLive).mock.calls.length, getUi().liveRun]).toEqual([0, null]);
  await expect(runs.remove(id)).rejects.toThrow(InputError);
  expect(liveRunOf(id)).toBeDefined();
});

it("that the browser does not keep says so; its records are at hand until it is removed", async () => {
  vi.mocked(clients.archive.keepLiveRun).mockRejectedValueOnce(new Error("no room"));
  const run = runs.start(PLAN);
  await hasBegun();
  expect(only().kept).toBe(false);
  say({ type: "planned", ids: ["first", "none", "kept"] });
  say({ type: "ended", episode: "kept", outcome: OUTCOME, unkept: null });
  say({ type: "ended", episode: "none", outcome: null, unkept: null });
  say({ type: "ended", episode: "first", outcome: OUTCOME, unkept: { episode: "first" } });
  playing.resolve();
  await run;
  const ended = only();
  const lines = await (await runs.recordLines(ended)).text();
  expect(lines).toBe('{"episode":"first"}\n{"episode":"kept"}\n');
  await until(() => expect(kept.get(ended.id)?.state).toBe("done"));
  await runs.remove(ended.id);
  expect([liveRunOf(ended.id), kept.size, owned.size]).toEqual([undefined, 0, 0]);
  await expect(runs.recordLines(ended)).rejects.toThrow("lost the record of first");
});
