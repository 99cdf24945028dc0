import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../../test/support/fake.ts";
import { librarySummary } from "../../../../../test/support/summaries.ts";
import { DeviceError, InputError } from "../../../../core/errors.ts";
import type { EvaluatedEpisode } from "../../../../core/evaluation/index.ts";
import type { TrainEvent } from "../../../../core/loop/index.ts";
import { type ComputeClient, gamesWorker } from "../../../compute/clients.ts";
import type { GameTask } from "../../../compute/games/find-games.ts";
import { useGames } from "../../../compute/games/games.ts";
import { useMemory } from "../../../compute/models/memory.ts";
import { models } from "../../../compute/models/models.ts";
import { getUi, IDLE_TRAINING, type Role, setUi } from "../../../compute/store.ts";
import type { StudentChoices } from "../../../compute/students/students-config.ts";
import { useStudents } from "../../../compute/students/students-store.ts";
import type { CellAsk, CellEvent, KeptStep } from "../../../compute/worker/student-cell.ts";
import type { TrainingPlan } from "../../../compute/worker/training-run.ts";
import type { FolderFiles } from "../../../data/files/blob-folder.ts";
import type { Shipped } from "../../../url/library-link.ts";
import { HOME } from "../../../url/place.ts";
import { StudentComparison } from "./run-students.ts";

type Cell = (ask: CellAsk, emit: (event: CellEvent) => void) => Promise<void>;

/** What the workers do and were asked for. */
const here = vi.hoisted(() => ({
  /** In the order of the asks: models, and the cells that were trained. */
  asked: [] as string[],
  cells: [] as CellAsk[],
  /** How the next cells go; without any they are trained to their end. */
  next: [] as Cell[],
  trainWhole: null as unknown as Cell,
  plan: null as ((plan: TrainingPlan) => Promise<string | null>) | null,
  take: null as Promise<void> | null,
  ensure: null as Promise<void> | null,
  source: { teacher: "miniature", student: "miniature" } as Record<Role, Shipped | FolderFiles>,
  abort: (): void => undefined,
  /** How long a stopped worker has. */
  grace: Promise.resolve(),
  ended: 0,
  lost: 0,
  open: [] as GameTask[],
  shortest: (_task: string): number | null => 5,
  prompt: (): string => "{}",
}));

vi.mock("../../../compute/models/models.ts", async (original) => {
  const { Models } = await original<typeof import("../../../compute/models/models.ts")>();
  const client: ComputeClient = {
    api: fake<ComputeClient["api"]>({
      connectGames: async () => undefined,
      takePasses: async () => undefined as never,
      trainCell: async (parent, own, ask, emit) => {
        here.asked.push(`trains ${ask.plan.id}${own === parent ? " by itself" : ""}`);
        here.cells.push(ask);
        await (here.next.shift() ?? here.trainWhole)(ask, emit as (event: CellEvent) => void);
      },
    }),
    end: () => undefined,
  };
  return {
    models: Object.assign(Object.create(Models.prototype), {
      source: (role: Role) => here.source[role],
      takeShipped: () => here.take ?? Promise.resolve(),
      worker: async () => client,
      ensure: async (role: Role) => {
        here.asked.push(`opens ${role}`);
        await here.ensure;
        return client;
      },
      closeTeacher: async () => void here.asked.push("closes teacher"),
      workload: async () => ({ student: { name: "student", files: new Map() } }),
      studentLost: () => {
        here.lost += 1;
      },
      endWorker: () => {
        here.ended += 1;
      },
      stopWork: async (goesOn: () => boolean) => {
        here.abort();
        await here.grace;
        return goesOn();
      },
    }),
  };
});
vi.mock("../../../compute/clients.ts", async (original) => ({
  ...(await original<object>()),
  gamesWorker: () =>
    fake<ReturnType<typeof gamesWorker>>({
      connect: async () => undefined,
      madeTasks: async (_, { count, seed }) => Array.from({ length: count }, (_, n) => `task ${seed! + n}`),
      make: async (environment, { count, seed }) => {
        for (let n = 0; n < count; n += 1)
          here.open.push({ environment, task: `task ${seed! + n}`, type: null });
        return [...here.open];
      },
      digest: async () => "digest",
      plan: async ({ task }) => {
        const length = here.shortest(task);
        return (length === null ? null : Array.from({ length }, () => "go")) as never;
      },
    }),
}));
let comparison: StudentComparison;

