/** Decisions that a run's student is looked at before and after: chosen by the user, and never part of an update. */
import { create } from "zustand";
import type { TrainConfig } from "../../../core/loop/train-config.ts";
import type { DecisionModel, TaskName } from "../../data/model.ts";
import { configField, readField } from "../runs/config-fields.ts";
import { getUi } from "../store.ts";
import type { TrainingPlan, WatchPlan } from "../worker/training-run.ts";

export type HeldOutChoice = Pick<
  DecisionModel,
  "library" | "environment" | "task" | "episode" | "decision" | "action"
>;

export interface HeldOutState {
  decisions: readonly HeldOutChoice[];
  /** Steps between two looks, as they were typed. */
  every: string;
}

export const useHeldOut = create<HeldOutState>(() => ({
  decisions: [],
  every: "",
}));

const keyOf = ({ library, environment, task, episode, decision }: HeldOutChoice): string =>
  JSON.stringify([library, environment, task, episode, decision]);

export const isHeldOut = (choice: HeldOutChoice): boolean =>
  useHeldOut.getState().decisions.some((each) => keyOf(each) === keyOf(choice));

export function holdOut(choice: HeldOutChoice): void {
  const { library, environment, task, episode, decision, action } = choice;
  if (!isHeldOut(choice))
    useHeldOut.setState(({ decisions }) => ({
      decisions: [...decisions, { library, environment, task, episode, decision, action }],
    }));
}

export function letGo(choice: HeldOutChoice): void {
  useHeldOut.setState(({ decisions }) => ({
    decisions: decisions.filter((each) => keyOf(each) !== keyOf(choice)),
  }));
}

/** The chosen decisions of the library that is shown, as a config has them; absent where there are none. */
export function watchOf(
  { decisions, every }: HeldOutState,
  library: string | undefined,
): { every?: unknown; decisions: { episode: string; decision: number }[] } | undefined {
  const own = decisions.filter((each) => each.library === library);
  if (own.length === 0) return undefined;
  return {
    ...(every.trim() === "" ? {} : { every: readField(configField("watch.every"), every) }),
    decisions: own.map(({ episode, decision }) => ({ episode, decision })),
  };
}

/** What a run of the page reads of the chosen decisions, of all libraries that are still open; absent where there is none. */
export function watchPlan(
  { watch }: TrainConfig,
  { library, episodes, live, sample }: Pick<TrainingPlan, "library" | "episodes" | "live" | "sample">,
): { watched?: WatchPlan } {
  const open = getUi().libraries.map(({ summary }) => summary.id);
  const tasks = live?.tasks.map((task) => ({ environment: live.environment.name, task })) ?? episodes;
  const decisions = useHeldOut
    .getState()
    .decisions.filter((choice) => open.includes(choice.library))
    .map(({ action: _, ...choice }) => {
      const ofTask = ({ environment, task }: TaskName) =>
        environment === choice.environment && task === choice.task;
      return {
        ...choice,
        // A run that samples does not train on what is recorded.
        trained:
          sample === undefined &&
          choice.library === library &&
          episodes.some((each) => each.episode === choice.episode && ofTask(each)),
        taskTrained: tasks.some(ofTask),
      };
    });
  if (decisions.length === 0) return {};
  const every = watch?.every ?? Number(configField("watch.every").standard);
  return { watched: { every, decisions } };
}
