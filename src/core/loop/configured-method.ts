/** The method that a config of a training asks for: its schedule with what overrides it, and the teacher that it reads. */
import { InputError } from "../errors.ts";
import {
  asksTeacher,
  configuredSignal,
  isOverShare,
  METHOD_IDS,
  METHODS,
  type Method,
  namedSignal,
  type Stage,
  stagesTaken,
  withSelection,
  writtenMethod,
  writtenStage,
} from "../method/index.ts";
import { isOneOf } from "../one-of.ts";
import { selectionOfKeys } from "../retrieval/selection-keys.ts";
import type { TrainConfig } from "./train-config.ts";

/**
 * The schedule that a config names: its own stages, or those of the method. Commands read the file of a method with the
 * config.
 *
 * @throws InputError for the file of a method that was not read
 */
export function namedSchedule({ stages, method }: Pick<TrainConfig, "stages" | "method">): Method {
  if (stages) return { id: "custom", description: "Stages of the config.", stages: stages.map(writtenStage) };
  if (typeof method !== "string") return writtenMethod(method);
  if (isOneOf(METHOD_IDS, method)) return METHODS[method];
  throw new InputError(
    `expected a method, received ${JSON.stringify(method)}; only commands read a file by its name`,
    { key: "method" },
  );
}

/**
 * The schedule that a config asks for, with its overrides applied. A stage of 0 epochs stays in its place.
 *
 * @throws InputError when `epochs` or `first_epochs` has more entries than there are stages, no stage has an epoch, or a
 * stage goes on whose ramp is over a share of it
 */
export function configuredMethod(config: TrainConfig): Method {
  const controlled = withSelection(namedSchedule(config), selectionOfKeys(config));
  const { epochs = [], first_epochs: first = [], signal } = config;
  for (const [key, { length }] of Object.entries({ epochs, first_epochs: first })) {
    if (length > controlled.stages.length)
      throw new InputError(`${length} entries for ${controlled.stages.length} stages`, { key });
  }
  const stages = controlled.stages.map((stage, n) => ({
    ...(signal === undefined ? stage : withSignal(stage, signal)),
    epochs: epochs[n] ?? stage.epochs,
    ...((first[n] ?? 0) === 0 ? {} : { firstEpoch: first[n] }),
  }));
  const method = { ...controlled, stages };
  const begun = stages.findIndex(({ epochs }) => epochs > 0);
  const later = stages.findIndex(({ firstEpoch }, n) => n !== begun && firstEpoch !== undefined);
  if (begun >= 0 && later >= 0) {
    throw new InputError(`expected 0 for stage ${later + 1}: only the first stage that is trained goes on`, {
      key: "first_epochs",
    });
  }
  const [key] = overShare(stages[begun]);
  if (key !== undefined && stages[begun]?.firstEpoch !== undefined) {
    throw new InputError(
      `stage ${begun + 1} cannot go on: its ${key} changes over a share of the stage, and the parent took its own ` +
        'epochs for the whole stage; expected a ramp of so many updates, as {"over": {"updates": 95}}',
      { key: "first_epochs" },
    );
  }
  if (stagesTaken(method).length === 0) {
    throw new InputError("at least one stage needs an epoch", {
      key: config.epochs === undefined ? "stages" : "epochs",
    });
  }
  return method;
}

/** The keys of a stage's ramps whose length depends on how many epochs the stage has. */
function overShare(stage: Stage | undefined): string[] {
  const ramps = {
    "weights.balance": stage?.weights?.kind === "turn-balanced" ? stage.weights.balance : 0,
    "reward.teacher": stage?.reward?.teacher ?? 0,
    "reward.factor": stage?.reward?.factor ?? 0,
  };
  return Object.entries(ramps).flatMap(([key, ramp]) => (isOverShare(ramp) ? [key] : []));
}

function withSignal({ signal: _, ...stage }: Stage, signal: NonNullable<TrainConfig["signal"]>): Stage {
  return { ...stage, ...configuredSignal(namedSignal(signal)) };
}

/** What `teacher` is called where it is the student as the run begins. */
export const STUDENT_TEACHER = "student";
/** Why a config is refused that has a folder of this name beside it. */
export const AMBIGUOUS_TEACHER = `ambiguous: write "./${STUDENT_TEACHER}" for the folder beside the config`;

/**
 * The teacher that a run reads: what the config names, `student` where the method's is the student itself, and null
 * where no stage asks one.
 *
 * @throws InputError where one is missing, or the method says who it is and the config says otherwise
 */
export function configuredTeacher(config: TrainConfig): string | null {
  const { teacher: named } = config;
  const method = configuredMethod(config);
  if (method.teacher !== undefined && named !== undefined && named !== STUDENT_TEACHER) {
    throw new InputError(`the teacher of ${method.id} is the student itself: leave it out`, {
      key: "teacher",
    });
  }
  const teacher = named ?? method.teacher;
  if (!stagesTaken(method).some(asksTeacher)) return null;
  if (teacher === undefined) throw new InputError("missing: name a model that scores", { key: "teacher" });
  return teacher;
}