/** Results of four tasks, with so many won. */
const played = (won: number): EvaluatedEpisode[] =>
  Array.from({ length: 4 }, (_, n) => ({
    ...{ task: `t${n}`, type: null, seed: 0, success: n < won, score: null, decisions: 5 },
  }));
const loop = (event: object): CellEvent => ({ type: "loop", event: event as TrainEvent });
const start = (from: number | null = null): CellEvent =>
  loop({ type: "start", steps: 2, resumedFrom: from, teacher: { model: "T" }, student: { model: "S" } });
const updated = (step: number): CellEvent =>
  loop({ type: "updated", step, seconds: 1, metrics: { loss: 1, gradNorm: 1 } });
const measured = (steps: number): CellEvent => ({
  ...{ type: "measured", steps, seconds: 1, episodes: played(steps + 1) },
});
const keptStep = (step: number): KeptStep => ({
  state: { step } as KeptStep["state"],
  folder: { name: `step ${step}`, files: new Map() },
});

/** Trains on from where the cell was left, to its second and last step. */
here.trainWhole = async ({ from, untrained }, emit) => {
  const begun = from?.state.step ?? null;
  emit(start(begun));
  if (untrained === null) emit(measured(0));
  for (let step = (begun ?? 0) + 1; step <= 2; step += 1) {
    emit(updated(step));
    emit({ type: "kept", kept: keptStep(step) });
    emit(measured(step));
  }
};

const CHOICES: Partial<StudentChoices> = {
  ...{ methods: ["opd", "gc-opd"], seeds: 1, steps: 2, batch: 8, every: 1, unseen: 4 },
};
const choose = (choices: Partial<StudentChoices>): void =>
  useStudents.setState((state) => ({ choices: { ...state.choices, ...choices } }));
const setSource = (source: Partial<typeof here.source>): void =>
  void Object.assign(here, { source: { ...here.source, ...source } });
const library = librarySummary({ library: "miniature", disk: [], addresses: [] }, [], {
  files: [{ name: "sources.jsonl.gz", kind: "sources", records: 1 } as never],
});
const study = () => useStudents.getState().study!;
const states = () => study().cells.map(({ state }) => state);
const steps = () => study().cells.map((cell) => cell.measured.map((each) => each.steps));
const problem = () => useStudents.getState().problem;
const trained = () => here.cells.map(({ plan }) => plan.id);

/** Holds the next cell back after its first step; what it says later, and how it ends, is the test's. */
function holdCell(): Pending & { emit?: (event: CellEvent) => void } {
  const held: Pending & { emit?: (event: CellEvent) => void } = new Pending();
  here.next.push(async ({ untrained }, emit) => {
    emit(start());
    if (untrained === null) emit(measured(0));
    emit(updated(1));
    emit({ type: "kept", kept: keptStep(1) });
    emit(measured(1));
    held.emit = emit;
    await held.promise;
  });
  return held;
}

beforeEach(() => {
  comparison = new StudentComparison({
    models,
    games: gamesWorker,
    planTraining: async (plan) =>
      ({
        ...{ plan: null, uncounted: [], passes: {} },
        problem: (await here.plan?.(plan as TrainingPlan)) ?? null,
      }) as never,
    readSampleManifest: async () => ({ prompt: "prompt.json", plans: "plans.jsonl.gz" }) as never,
    getBlob: async () => new Blob([here.prompt()]),
  });
  Object.assign(here, { asked: [], cells: [], next: [], plan: null, take: null, ensure: null });
  Object.assign(here, { ended: 0, lost: 0, open: [], shortest: () => 5, prompt: () => "{}" });
  Object.assign(here, { source: { teacher: "miniature", student: "miniature" } });
  Object.assign(here, { abort: () => undefined, grace: Promise.resolve() });
  vi.stubGlobal("document", { baseURI: "https://page.example/" });
  useStudents.setState(useStudents.getInitialState());
  useGames.setState(useGames.getInitialState());
  useMemory.setState(useMemory.getInitialState());
  choose(CHOICES);
  setUi({ library, place: HOME, studying: null, playing: null, liveRun: null, training: IDLE_TRAINING });
  setUi({ scoring: { status: "idle" } });
  setUi({ device: { kind: "webgpu", adapter: "H100", reason: null, compute: "f32", whyF32: null } });
});
afterEach(() => vi.unstubAllGlobals());

