import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { fakeLibrary } from "../../../../test/support/fake-library.ts";
import { librarySummary, taskSummary } from "../../../../test/support/summaries.ts";
import { InputError } from "../../../core/errors.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { WorkerAway } from "../../data/files/read-answer.ts";
import { useWorkerCost, WorkerCost } from "../../features/training/worker-cost.ts";
import { checkConfig } from "../runs/config-fields.ts";
import { workerFollower } from "../runs/follow-worker.ts";
import { launches } from "../runs/launches.ts";
import { getRuns, newRun, putRun, useRuns, type WorkerState } from "../runs/runs-store.ts";
import type { Job, WorkerPlan as Planned } from "../runs/worker-answers.ts";
import { setUi } from "../store.ts";
import { chooseResponses, setTrainingForm, trainingForm, useTrainingForm } from "./training-form.ts";
import { WorkerTraining } from "./worker-training.ts";

vi.mock("../runs/follow-worker.ts", () => ({
  workerFollower: { takeJob: () => undefined, refresh: vi.fn(async () => undefined) },
}));

type Clients = ConstructorParameters<typeof WorkerTraining>[0];

let foldersAsked: number;
/** Paths of the files that arrived at the worker, each with the run that it is of. */
let arrived: string[];
let student: FolderFiles | Promise<FolderFiles>;
let send: { records: boolean; teacher: boolean; student: boolean };
let library: string;
let worker: Clients["worker"];
let training: WorkerTraining;
const silent = () => {};
const signal = new AbortController().signal;

const folder = (weights: string): FolderFiles => ({
  name: "student",
  files: new Map([
    ["model.safetensors", new Blob([weights])],
    ["config.json", new Blob(["{}"])],
  ]),
});

beforeEach(() => {
  vi.mocked(workerFollower.refresh).mockClear();
  [arrived, foldersAsked] = [[], 0];
  [student, library] = [folder("first"), "lib.jsonl"];
  send = { records: false, teacher: false, student: true };
  worker = fake<Clients["worker"]>({
    input: vi.fn(async (id: string, path: string) => {
      arrived.push(`${id} ${path}`);
      return { path, bytes: 1 };
    }),
    plan: vi.fn(async () => fake<Planned>({})),
    submit: vi.fn(async () => fake<Job>({})),
  });
  training = new WorkerTraining({
    worker,
    models: fake<Clients["models"]>({
      folder: async () => {
        foldersAsked += 1;
        return student;
      },
      tokenizer: async () => ({ tokenizerJson: "{}", file: "t" }),
    }),
    library: () =>
      fakeLibrary({
        recordLines: async () => ({ episodes: new Blob(["e"]), sources: new Blob(["s"]) }),
      }),
    compose: () => {
      const written = { library, episodes: "e.jsonl", teacher: "t", student: `in/${trainingForm().nextId}` };
      return { ...checkConfig(written, silent), written, send };
    },
  });
  setTrainingForm({ where: "worker", nextId: "train-1" });
});
afterEach(() => {
  vi.restoreAllMocks();
  setTrainingForm(useTrainingForm.getInitialState());
  useRuns.setState(useRuns.getInitialState());
  useWorkerCost.setState(useWorkerCost.getInitialState());
  setUi({ library: null });
});

const FILES = ["model.safetensors", "config.json", "tokenizer.json"].map((name) => `train-1 student/${name}`);

it("sends what is chosen once, whatever asks for it, and another student of the same names and sizes again", async () => {
  await Promise.all([
    training.planOnWorker(silent, false, signal),
    training.planOnWorker(silent, true, signal),
  ]);
  expect(arrived).toEqual(FILES);
  student = folder("other");
  await training.planOnWorker(silent, false, signal);
  expect(arrived).toEqual([...FILES, ...FILES]);
});

it("what did not arrive whole is sent again, and what waited for it goes on", async () => {
  vi.mocked(worker.input).mockRejectedValueOnce(new InputError("the disk is full"));
  const [failed, next] = await Promise.allSettled([
    training.planOnWorker(silent, false, signal),
    training.planOnWorker(silent, false, signal),
  ]);
  expect([failed.status, next.status]).toEqual(["rejected", "fulfilled"]);
  expect(arrived).toEqual(FILES);
});

