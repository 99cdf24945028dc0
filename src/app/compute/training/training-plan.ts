/** What a run of the page reads and needs: from the form, or as the browser kept it. */
import { InputError } from "../../../core/errors.ts";
import { configuredMethod } from "../../../core/loop/configured-method.ts";
import { configuredSettings, type TrainConfig } from "../../../core/loop/train-config.ts";
import { teacherOf } from "../../../core/method/index.ts";
import type { FolderFiles } from "../../data/files/blob-folder.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { LibrarySummary } from "../../data/model.ts";
import { liveEvaluation, liveTraining } from "../games/live-games.ts";
import { showPlan } from "../models/memory.ts";
import { modelDigest } from "../models/model-digest.ts";
import { models } from "../models/models.ts";
import { getUi } from "../store.ts";
import type { PlanToMeasure, TrainingPlan } from "../worker/training-run.ts";
import { firstProblem } from "./form-problems.ts";
import { chosenEpisodes, shownLibrary } from "./internal/training-data.ts";
import { composeConfig } from "./training-config.ts";
import { methodWords, trainingForm } from "./training-form.ts";
import { watchPlan } from "./training-held-out.ts";
import { useSending } from "./worker-training.ts";

/** A plan with what it was made from. */
export type PagePlan = TrainingPlan & {
  config: TrainConfig;
  written: Record<string, unknown>;
  words: string;
};

/** A plan as the browser kept it. Those of earlier versions, whose runs had no end-of-turn token, do not name it. */
export type KeptPlan = Omit<PagePlan, "endOfTurn"> & Partial<Pick<PagePlan, "endOfTurn">>;

/**
 * The open library that a plan was over, the shown one first, and the student that was its own teacher, as it was opened
 * or as it is; no library, with the names of what differs, where a model is another or no open library is the same.
 */
export async function sameInputs(
  made: Record<string, string>,
): Promise<{ library: string | null; own: FolderFiles | null; differing: string[] }> {
  const { libraries, library } = getUi();
  const { teacher, student } = await models.workload("train");
  const possible: FingerprintModel[] =
    "student" in made
      ? [models.studentState().opened?.folder ?? student, student].map((own) => ({ student: own }))
      : "teacher" in made
        ? [{ teacher }]
        : [{}];
  const described = await Promise.all(
    possible.map(async (model) => ({ own: model.student ?? null, words: await modelWords(model) })),
  );
  const shownFirst = [library, ...libraries.map(({ summary }) => summary)].filter((each) => each !== null);
  const candidates = shownFirst.flatMap((each) => described.map((model) => ({ each, model })));
  let differing = ["library"];
  for (const [i, { each, model }] of candidates.entries()) {
    const now: Record<string, string> = { library: libraryWords(each), ...model.words };
    // Plans of earlier versions do not record the models' contents.
    const other = Object.keys(now).filter(
      (name) => now[name] !== made[name] && now[name]!.split(CONTENTS)[0] !== made[name],
    );
    if (other.length === 0) return { library: each.id, own: model.own, differing: [] };
    if (i === 0 || other.length < differing.length) differing = other;
  }
  return { library: null, own: null, differing };
}

/** The teacher of a run, the student that is its own teacher, or neither where the run asks no teacher. */
type FingerprintModel = { teacher?: FolderFiles; student?: FolderFiles };

/** A library that a run of this page was over, in words. */
function libraryWords({ title, files }: LibrarySummary): string {
  const each = files.map(({ name, bytes, records }) => `${name}, ${bytes} bytes, ${records} records`);
  return `${title}: ${each.join("; ")}`;
}

/** Prefix of the digest that distinguishes models whose files have the same names and sizes. */
const CONTENTS = "; contents ";

/** The models that a run of this page began with, in words. */
async function modelWords(of: FingerprintModel): Promise<Record<string, string>> {
  const words = async ([role, folder]: [string, FolderFiles]) => {
    const files = [...folder.files].map(([file, { size }]) => `${file} ${size}`).join(", ");
    const digest = await modelDigest(folder);
    return [role, `${folder.name}: ${files}${CONTENTS}${digest.slice(0, 16)}`];
  };
  return Object.fromEntries(await Promise.all(Object.entries(of).map(words)));
}

/** A run that names a teacher needs one that reads the student's tokens. Throws `InputError` when the open one does not. */
function checkSameTokens(): void {
  const { training } = getUi().tokenizerFit;
  if (training !== null)
    throw new InputError(
      `the teacher reads other tokens than the student, and a run needs the same: ${training}`,
    );
}

/**
 * What the form describes, as the page runs it.
 *
 * @throws InputError for the first field that is wrong
 */
export async function formPlan(): Promise<Omit<PagePlan, "id">> {
  const { decision } = getUi();
  const { config, problems, written } = composeConfig();
  if (config === null) throw new InputError(firstProblem(problems)!);
  const method = configuredMethod(config);
  const asked = teacherOf(method);
  if (asked === "named") checkSameTokens();
  const { end_of_turn: endOfTurn = true } = config;
  const live = await liveTraining(config);
  const evaluation = await liveEvaluation(config);
  const { library, episodes: all } =
    live === null ? await chosenEpisodes(trainingForm().data) : { library: shownLibrary(), episodes: [] };
  const episodes = all.slice(0, config.limit ?? all.length);
  const { teacher, student } = await models.workload("train");
  const pair =
    decision === null
      ? null
      : await libraryWorker().tasks.pair(
          decision,
          decision.episode,
          decision.decision,
          {},
          { by: "student", endOfTurn },
        );
  const trainedOn = {
    library: library.id,
    episodes,
    ...(live === null ? {} : { live }),
    ...(config.sample === undefined ? {} : { sample: config.sample }),
  };
  return {
    config,
    written,
    words: methodWords(config),
    method,
    settings: configuredSettings(config),
    batchSize: config.batch_size,
    seed: config.seed,
    ...trainedOn,
    ...(evaluation === null ? {} : { evaluation }),
    ...(config.evidence_tokens === undefined ? {} : { evidenceTokens: config.evidence_tokens }),
    endOfTurn,
    ...("checkpoint_every" in written ? { checkpointEvery: config.checkpoint_every } : {}),
    fingerprint: {
      library: libraryWords(library),
      ...(await modelWords({ named: { teacher }, student: { student }, none: {} }[asked])),
    },
    ...watchPlan(config, trainedOn),
    watch: pair && { id: "watch", promptIds: pair.vanillaIds, responseIds: pair.responseIds },
  };
}

/** What a plan of the page will read and need. */
export async function planTraining(plan: PlanToMeasure) {
  await models.ensureTokenizers();
  const [{ api }, both] = await Promise.all([models.worker(), models.workload("train")]);
  const job = {
    named: both,
    student: { ...both, teacher: both.student, weights: "f32" as const },
    none: { ...both, teacher: null },
  }[teacherOf(plan.method)];
  const planned = await api.planTraining(job, plan);
  useSending.setState({ work: planned.work });
  return planned;
}

/** Shows what the run that the form describes will need. */
export function showTrainingPlan(): Promise<void> {
  const { decision } = getUi();
  return showPlan("train", async (isLatest) => {
    const { config } = composeConfig();
    const live = config?.environment !== undefined;
    if ((decision === null && !live) || trainingForm().where !== "page" || config === null) return null;
    const plan = await formPlan();
    // Measuring now would end that of a run that has begun meanwhile.
    return isLatest() ? planTraining(plan) : null;
  });
}