it("without the prompt of the miniature nothing is trained, and it is asked for again the next time", async () => {
  here.prompt = () => {
    throw new InputError("prompt.json: the server answered 404");
  };
  await comparison.train();
  expect(problem()).toBe("prompt.json: the server answered 404");
  expect([getUi().studying, useStudents.getState().study, here.asked]).toEqual([null, null, []]);
  here.prompt = () => '{"system":"play"}';
  await comparison.train();
  expect(problem()).toBeNull();
  expect(here.cells[0]!.plan.live!.prompt).toEqual({ name: "prompt.json", template: { system: "play" } });
  expect(here.cells[0]!.evaluation.measured.prompt).toEqual(here.cells[0]!.plan.live!.prompt);
});

describe("a comparison", () => {
  it("trains each method with each seed, and shows what each student measures", async () => {
    choose({ seeds: 2 });
    await comparison.train();
    expect(study().cells.map(({ method, seed }) => [method, seed])).toEqual([
      ["opd", 1],
      ["gc-opd", 1],
      ["opd", 2],
      ["gc-opd", 2],
    ]);
    expect(trained()).toEqual(study().cells.map(({ run }) => run.name));
    expect(states()).toEqual(["done", "done", "done", "done"]);
    expect(steps()).toEqual(Array.from({ length: 4 }, () => [1, 2]));
    expect(study()).toMatchObject({
      untrained: { steps: 0, sr: 25 },
      about: { teacher: "T", student: "S", device: "webgpu: H100" },
    });
    // The folders of its steps are not wanted any more.
    expect(study().cells.map(({ kept }) => kept)).toEqual([null, null, null, null]);
    expect([getUi().studying, problem()]).toEqual([null, null]);
    // Each cell took the device from the student that the page had open.
    expect(here.lost).toBe(4);
  });

  it("measures the student before training once, for all cells", async () => {
    await comparison.train();
    expect(here.cells.map(({ untrained }) => untrained)).toEqual([null, played(1)]);
  });

  it("plays the tasks of the library, and measures on others, in games that are made once", async () => {
    await comparison.train();
    const [first, second] = here.cells;
    expect(first!.plan.live!.tasks).toEqual(Array.from({ length: 8 }, (_, n) => `task ${n}`));
    expect(first!.plan).toMatchObject({
      library: "library-1",
      plans: true,
      batchSize: 8,
      live: { games: "digest" },
    });
    expect(first!.evaluation.measured.tasks).toEqual(Array.from({ length: 4 }, (_, n) => `task ${96 + n}`));
    expect(first!.evaluation).toMatchObject({ every: 1, seeds: [0], temperature: 0.4 });
    expect(second!.plan.live!.tasks).toEqual(first!.plan.live!.tasks);
    expect(here.open).toHaveLength(12);
  });

  it("opens the teacher for the methods that ask it, and gives its room to those that do not", async () => {
    choose({ methods: ["opd", "grpo", "self-distillation"] });
    await comparison.train();
    expect(here.asked).toEqual([
      ...["opens teacher", "trains cells/opd-seed-1"],
      ...["closes teacher", "trains cells/grpo-seed-1"],
      ...["closes teacher", "trains cells/self-distillation-seed-1 by itself"],
    ]);
  });

  it("tells how many unseen tasks the shortest plans solve within the limit, where all have one", async () => {
    here.shortest = (task) => (task === "task 96" ? 17 : 16);
    await comparison.train();
    expect(study().oracle).toEqual({ won: 3, tasks: 4 });
    useStudents.setState({ study: null });
    here.shortest = (task) => (task === "task 96" ? null : 16);
    await comparison.train();
    expect(study().oracle).toBeNull();
  });

  it("says what is done now: the method, the step, and how far it is", async () => {
    const held = holdCell();
    const training = comparison.train();
    await until(() => expect(held.emit).toBeDefined());
    expect(getUi().studying).toMatchObject({ label: "Vanilla OPD, seed 1", stopping: false });
    const work = (what: "rollout" | "evaluation", total: number): void =>
      held.emit!({ type: "work", work: { what, done: 3, total, unit: "episodes" } });
    work("rollout", 8);
    expect(getUi().studying).toMatchObject({
      label: "Vanilla OPD, seed 1, step 2 of 2: the student plays, 3 of 8 episodes",
      ...{ done: 1, total: 4 },
    });
    work("evaluation", 0);
    expect(getUi().studying!.label).toBe("Vanilla OPD, seed 1, after step 1: the student is measured");
    expect(states()).toEqual(["running", "waiting"]);
    held.resolve();
    await training;
  });
});