it("an abort ends the sending between two files, and nothing is asked of the worker", async () => {
  const controller = new AbortController();
  vi.mocked(worker.input).mockImplementationOnce(async (_, path) => {
    controller.abort();
    return { path, bytes: 1 };
  });
  await expect(training.planOnWorker(silent, false, controller.signal)).rejects.toThrow("abort");
  expect(arrived).toEqual([]);
  expect(worker.plan).not.toHaveBeenCalled();
});

it("an abort is heard while a model is read, and nothing of it is sent", async () => {
  const controller = new AbortController();
  const read = new Pending<FolderFiles>();
  student = read.promise;
  const starting = training.start(silent, () => true, controller.signal);
  await until(() => expect(foldersAsked).toBe(1));
  controller.abort();
  await expect(starting).rejects.toThrow("abort");
  read.resolve(folder("late"));
  await training.planOnWorker(silent, false, signal);
  // Those of the second only.
  expect(arrived).toEqual(FILES);
  expect(worker.submit).not.toHaveBeenCalled();
});

it("sends what the form named when it was asked, though the form's run is another since", async () => {
  send = { records: true, teacher: false, student: false };
  chooseResponses("live");
  setUi({ library: librarySummary({ library: "own", disk: [], addresses: [] }, [taskSummary("t", 0)]) });
  const sending = training.planOnWorker(silent, false, signal);
  setTrainingForm({ nextId: "train-2" });
  await sending;
  expect(arrived).toEqual(["train-1 episodes.jsonl", "train-1 sources.jsonl"]);
});

it("a config that is not valid sends nothing", async () => {
  library = "";
  await expect(training.start(silent, () => true, signal)).rejects.toThrow(InputError);
  expect(arrived).toEqual([]);
});

it("a run of the same config is started only where it is wanted again; the next run has an id of its own", async () => {
  const config = (id: string) => ({ student: `in/${id}`, library, episodes: "e.jsonl", teacher: "t" });
  const runs = { earlier: newRun({ id: "earlier", where: "worker", title: "", config: config("earlier") }) };
  useRuns.setState({ runs });
  const again = vi.fn(() => false);
  expect(await training.start(silent, again, signal)).toBeNull();
  expect(again).toHaveBeenCalledWith(runs.earlier);
  expect(worker.submit).not.toHaveBeenCalled();
  expect(trainingForm().nextId).toBe("train-1");
  expect(await training.start(silent, () => true, signal)).toBe("train-1");
  expect(getRuns().latest).toBe("train-1");
  expect(trainingForm().nextId).not.toBe("train-1");
});

const MAY_HAVE_BEGUN =
  "the worker did not answer, and the run may have begun: look at Runs before you start it again";

it("a submit whose answer is lost may have begun the run: the list is read, and the next start has another id", async () => {
  vi.mocked(worker.submit).mockRejectedValueOnce(new WorkerAway());
  await expect(training.start(silent, () => true, signal)).rejects.toThrow(MAY_HAVE_BEGUN);
  expect(workerFollower.refresh).toHaveBeenCalledOnce();
  // Until the list has it, it may not have begun.
  expect(trainingForm().nextId).toBe("train-1");
  const config = { student: "in/train-1", library, episodes: "e.jsonl", teacher: "t" };
  const run = newRun({ id: "train-1", where: "worker", title: "", config });
  putRun(run);
  const again = vi.fn(() => true);
  const second = await training.start(silent, again, signal);
  expect(again).toHaveBeenCalledWith(run);
  expect(second).not.toBe("train-1");
  expect(vi.mocked(worker.submit).mock.calls.map(([{ id }]) => id)).toEqual(["train-1", second]);
  expect(arrived).toEqual([...FILES, ...FILES.map((file) => file.replace("train-1", second!))]);
});

it("a launch whose answer is lost may have begun the run, too", async () => {
  setTrainingForm({ where: "target", target: "cluster" });
  const refresh = vi.spyOn(launches, "refresh").mockResolvedValue();
  worker.launch = vi.fn(() => Promise.reject(new WorkerAway()));
  await expect(training.start(silent, () => true, signal)).rejects.toThrow(MAY_HAVE_BEGUN);
  expect(refresh).toHaveBeenCalledOnce();
  // What is sent next is not for that one.
  expect(trainingForm().nextId).not.toBe("train-1");
});

