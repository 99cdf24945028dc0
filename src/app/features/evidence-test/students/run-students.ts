/**
 * Trains the students of a comparison one after the other, live in made games, and shows what each measures as it comes.
 * Stopped, it goes on from the last step of the one that was under way.
 */
import * as Comlink from "comlink";
import { InputError } from "../../../../core/errors.ts";
import { configuredMethod, configuredSettings, type TrainConfig } from "../../../../core/loop/index.ts";
import { teacherOf } from "../../../../core/method/index.ts";
import { describeFault, isAbort, isDeviceFault } from "../../../base/faults.ts";
import { Latest } from "../../../base/latest.ts";
import {
  type CellEvaluation,
  type CellEvent,
  gamesWorker,
  type LiveTraining,
  type TrainingPlan,
} from "../../../compute/clients.ts";
import { isModelAtWork } from "../../../compute/computing.ts";
import { computeWithGames } from "../../../compute/games/games.ts";
import { liveTraining, withGames } from "../../../compute/games/live-games.ts";
import { gateSelection } from "../../../compute/gate/run-gate.ts";
import { memory, requirePlan } from "../../../compute/models/memory.ts";
import { models } from "../../../compute/models/models.ts";
import { getUi, setUi, type UiState } from "../../../compute/store.ts";
import {
  type StudentArithmetic,
  type StudentChoices,
  type StudentFiles,
  stepsOf,
  studentConfig,
  studentGrid,
} from "../../../compute/students/students-config.ts";
import { type StudyFrom, useStudents } from "../../../compute/students/students-store.ts";
import {
  followCell,
  measuredStudent,
  type StudentCell,
  type Study,
  waitingCells,
} from "../../../compute/students/study.ts";
import { planTraining } from "../../../compute/training/training-plan.ts";
import { getBlob, readSampleManifest } from "../../../data/library/sample.ts";
import type { LibrarySummary } from "../../../data/model.ts";
import { shippedBase } from "../../../data/shipped-base.ts";

type PickedPrompt = NonNullable<LiveTraining["prompt"]>;

/** What the miniature has beside its records and models. */
interface MiniatureExtras {
  /** Its prompt template; absent where it has none. */
  prompt?: PickedPrompt;
  /** Its file of planner records; absent where it has none. */
  plans?: string;
}

const keyOf = (choices: StudentChoices, place: UiState["place"]): string =>
  JSON.stringify([choices, gateSelection(place)]);

/** Shows what is done now; says nothing once it was stopped. */
function show(label: string): void {
  const { study } = useStudents.getState();
  const sum = (of: (cell: StudentCell) => number): number =>
    study?.cells.reduce((all, cell) => all + of(cell), 0) ?? 0;
  setUi(({ studying }) =>
    studying === null || studying.stopping
      ? {}
      : { studying: { ...studying, label, done: sum(({ done }) => done), total: sum(({ total }) => total) } },
  );
}

/** Nothing is trained any more; what was begun waits. */
function ended(): void {
  patchCells(({ state }) => state === "running", { state: "waiting" });
  setUi({ studying: null });
}

function patchCells(which: (cell: StudentCell) => boolean, change: Partial<StudentCell>): void {
  useStudents.setState(({ study }) => ({
    study: study && {
      ...study,
      cells: study.cells.map((cell) => (which(cell) ? { ...cell, ...change } : cell)),
    },
  }));
}

interface CellWork {
  library: string;
  live: LiveTraining;
  evaluation: CellEvaluation;
  wait: <T>(work: Promise<T>) => Promise<T>;
  isLatest: () => boolean;
}

function planOf(config: TrainConfig, name: string, { library, live }: CellWork): TrainingPlan {
  return {
    id: name,
    method: configuredMethod(config),
    settings: configuredSettings(config),
    batchSize: config.batch_size,
    seed: config.seed,
    ...{ library, plans: true, live, episodes: [], endOfTurn: true, watch: null, checkpointEvery: 1 },
    // The page keeps the checkpoint with all that it depends on.
    fingerprint: {},
  };
}

const WORDS = {
  rollout: "the student plays",
  teacher: "the teacher scores",
  student: "the student is updated",
  evaluation: "the student is measured",
  checkpoint: "a checkpoint is written",
} as const;