describe("nothing is trained", () => {
  it("without a library, or while a model is at work", async () => {
    setUi({ library: null });
    await comparison.train();
    setUi({ library, playing: { label: "", stopping: false } });
    await comparison.train();
    expect([here.asked, useStudents.getState().study, getUi().studying]).toEqual([[], null, null]);
  });

  it("where a model was put to work while the library's were taken", async () => {
    const taking = new Pending();
    here.take = taking.promise;
    const training = comparison.train();
    setUi({ playing: { label: "", stopping: false } });
    taking.resolve();
    await training;
    expect([here.asked, getUi().studying]).toEqual([[], null]);
  });

  it("twice at a time: of two presses the last one counts", async () => {
    const taking = new Pending();
    here.take = taking.promise;
    const both = [comparison.train(), comparison.train()];
    taking.resolve();
    await Promise.all(both);
    expect(trained()).toEqual(["cells/opd-seed-1", "cells/gc-opd-seed-1"]);
  });

  it("by a press while students are trained: those go on", async () => {
    const held = holdCell();
    const training = comparison.train();
    await until(() => expect(held.emit).toBeDefined());
    await comparison.train();
    held.emit!(updated(2));
    expect(study().cells[0]!.done).toBe(2);
    held.resolve();
    await training;
    expect([trained().length, states()]).toEqual([2, ["done", "done"]]);
  });

  it("of what the command refuses: the line of its config is shown", async () => {
    choose({ methods: ["grpo"], batch: 4 });
    await comparison.train();
    expect(problem()).toContain("plays each task 8 times");
    expect([here.asked, getUi().studying]).toEqual([[], null]);
    // It is gone with the next press.
    choose(CHOICES);
    await comparison.train();
    expect(problem()).toBeNull();
  });
});

describe("a fault", () => {
  it("of what one cell asks for fails that one alone, and it is tried again the next time", async () => {
    here.next.push(async () => {
      throw new InputError("no teacher token");
    });
    await comparison.train();
    expect(study().cells.map(({ state, reason }) => [state, reason])).toEqual([
      ["failed", "no teacher token"],
      ["done", null],
    ]);
    expect(problem()).toBeNull();
    await comparison.train();
    expect(trained()).toEqual(["cells/opd-seed-1", "cells/gc-opd-seed-1", "cells/opd-seed-1"]);
    expect(study().cells[0]).toMatchObject({ state: "done", reason: null });
  });

  it("of memory names the cell that does not fit, and trains the others", async () => {
    here.plan = async ({ id }) => (id.includes("gc-opd") ? "3 GiB of 2 GiB" : null);
    await comparison.train();
    expect(study().cells.map(({ state, reason }) => [state, reason])).toEqual([
      ["done", null],
      ["failed", "3 GiB of 2 GiB"],
    ]);
    expect(trained()).toEqual(["cells/opd-seed-1"]);
  });

  it("of the device ends all: its worker is ended, and the cell goes on from its last step", async () => {
    const held = holdCell();
    const training = comparison.train();
    await until(() => expect(held.emit).toBeDefined());
    held.reject(new DeviceError("the device was lost", "lost"));
    await training;
    expect(problem()).toBe("the device was lost. The next work opens another.");
    expect([here.ended, getUi().studying, states()]).toEqual([1, null, ["waiting", "waiting"]]);
    await comparison.train();
    expect([problem(), states()]).toEqual([null, ["done", "done"]]);
    expect(here.cells.map(({ from }) => from?.state.step ?? null)).toEqual([null, 1, null]);
    expect(steps()[0]).toEqual([1, 2]);
  });
});

