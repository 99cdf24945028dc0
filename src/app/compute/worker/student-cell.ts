/** One training of a comparison in the page: a student of its own, measured as it goes, from where it was left. */
import {
  type EvaluatedEpisode,
  type EvaluationResults,
  evaluationResults,
} from "../../../core/evaluation/index.ts";
import {
  type CheckpointState,
  type Draws,
  liveEvaluation,
  type TrainingEvaluation,
} from "../../../core/loop/index.ts";
import { ModelTrainer } from "../../../engine/native/index.ts";
import { type BlobFolder, BlobFolderWriter, blobFolder } from "../../data/files/blob-folder.ts";
import { openTasks, playedAtOnce, templateOf } from "../games/internal/connected-games.ts";
import type { FolderStore } from "./kept-checkpoints.ts";
import {
  type LiveTraining,
  type RunEvent,
  runTraining,
  type TrainingPlan,
  type TrainingRun,
} from "./training-run.ts";

/** A student and its moments after a step, and what the run needs beside them to go on. */
export interface KeptStep {
  state: CheckpointState;
  folder: BlobFolder;
}

/** How students are measured: as an evaluation of `gcopd experiment` plays them. */
export interface CellEvaluation extends Draws {
  measured: LiveTraining;
  /** Steps between two measurements. */
  every: number;
  seeds: number[];
  at_once: number;
}

export interface CellAsk {
  plan: TrainingPlan;
  evaluation: CellEvaluation;
  /** The student before training, as another cell measured it: it is not played again. */
  untrained: readonly EvaluatedEpisode[] | null;
  /** Where the cell was left; null where it begins. */
  from: KeptStep | null;
}

export type CellEvent =
  | RunEvent
  /** What the student after `steps` optimizer steps played, and how long that took. */
  | { type: "measured"; steps: number; episodes: EvaluatedEpisode[]; seconds: number }
  /** The cell can go on from here. */
  | { type: "kept"; kept: KeptStep };

export type CellRun = Omit<TrainingRun, "plan" | "emit" | "checkpoints" | "evaluation"> &
  CellAsk & { emit: (event: CellEvent) => void };

/** The page keeps them: they outlive this worker. */
function checkpointStore(from: KeptStep | null, emit: CellRun["emit"]): FolderStore {
  let newest = from;
  return {
    get newest() {
      return newest?.folder ?? null;
    },
    latest: async () => newest && { state: newest.state, folder: blobFolder(newest.folder) },
    async save(state, write) {
      const writer = new BlobFolderWriter(`step ${state.step}`);
      await write(writer);
      if (writer.folder === null) throw new Error("the checkpoint was not committed");
      newest = { state, folder: writer.folder };
      emit({ type: "kept", kept: newest });
    },
  };
}

async function cellEvaluation({ evaluation, untrained, emit }: CellRun): Promise<TrainingEvaluation> {
  const { measured, at_once, ...how } = evaluation;
  const { environment, tasks, prompt } = measured;
  let steps = 0;
  let began = 0;
  const live = liveEvaluation(openTasks(environment, tasks, templateOf(environment.name, prompt)), {
    ...how,
    atOnce: await playedAtOnce(environment.name, at_once),
    digest: JSON.stringify(evaluation),
    onPlayed: (episodes) =>
      emit({ type: "measured", steps, episodes, seconds: (performance.now() - began) / 1000 }),
  });
  return {
    ...live,
    measure: async (student, ...asked): Promise<EvaluationResults> => {
      steps = student instanceof ModelTrainer ? student.steps : 0;
      if (steps === 0 && untrained !== null) return evaluationResults(untrained);
      began = performance.now();
      return live.measure(student, ...asked);
    },
  };
}

/** Trains to the end of the plan. The student that was given is disposed, whatever happens. */
export async function trainCell(run: CellRun): Promise<void> {
  const { student } = await runTraining({
    ...run,
    checkpoints: checkpointStore(run.from, run.emit),
    evaluation: await cellEvaluation(run),
  });
  student.dispose();
}
