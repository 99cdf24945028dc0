import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { DeviceError } from "../../../core/errors.ts";
import { configuredMethod } from "../../../core/loop/configured-method.ts";
import { configuredSettings } from "../../../core/loop/train-config.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import type { ComputeClient } from "../clients.ts";
import { isDeviceBusy, isModelAtWork } from "../computing.ts";
import type { Opened } from "../models/models.ts";
import { checkConfig } from "../runs/config-fields.ts";
import { getRuns, newRun, patchRun, putRun, useRuns } from "../runs/runs-store.ts";
import { getUi, IDLE_TRAINING, setUi } from "../store.ts";
import type { ModelsPlan } from "../worker/compute-service.ts";
import { StudentTraining } from "./training.ts";
import { setTrainingForm, useTrainingForm } from "./training-form.ts";
import type { PagePlan } from "./training-plan.ts";
import { useSending } from "./worker-training.ts";

type Clients = ConstructorParameters<typeof StudentTraining>[0];
type Trained = Awaited<ReturnType<ComputeClient["api"]["train"]>>;

/** What the compute worker is training. */
let trained: Pending<Trained>;
let api: ComputeClient["api"];
let models: Clients["models"];
let clients: Clients;
let training: StudentTraining;
/** Runs that were taken and not left. */
let owned: Set<string>;

const RESULT: Trained = { folder: { name: "student", files: new Map() }, steps: 3, finished: true };

const PLANNED = fake<Awaited<ReturnType<Clients["plans"]["planTraining"]>>>({
  ...{ problem: null, plan: fake<ModelsPlan["plan"]>({}), uncounted: [], passes: {} },
});

function formPlan(): Omit<PagePlan, "id"> {
  const written = { library: "l.jsonl", episodes: "e.jsonl", teacher: "t", student: "s" };
  const config = checkConfig(written, () => {}).config!;
  return {
    ...{ config, written, words: "gc-opd", method: configuredMethod(config) },
    ...{ settings: configuredSettings(config), batchSize: 1, seed: 0, library: "l", episodes: [] },
    ...{ endOfTurn: true, fingerprint: { library: "l" }, watch: null },
  };
}

beforeEach(() => {
  trained = new Pending();
  owned = new Set();
  api = fake<ComputeClient["api"]>({
    takePasses: async () => undefined,
    train: vi.fn(() => trained.promise),
    keptStudent: vi.fn(),
    stop: vi.fn(async () => undefined),
  });
  const client = fake<ComputeClient>({ api });
  models = fake<Clients["models"]>({
    worker: async () => client,
    ensure: vi.fn(async () => client),
    closeTeacher: async () => undefined,
    stopWork: vi.fn(async (goesOn: () => boolean) => goesOn()),
    endWorker: vi.fn(),
    studentTrained: vi.fn(),
    studentLost: vi.fn(),
    studentState: () => ({ student: null, opened: null, shipped: "sample" }),
  });
  clients = {
    models,
    runs: fake<Clients["runs"]>({
      take: vi.fn(async (id) => void owned.add(id)),
      begin: ({ id }) => putRun(newRun({ id, where: "page", title: "", config: {}, state: "starting" })),
      end: (id, state, message) => {
        owned.delete(id);
        patchRun(id, { state, message });
      },
      planOf: async () => ({ id: "page-1", ...formPlan() }),
    }),
    plans: fake<Clients["plans"]>({
      formPlan: vi.fn(async () => formPlan()),
      planTraining: async () => PLANNED,
      sameInputs: vi.fn(async () => ({ library: "l", own: null, differing: [] })),
    }),
    kept: fake<Clients["kept"]>({
      noteStudentOf: async () => undefined,
      keepTrained: async () => undefined,
      keepAsItIs: vi.fn(async () => undefined),
    }),
    there: fake<Clients["there"]>({ start: vi.fn() }),
    scoring: fake<Clients["scoring"]>({ cancel: vi.fn(async () => undefined) }),
    library: () => fake({}),
    withGames: async (plan) => plan,
    computeWithGames: vi.fn(),
  };
  training = new StudentTraining(clients);
});
afterEach(() => {
  setUi({ training: IDLE_TRAINING, notice: null, scores: {} });
  useRuns.setState(useRuns.getInitialState());
  setTrainingForm(useTrainingForm.getInitialState());
});

const under = () => getUi().training;
const listed = () => Object.values(getRuns().runs).map(({ state, message }) => [state, message]);
const hasBegun = () => until(() => expect(api.train).toHaveBeenCalledOnce());