function follow(isThis: (cell: StudentCell) => boolean, label: string, event: CellEvent): void {
  useStudents.setState(({ study }) => {
    if (study === null) return {};
    const cells = study.cells.map((cell) => (isThis(cell) ? followCell(cell, event) : cell));
    if (event.type === "measured" && event.steps === 0)
      return { study: { ...study, untrained: measuredStudent(event) } };
    if (event.type === "loop" && event.event.type === "start") {
      const { teacher, student } = event.event;
      const { kind, adapter } = getUi().device;
      const known = study.about?.teacher ?? null;
      const about = {
        ...{ teacher: teacher?.model ?? known, student: student.model },
        device: adapter === "" ? kind : `${kind}: ${adapter}`,
      };
      return { study: { ...study, cells, about } };
    }
    return { study: { ...study, cells } };
  });
  const cell = useStudents.getState().study?.cells.find(isThis);
  if (cell === undefined) return;
  if (event.type === "work") {
    const { what, done, total, unit } = event.work;
    const step = Math.min(cell.done + (what === "evaluation" ? 0 : 1), cell.total);
    const far = total > 0 ? `, ${done} of ${total} ${unit}` : "";
    show(
      `${label}, ${what === "evaluation" ? `after step ${step}` : `step ${step} of ${cell.total}`}: ${WORDS[what]}${far}`,
    );
  }
}

const page = { models, games: gamesWorker, planTraining, readSampleManifest, getBlob };

/** The comparison that is chosen in the evidence view. */
export class StudentComparison {
  readonly #turns = new Latest();
  /** Null until they are first asked for. */
  #extrasAsked: Promise<MiniatureExtras> | null = null;

  constructor(private readonly clients: typeof page) {}

  /** Trains on from what is there, cell by cell. */
  async train(): Promise<void> {
    const { library, place } = getUi();
    if (library === null || isModelAtWork()) return;
    const { choices } = useStudents.getState();
    const isLatest = this.#turns.begin();
    const checkLatest = (): void => {
      if (!isLatest()) throw new DOMException("stopped", "AbortError");
    };
    const wait = async <T>(work: Promise<T>): Promise<T> => {
      const result = await work;
      checkLatest();
      // To abort reaches what a worker is at, and nothing that it is asked later.
      if (getUi().studying?.stopping) throw new DOMException("stopped", "AbortError");
      return result;
    };
    useStudents.setState({ problem: null });
    try {
      await this.clients.models.takeShipped(library.link);
      if (!isLatest() || isModelAtWork()) return;
      setUi({
        studying: { library: library.id, label: "Getting ready", done: 0, total: 0, stopping: false },
      });
      const extras = await wait(this.#extras());
      const computed = await wait(this.#arithmetic());
      const config = studentConfig(choices, gateSelection(place), this.#files(library, extras), computed);
      const { grid } = studentGrid(config);
      const open = async (environment: LiveTraining["environment"]): Promise<LiveTraining> => {
        const found = await wait(liveTraining({ environment }));
        if (found === null) throw new Error("no environment is played");
        const { live } = await wait(withGames({ live: found }));
        return { ...live, ...(extras.prompt === undefined ? {} : { prompt: extras.prompt }) };
      };
      show("Making games");
      const live = await open(grid.runs[0]!.config.environment!);
      const [{ of }] = grid.evaluations as [(typeof grid.evaluations)[number]];
      const { environment, seeds, at_once, temperature } = of("");
      const measured = await open(environment);
      if (this.present(useStudents.getState(), library.id, choices, place) === null) {
        const study: Study = {
          ...{ key: keyOf(choices, place), choices, config, grid, tasks: live.tasks.length },
          ...{ cells: waitingCells(grid, stepsOf(choices)), untrained: null, about: null },
          oracle: await wait(this.#oracle(measured)),
        };
        useStudents.setState({ study: { ...study, from: this.#from(library.id) } });
      }
      const { every } = choices;
      const evaluation: CellEvaluation = {
        measured,
        every,
        seeds,
        at_once,
        ...(temperature !== undefined && { temperature }),
      };
      for (const { name } of grid.runs) {
        const cell = useStudents.getState().study!.cells.find(({ run }) => run.name === name)!;
        if (cell.state === "done") continue;
        await this.#trainOne(cell, { library: library.id, live, evaluation, wait, isLatest });
      }
    } catch (error) {
      if (!isLatest()) return;
      if (isDeviceFault(error)) this.clients.models.endWorker();
      if (!isAbort(error)) useStudents.setState({ problem: describeFault(error) });
    }
    if (isLatest()) ended();
  }

  /** Stops at once: the step that is under way is lost, and what was measured stays. */
  async stop(): Promise<void> {
    const { studying } = getUi();
    if (studying === null || studying.stopping) return;
    const isLatest = this.#turns.present();
    setUi({ studying: { ...studying, stopping: true } });
    if (!(await this.clients.models.stopWork(() => isLatest() && getUi().studying !== null))) return;
    this.#turns.end();
    ended();
  }

  /** The study of what is chosen now, as far as there is one. */
  present(
    { study }: Pick<ReturnType<typeof useStudents.getState>, "study">,
    library: string,
    choices: StudentChoices,
    place: UiState["place"],
  ): Study | null {
    if (study === null) return null;
    const from = this.#from(library);
    const same =
      study.key === keyOf(choices, place) &&
      study.from.library === from.library &&
      study.from.teacher === from.teacher &&
      study.from.student === from.student &&
      study.from.weights === from.weights &&
      study.from.compute === from.compute;
    return same ? study : null;
  }

  /** The config of what is chosen now, as `gcopd experiment` reads it beside the files of the shipped library. */
  async config(library: LibrarySummary) {
    const files = this.#files(library, await this.#extras());
    const { choices } = useStudents.getState();
    const computed = await this.#arithmetic();
    return studentConfig(choices, gateSelection(getUi().place), files, computed);
  }

  async #trainOne(cell: StudentCell, work: CellWork): Promise<void> {
    const { models, planTraining } = this.clients;
    const { wait, isLatest, evaluation } = work;
    const { name, config } = cell.run;
    const isThis = ({ run }: StudentCell): boolean => run.name === name;
    const label = `${useStudents.getState().study!.grid.methods.find(({ id }) => id === cell.method)?.label}, seed ${cell.seed}`;
    show(label);
    patchCells(isThis, { state: "running", reason: null });
    const plan = planOf(config, name, work);
    const asked = teacherOf(plan.method);
    try {
      const passes = await wait(requirePlan("train", () => planTraining(plan)));
      await wait(asked === "named" ? models.ensure("teacher").then(() => undefined) : models.closeTeacher());
      const { student } = await wait(models.workload("train"));
      const { api } = await wait(computeWithGames());
      await wait(api.takePasses(passes));
      // The device has room for one: the page's own is opened again when it is needed.
      models.studentLost();
      const { untrained } = useStudents.getState().study!;
      const { kept } = useStudents.getState().study!.cells.find(isThis)!;
      await wait(
        api.trainCell(
          student,
          asked === "student" ? student : null,
          { plan, evaluation, untrained: untrained?.episodes ?? null, from: kept },
          Comlink.proxy((event: CellEvent) => {
            if (isLatest()) follow(isThis, label, event);
          }),
        ),
      );
      patchCells(isThis, { state: "done", kept: null });
    } catch (error) {
      // Other cells go on, as in `gcopd experiment`.
      if (!isLatest() || !(error instanceof InputError)) throw error;
      patchCells(isThis, { state: "failed", reason: describeFault(error) });
    }
  }

  /** The share of tasks that the shortest plan of each game solves within the limit. */
  async #oracle({ environment: { name, max_decisions = 0 }, tasks }: LiveTraining): Promise<Study["oracle"]> {
    const plans = await Promise.all(
      tasks.map((task) => this.clients.games().plan({ environment: name, task })),
    );
    if (plans.includes(null)) return null;
    return { won: plans.filter((plan) => plan!.length <= max_decisions).length, tasks: tasks.length };
  }

  #extras(): Promise<MiniatureExtras> {
    this.#extrasAsked ??= (async () => {
      const base = shippedBase("miniature");
      const { prompt, plans } = await this.clients.readSampleManifest(base);
      const extras = plans === undefined ? {} : { plans };
      if (prompt === undefined) return extras;
      const text = await (await this.clients.getBlob(base, prompt)).text();
      return { ...extras, prompt: { name: prompt, template: JSON.parse(text) } };
    })();
    this.#extrasAsked.catch(() => {
      this.#extrasAsked = null;
    });
    return this.#extrasAsked;
  }