describe("stopped", () => {
  /** Trainings that are told to stop while a cell is under way; the grace that it has ends when the test says so. */
  async function stopInACell() {
    const [held, grace] = [holdCell(), new Pending()];
    here.grace = grace.promise;
    here.abort = () => held.reject(new DOMException("stopped", "AbortError"));
    const training = comparison.train();
    await until(() => expect(held.emit).toBeDefined());
    return { training, stopping: comparison.stop(), grace };
  }

  it("it keeps what was measured, and goes on from the last step of the cell that was under way", async () => {
    const { training, stopping, grace } = await stopInACell();
    expect(getUi().studying).toMatchObject({ stopping: true });
    await training;
    grace.resolve();
    await stopping;
    expect([problem(), getUi().studying, states()]).toEqual([null, null, ["waiting", "waiting"]]);
    expect(steps()).toEqual([[1], []]);
    await comparison.train();
    expect(states()).toEqual(["done", "done"]);
    expect(here.cells.map(({ from }) => from?.state.step ?? null)).toEqual([null, 1, null]);
    expect(here.cells[1]!.untrained).toEqual(played(1));
  });

  it("it can be begun again at once: what was left of the time to stop does not end it", async () => {
    const { training, stopping, grace } = await stopInACell();
    await training;
    const next = holdCell();
    const again = comparison.train();
    await until(() => expect(next.emit).toBeDefined());
    grace.resolve();
    await stopping;
    expect([getUi().studying?.stopping, states()]).toEqual([false, ["running", "waiting"]]);
    next.resolve();
    await again;
    expect(states()).toEqual(["done", "done"]);
  });

  it("a worker that does not answer in time is given up: what it says later changes nothing", async () => {
    const held = holdCell();
    void comparison.train();
    await until(() => expect(held.emit).toBeDefined());
    await comparison.stop();
    expect([getUi().studying, states()]).toEqual([null, ["waiting", "waiting"]]);
    const { cells } = study();
    held.emit!(updated(2));
    held.emit!(measured(2));
    held.emit!({ type: "work", work: { what: "rollout", done: 1, total: 2, unit: "episodes" } });
    expect([study().cells, getUi().studying]).toEqual([cells, null]);
    // Nor does its end disturb what is trained now.
    const next = holdCell();
    const training = comparison.train();
    await until(() => expect(next.emit).toBeDefined());
    held.reject(new DeviceError("the device was lost", "lost"));
    next.resolve();
    await training;
    expect([here.ended, problem(), states()]).toEqual([0, null, ["done", "done"]]);
  });

  it("between two asks, the worker is asked for nothing more", async () => {
    const [opening, grace] = [new Pending(), new Pending()];
    here.ensure = opening.promise;
    here.grace = grace.promise;
    const training = comparison.train();
    await until(() => expect(here.asked).toEqual(["opens teacher"]));
    const stopping = comparison.stop();
    opening.resolve();
    await training;
    grace.resolve();
    await stopping;
    expect(here.asked).toEqual(["opens teacher"]);
    expect([problem(), getUi().studying, states()]).toEqual([null, null, ["waiting", "waiting"]]);
  });

  it("nor once it was given up: the answer that comes late begins nothing", async () => {
    const opening = new Pending();
    here.ensure = opening.promise;
    const training = comparison.train();
    await until(() => expect(here.asked).toEqual(["opens teacher"]));
    await comparison.stop();
    expect([getUi().studying, states()]).toEqual([null, ["waiting", "waiting"]]);
    opening.resolve();
    await training;
    expect([here.asked, problem()]).toEqual([["opens teacher"], null]);
  });

  it("shows no new words, and is asked to stop once", async () => {
    let aborts = 0;
    const [held, grace] = [holdCell(), new Pending()];
    here.grace = grace.promise;
    here.abort = () => {
      aborts += 1;
    };
    const training = comparison.train();
    await until(() => expect(held.emit).toBeDefined());
    const stopping = comparison.stop();
    const { studying } = getUi();
    held.emit!({ type: "work", work: { what: "rollout", done: 1, total: 2, unit: "episodes" } });
    expect(getUi().studying).toBe(studying);
    await comparison.stop();
    expect(aborts).toBe(1);
    held.reject(new DOMException("stopped", "AbortError"));
    await training;
    grace.resolve();
    await stopping;
    await comparison.stop();
    expect(aborts).toBe(1);
  });
});