describe("a run of the page", () => {
  it("is one at a time: a press while one is under way does nothing", async () => {
    const run = training.start();
    await training.start();
    await expect(training.resume("page-1")).rejects.toThrow("a model is at work: stop it, then resume");
    await hasBegun();
    trained.resolve(RESULT);
    await run;
    expect(clients.plans.formPlan).toHaveBeenCalledOnce();
    expect(models.studentTrained).toHaveBeenCalledOnce();
    expect([under().status, listed(), owned.size]).toEqual(["idle", [["done", null]], 0]);
  });

  it("says in its title that its student has had steps before", async () => {
    clients.runs.begin = vi.fn(clients.runs.begin);
    const titled = async (steps: number) => {
      const student = fake<Opened>({ steps });
      models.studentState = () => ({ student, opened: null, shipped: "sample" });
      await training.start();
      return vi.mocked(clients.runs.begin).mock.lastCall![0].title;
    };
    trained.resolve(RESULT);
    expect(await titled(0)).toBe("gc-opd, all episodes");
    expect(await titled(2)).toBe("gc-opd, all episodes, student with 2 steps");
  });

  it("ends after its step when it is stopped", async () => {
    const run = training.start();
    await hasBegun();
    await training.stop();
    expect([under().status, listed()]).toEqual([
      "stopping",
      [["cancelling", "it ends after its present step"]],
    ]);
    expect(api.stop).toHaveBeenCalledOnce();
    trained.resolve({ ...RESULT, finished: false });
    await run;
    expect(listed()).toEqual([["cancelled", null]]);
    expect(models.studentTrained).toHaveBeenCalledOnce();
  });

  it("that is stopped before its first step does not begin", async () => {
    const opening = new Pending<ComputeClient>();
    vi.mocked(models.ensure).mockReturnValueOnce(opening.promise);
    const run = training.start();
    await until(() => expect(models.ensure).toHaveBeenCalled());
    await training.stop();
    opening.resolve(fake<ComputeClient>({ api }));
    await run;
    expect(api.train).not.toHaveBeenCalled();
    expect([under().status, listed(), owned.size]).toEqual(["idle", [["cancelled", null]], 0]);
    expect(under().message).toMatchObject({ text: expect.stringContaining("Cancelled.") });
  });

  it("that is stopped twice is ended with its worker; what it answers later is of no interest", async () => {
    const run = training.start();
    await hasBegun();
    await training.stop();
    await training.stop();
    expect([under().status, listed(), owned.size]).toEqual(["idle", [["cancelled", null]], 0]);
    // Its checkpoints may have steps that the student does not.
    expect(clients.kept.keepAsItIs).toHaveBeenCalledOnce();
    trained.resolve(RESULT);
    await run;
    expect(models.studentTrained).not.toHaveBeenCalled();
    await training.start();
    expect(models.studentTrained).toHaveBeenCalledOnce();
  });

  it("whose student is being kept is not cancelled any more", async () => {
    const keeping = new Pending();
    clients.kept = fake<Clients["kept"]>({ ...clients.kept, keepTrained: () => keeping.promise });
    training = new StudentTraining(clients);
    const run = training.start();
    await hasBegun();
    trained.resolve(RESULT);
    await until(() => expect(models.studentTrained).toHaveBeenCalledOnce());
    await training.stop();
    await training.stop();
    keeping.resolve();
    await run;
    expect(listed()).toEqual([["done", null]]);
    expect(under().message).toMatchObject({ text: expect.stringContaining("Done:") });
  });

  describe("whose large student is still being kept", () => {
    let written: Pending<FolderFiles>;
    let run: Promise<void>;

    beforeEach(async () => {
      written = new Pending();
      vi.mocked(api.keptStudent).mockImplementation(() => written.promise);
      vi.mocked(models.studentTrained).mockImplementation(async (folder) => void (await folder));
      run = training.start();
      await hasBegun();
      trained.resolve({ ...RESULT, folder: null });
      await until(() => expect(under().status).toBe("keeping"));
    });

    it("says that it can score, is not ended any more, and is done once it is kept", async () => {
      expect(under().message?.text).toBe(
        "Done: 0 steps. The browser is keeping the student: it can score meanwhile.",
      );
      expect(listed()).toEqual([["starting", "the browser is keeping its student"]]);
      expect([isDeviceBusy(), isModelAtWork()]).toEqual([false, true]);
      await training.stop();
      await training.start();
      await expect(training.resume("page-1")).rejects.toThrow("the trained student is being kept");
      expect(under().status).toBe("keeping");
      expect(api.train).toHaveBeenCalledOnce();
      written.resolve(RESULT.folder!);
      await run;
      expect([under().status, under().message?.text, listed()]).toEqual([
        ...["idle", "Done: 0 steps.", [["done", null]]],
      ]);
      expect(owned.size).toBe(0);
    });

    it("fails with a device that is lost meanwhile, and says what is not kept", async () => {
      written.reject(new DeviceError("the device was lost", "lost"));
      await run;
      expect(models.studentLost).toHaveBeenCalledOnce();
      expect(models.endWorker).toHaveBeenCalledOnce();
      const [state, message] = listed()[0]!;
      expect(state).toBe("failed");
      expect(message).toContain("the device was lost. The next work opens another. The run’s last steps are");
      expect(under()).toMatchObject({ status: "idle", message: { kind: "error", text: message } });
    });

    it("ends what is scored beside it where it is lost, and leaves the worker to what still waits for it", async () => {
      setUi({ scoring: { status: "cancelling", job: "contexts", key: "k" } });
      written.reject(new DeviceError("the device was lost", "lost"));
      await run;
      expect(clients.scoring.cancel).toHaveBeenCalledOnce();
      expect(models.endWorker).not.toHaveBeenCalled();
      setUi({ scoring: { status: "idle" } });
    });
  });

  it("that fails leaves the student as it was, and ends the worker of a failed device; the next one begins", async () => {
    const run = training.start();
    await hasBegun();
    trained.reject(new DeviceError("the device was lost", "lost"));
    await run;
    expect(models.studentLost).toHaveBeenCalledOnce();
    expect(clients.kept.keepAsItIs).toHaveBeenCalledOnce();
    expect(models.endWorker).toHaveBeenCalledOnce();
    expect(under()).toMatchObject({
      ...{ status: "idle", message: { kind: "error", text: expect.stringContaining("the device was lost") } },
    });
    expect(listed()).toEqual([
      [
        "failed",
        "the device was lost. The next work opens another. The student is as it was before this run.",
      ],
    ]);
    trained = new Pending();
    trained.resolve(RESULT);
    await training.start();
    expect(models.studentTrained).toHaveBeenCalledOnce();
  });
});