it("a submit that is refused did not begin the run, and says why", async () => {
  vi.mocked(worker.submit).mockRejectedValueOnce(new InputError("no such file"));
  await expect(training.start(silent, () => true, signal)).rejects.toThrow("no such file");
  expect(workerFollower.refresh).not.toHaveBeenCalled();
});

it("sends again what was sent before the worker went away and came back", async () => {
  const seen = (status: WorkerState["status"]): void =>
    useRuns.setState(({ worker }) => ({ worker: { ...worker, status } }));
  seen("there");
  await training.planOnWorker(silent, false, signal);
  seen("lost");
  await training.planOnWorker(silent, false, signal);
  expect(arrived).toEqual(FILES);
  seen("there");
  await training.planOnWorker(silent, false, signal);
  expect(arrived).toEqual([...FILES, ...FILES]);
});

it.each<[string, "plan" | "planThere" | "script" | "submit" | "launch", () => Promise<unknown>]>([
  ["plan", "plan", () => training.planOnWorker(silent, false, signal)],
  ["plan on a target", "planThere", () => training.planOnTarget(silent, { kept: true }, signal)],
  ["script", "script", () => training.script(silent, signal)],
  ["submit", "submit", () => training.start(silent, () => true, signal)],
  ["launch", "launch", () => training.start(silent, () => true, signal)],
])(
  "sends all again after a %s that was refused for what it reads, and not after others",
  async (_, asked, ask) => {
    const refusals = [new InputError("in/train-1: no such file"), new InputError("busy"), new WorkerAway()];
    if (asked === "launch") setTrainingForm({ where: "target", target: "cluster" });
    worker[asked] = vi.fn(() => Promise.reject(refusals.shift()));
    vi.spyOn(launches, "refresh").mockResolvedValue();
    for (const sent of [1, 2, 2]) {
      await expect(ask()).rejects.toThrow(InputError);
      expect(arrived).toEqual(Array(sent).fill(FILES).flat());
    }
  },
);

it("a run of the same config with another student is another run", async () => {
  await training.planOnWorker(silent, false, signal);
  const { written } = { written: { student: "in/train-1", library, episodes: "e.jsonl" } };
  const run = newRun({ id: "train-1", where: "worker", title: "", config: written });
  const next = { ...written, student: "in/train-2" };
  expect(training.runWithSameConfig(next, "train-2", { run })).toBe(run);
  setTrainingForm({ nextId: "train-2" });
  student = folder("other");
  await training.planOnWorker(silent, false, signal);
  expect(training.runWithSameConfig(next, "train-2", { run })).toBeNull();
});

it("of two measurements the second is shown: the first is ended, and what it finds or says is not", async () => {
  const asked: { answer: Pending<Planned>; tell: (doing: string) => void; signal: AbortSignal }[] = [];
  const cost = new WorkerCost(
    fake<WorkerTraining>({
      planOnWorker: (tell, _probe, signal) => {
        const answer = new Pending<Planned>();
        asked.push({ answer, tell, signal });
        return answer.promise;
      },
    }),
  );
  const [first, second] = [cost.onWorker(false), cost.onWorker(true)];
  expect(asked.map((each) => each.signal.aborted)).toEqual([true, false]);
  asked[1]!.tell("Measuring");
  asked[0]!.tell("late");
  expect(useWorkerCost.getState().doing).toBe("Measuring");
  const found = fake<Planned>({});
  asked[1]!.answer.resolve(found);
  await second;
  asked[0]!.answer.resolve(fake<Planned>({}));
  await first;
  expect(useWorkerCost.getState()).toMatchObject({ doing: null, problem: null });
  expect(useWorkerCost.getState().plan).toBe(found);
  const third = cost.onWorker(false);
  expect(useWorkerCost.getState()).toMatchObject({ plan: null, doing: "Starting" });
  cost.cancel();
  expect(asked[2]!.signal.aborted).toBe(true);
  asked[2]!.answer.reject(new InputError("late"));
  await third;
  expect(useWorkerCost.getState()).toMatchObject({ doing: null, problem: null });
  const fourth = cost.onWorker(false);
  asked[3]!.answer.reject(new InputError("no such file"));
  await fourth;
  expect(useWorkerCost.getState()).toMatchObject({ doing: null, problem: "no such file" });
});