  /** What the config names: files of the shipped folder, and other models by their names. */
  #files({ files }: LibrarySummary, { prompt, plans }: MiniatureExtras): StudentFiles {
    const model = (role: "teacher" | "student"): string => {
      const source = this.clients.models.source(role);
      return typeof source === "string" ? role : source.name;
    };
    const sources = files.filter(({ kind }) => kind === "sources").map(({ name }) => name);
    if (plans !== undefined) sources.push(plans);
    return {
      teacher: model("teacher"),
      student: model("student"),
      tokenizer: "tokenizer",
      library: sources.length === 1 ? sources[0]! : sources,
      ...(prompt === undefined ? {} : { prompt: prompt.name }),
    };
  }

  #from(library: string): StudyFrom {
    const { models } = this.clients;
    return {
      ...{ library, teacher: models.source("teacher"), student: models.source("student") },
      ...{ weights: memory().weights, compute: getUi().device.compute },
    };
  }

  /** The arithmetic that is named in the config. The device is open then: before, nobody knows what it takes. */
  async #arithmetic(): Promise<StudentArithmetic> {
    await this.clients.models.worker();
    const { weights } = memory();
    return {
      ...(getUi().device.compute === "f16" && { compute: "f16" as const }),
      ...(weights !== "f32" && { teacher_dtype: weights }),
    };
  }
}

export const studentComparison = new StudentComparison(page);