it("what does not fit never becomes a run", async () => {
  const plans = { ...clients.plans, planTraining: async () => ({ ...PLANNED, problem: "it needs 9 GiB" }) };
  training = new StudentTraining({ ...clients, plans: fake<Clients["plans"]>(plans) });
  await training.start();
  expect(under()).toMatchObject({
    ...{ status: "idle", message: { kind: "error", text: expect.stringContaining("it needs 9 GiB. The") } },
  });
  expect([listed(), owned.size]).toEqual([[], 0]);
});

describe("a run that goes on", () => {
  it("is refused where its inputs are others, and can be taken up again", async () => {
    putRun(newRun({ id: "page-1", where: "page", title: "", config: {}, state: "lost" }));
    vi.mocked(clients.plans.sameInputs).mockResolvedValueOnce({
      ...{ library: null, own: null, differing: ["library"] },
    });
    await training.resume("page-1");
    expect(under().message?.text).toContain("the run was over another library: open it first (l)");
    expect([listed()[0]?.[0], owned.size]).toEqual(["failed", 0]);
    trained.resolve(RESULT);
    await training.resume("page-1");
    expect(listed()).toEqual([["done", null]]);
  });

  it("that is given up while its owner is asked is left again", async () => {
    putRun(newRun({ id: "page-1", where: "page", title: "", config: {}, state: "lost" }));
    const taking = new Pending();
    vi.mocked(clients.runs.take).mockImplementationOnce(async (id) => {
      await taking.promise;
      owned.add(id);
    });
    const run = training.resume("page-1");
    await training.stop();
    await training.stop();
    expect(under().status).toBe("idle");
    taking.resolve();
    await run;
    expect(owned.size).toBe(0);
    expect(api.train).not.toHaveBeenCalled();
  });
});

describe("a run that is sent to the worker", () => {
  it("is sent once: a second press meanwhile does nothing, and a stop says what stays there", async () => {
    setTrainingForm({ where: "worker" });
    const sending = new Pending<string | null>();
    vi.mocked(clients.there.start).mockReturnValueOnce(sending.promise);
    const first = training.start();
    await training.start();
    expect(clients.there.start).toHaveBeenCalledOnce();
    useSending.getState().cancel?.();
    expect(vi.mocked(clients.there.start).mock.calls[0]![2].aborted).toBe(true);
    sending.reject(new DOMException("aborted", "AbortError"));
    await first;
    expect(under().message?.text).toContain("Nothing was started.");
    expect(useSending.getState()).toMatchObject({ label: null, cancel: null });
    expect(under().status).toBe("idle");
  });
});