describe("what was trained", () => {
  const present = () => {
    const { choices } = useStudents.getState();
    return comparison.present(useStudents.getState(), getUi().library!.id, choices, getUi().place);
  };

  it("is shown for what it was trained with alone, and is there again where that is chosen again", async () => {
    await comparison.train();
    const whole = study();
    const changes: [change: () => void, back: () => void][] = [
      [() => choose({ steps: 4 }), () => choose({ steps: 2 })],
      [() => setUi((ui) => ({ place: { ...ui.place, sourcesPerTask: 4 } })), () => setUi({ place: HOME })],
      [() => setUi({ library: { ...library, id: "other" } }), () => setUi({ library })],
      ...(["teacher", "student"] as const).map((role): [() => void, () => void] => [
        () => setSource({ [role]: "sample" }),
        () => setSource({ [role]: "miniature" }),
      ]),
      [() => useMemory.setState({ weights: "int8" }), () => useMemory.setState({ weights: "f32" })],
      [
        () => setUi((ui) => ({ device: { ...ui.device, compute: "f16" } })),
        () => setUi((ui) => ({ device: { ...ui.device, compute: "f32" } })),
      ],
    ];
    expect(present()).toBe(whole);
    for (const [change, back] of changes) {
      change();
      expect(present(), String(change)).toBeNull();
      back();
      expect(present(), String(back)).toBe(whole);
    }
    // Where one looks in the library is no other study.
    setUi({ place: { ...HOME, view: "task", task: "melt" } });
    expect(present()).toBe(whole);
  });

  it("is not trained again; with other choices all start from the parent", async () => {
    await comparison.train();
    await comparison.train();
    expect(here.cells).toHaveLength(2);
    choose({ maxGradNorm: 1 });
    await comparison.train();
    expect(here.cells).toHaveLength(4);
    expect(here.cells.slice(2).map(({ plan, from }) => [plan.settings.maxGradNorm, from])).toEqual([
      [1, null],
      [1, null],
    ]);
    // The student before training is of other choices, too.
    expect(here.cells[2]!.untrained).toBeNull();
  });
});

it("the config names the files beside the library, models of the user's own, and the page's arithmetic", async () => {
  setSource({ teacher: { name: "qwen", files: new Map() } });
  useMemory.setState({ weights: "int8" });
  setUi((ui) => ({
    device: { ...ui.device, compute: "f16" },
    place: { ...HOME, sourcesPerTask: 4 },
  }));
  expect(await comparison.config(library)).toMatchObject({
    ...{ teacher: "qwen", student: "student", tokenizer: "tokenizer" },
    library: ["sources.jsonl.gz", "plans.jsonl.gz"],
    compute: "f16",
    train: { teacher_dtype: "int8", sources_per_task: 4 },
    environment: { prompt: "prompt.json" },
  });
  const two = library.files.flatMap((file) => [file, { ...file, name: "more.jsonl" }]);
  setUi((ui) => ({ device: { ...ui.device, compute: "f32" } }));
  useMemory.setState({ weights: "f32" });
  const config = await comparison.config({ ...library, files: two });
  expect(config.library).toEqual(["sources.jsonl.gz", "more.jsonl", "plans.jsonl.gz"]);
  expect(config).not.toHaveProperty("compute");
});
