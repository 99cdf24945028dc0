import { afterEach, beforeEach, expect, it } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { DeviceError } from "../../../core/errors.ts";
import type { ModelProbe, RunProbe } from "../../../core/loop/probe.ts";
import { METHODS } from "../../../core/method/index.ts";
import type { ComputeClient } from "../../compute/clients.ts";
import { getUi, IDLE_TRAINING, type ModelState, setUi } from "../../compute/store.ts";
import type { ModelsPlan } from "../../compute/worker/compute-service.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { probeKey, TrainingProbe, usePageProbe } from "./training-probe.ts";

type Clients = ConstructorParameters<typeof TrainingProbe>[0];
type FormPlan = Awaited<ReturnType<Clients["formPlan"]>>;

const WRITTEN = { library: "l.jsonl" };
const STUDENT: FolderFiles = { name: "student", files: new Map() };
/** One sequence of 10 tokens took a second; the run will read a hundred of them. */
const READ: ModelProbe = {
  whole: { sequences: 100, tokens: 1000, squares: 10_000, calls: 100 },
  small: { sequences: 1, tokens: 10, squares: 100, seconds: 1 },
  large: [],
};
const FOUND: RunProbe = { teacher: [READ], student: [READ], preparing: 0, epochs: 1 };

/** What the models were asked, in order. */
let asked: string[];
let probed: Pending<RunProbe>;
let tell: (what: string) => void;
let formPlan: FormPlan;
/** How long a stopped worker has. */
let grace: Promise<void>;
let probe: TrainingProbe;

beforeEach(() => {
  [asked, probed, grace] = [[], new Pending(), Promise.resolve()];
  formPlan = { method: METHODS["gc-opd"], written: WRITTEN } as unknown as FormPlan;
  const client = fake<ComputeClient>({
    api: fake<ComputeClient["api"]>({
      takePasses: async () => undefined,
      probe: (_student, own, _run, onWork) => {
        asked.push(own === null ? "probes" : "probes by itself");
        tell = onWork as typeof tell;
        return probed.promise;
      },
    }),
  });
  probe = new TrainingProbe({
    models: fake<Clients["models"]>({
      worker: async () => client,
      workload: async () => fake<Awaited<ReturnType<Clients["models"]["workload"]>>>({ student: STUDENT }),
      ensure: async (role) => {
        asked.push(`opens ${role}`);
        return client;
      },
      closeTeacher: async () => void asked.push("closes teacher"),
      studentLost: () => void asked.push("student lost"),
      endWorker: () => void asked.push("ends worker"),
      stopWork: async (goesOn) => {
        await grace;
        return goesOn();
      },
    }),
    formPlan: async () => formPlan,
    planTraining: async () =>
      fake<Awaited<ReturnType<Clients["planTraining"]>>>({
        problem: null,
        plan: fake<ModelsPlan["plan"]>({}),
        uncounted: [],
        passes: {},
      }),
  });
  setUi({
    training: IDLE_TRAINING,
    scoring: { status: "idle" },
    playing: null,
    liveRun: null,
    studying: null,
  });
  setUi(({ models }) => ({ models: { ...models, student: fake<ModelState>({}) } }));
  usePageProbe.setState(usePageProbe.getInitialState());
});
afterEach(() => setUi(({ models }) => ({ training: IDLE_TRAINING, models: { ...models, student: null } })));

const training = () => getUi().training;
const begun = (): Promise<void> => until(() => expect(asked).toContain("student lost"));

it("measures the form’s run, says how far it is, and opens the student again", async () => {
  const done = probe.start();
  await begun();
  tell("a step of the student");
  expect(training()).toMatchObject({ status: "probing", work: { label: "Probe: a step of the student" } });
  // There is one device.
  await probe.start();
  probed.resolve(FOUND);
  await done;
  expect(asked).toEqual(["opens teacher", "student lost", "probes", "opens student"]);
  expect(usePageProbe.getState()).toMatchObject({ of: probeKey(WRITTEN), time: { low: 200, high: 200 } });
  expect(training()).toMatchObject({ status: "idle", work: null, message: null });
});

it("a student that is its own teacher is probed as one, without another", async () => {
  formPlan = { ...formPlan, method: { ...METHODS["gc-opd"], teacher: "student" } };
  probed.resolve(FOUND);
  await probe.start();
  expect(asked.slice(0, 3)).toEqual(["closes teacher", "student lost", "probes by itself"]);
});

it("says why nothing can be measured where the student plays", async () => {
  formPlan = { ...formPlan, live: {} as NonNullable<FormPlan["live"]> };
  await probe.start();
  expect(training().message).toMatchObject({
    kind: "error",
    text: expect.stringMatching(/^No time was measured: the time of episodes that the student plays/),
  });
  expect(asked).toEqual([]);
});

it("a lost device ends its worker, and the form can be used again", async () => {
  probed.reject(new DeviceError("The WebGPU device was lost", "lost"));
  await probe.start();
  expect(asked).toContain("ends worker");
  expect(training()).toMatchObject({ status: "idle", message: { kind: "error" } });
});

it("a cancelled probe that its worker does not end is given up, and what it finds later is not shown", async () => {
  const done = probe.start();
  await begun();
  await probe.cancel();
  const cancelled = { kind: "info", text: "The probe was cancelled. The student is as it was." };
  expect(training()).toMatchObject({ status: "idle", message: cancelled });
  probed.resolve(FOUND);
  await done;
  expect(usePageProbe.getState().time).toBeNull();
  expect(training().message).toEqual(cancelled);
});

it("a cancelled probe that ends by itself meanwhile is not ended twice", async () => {
  const held = new Pending();
  grace = held.promise;
  const done = probe.start();
  await begun();
  const cancelling = probe.cancel();
  expect(training()).toMatchObject({ status: "probe-cancelling", work: { label: "Cancelling the probe" } });
  probed.reject(new DOMException("aborted", "AbortError"));
  await done;
  expect(training().status).toBe("idle");
  setUi(({ training }) => ({ training: { ...training, message: null } }));
  held.resolve();
  await cancelling;
  expect(training().message).toBeNull();
});
