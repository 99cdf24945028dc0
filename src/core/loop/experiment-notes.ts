/** What a reader of an experiment's figures has to know of the tasks that they are measured on. */
import type { GridConfig } from "./experiment-config.ts";
import type { ExperimentGrid } from "./experiment-grid.ts";
import { type EnvironmentConfig, TASKS_FROM } from "./live-config.ts";

/** A sentence per evaluation whose tasks are trained on, or whose episodes the best checkpoint is chosen by. */
export function taskNotes(
  { environment, student, train, checkpoints = [] }: GridConfig,
  { evaluations }: Pick<ExperimentGrid, "evaluations">,
): string[] {
  const chosen = checkpoints.includes("best") ? train.evaluate : undefined;
  const chosenOn = ({ environment: own = environment, tasks = own.tasks }: NonNullable<typeof chosen>) => ({
    ...own,
    tasks,
  });
  return evaluations.flatMap(({ name, of }) => {
    const { environment: measured, seeds } = of(student);
    const byEpisodes =
      chosen !== undefined &&
      shareTasks(chosenOn(chosen), measured) &&
      chosen.seeds.some((seed) => seeds.includes(seed));
    return [
      ...(shareTasks(environment, measured)
        ? [
            `${name}: tasks of the training are among its tasks, so its figures are not of unseen tasks alone.`,
          ]
        : []),
      ...(byEpisodes
        ? [
            `${name}, best: the checkpoint is chosen by episodes of these tasks and seeds, so its figures are the maximum over checkpoints, and biased upwards.`,
          ]
        : []),
    ];
  });
}

/** Whether two configs play a task in common, as far as they say it: from one place, and not from lists of other tasks. */
function shareTasks(a: EnvironmentConfig, b: EnvironmentConfig): boolean {
  const place = (of: EnvironmentConfig): string =>
    JSON.stringify([
      of.name,
      ...TASKS_FROM[of.name].map((key) => (of as Record<string, unknown>)[key] ?? null),
    ]);
  if (place(a) !== place(b)) return false;
  const range = ({ goals }: EnvironmentConfig): [number, number] =>
    goals === undefined ? [0, Number.POSITIVE_INFINITY] : [goals.first, goals.first + goals.count];
  const [from, to] = [range(a), range(b)];
  if (from[0] >= to[1] || to[0] >= from[1]) return false;
  return (
    !Array.isArray(a.tasks) || !Array.isArray(b.tasks) || a.tasks.some((task) => b.tasks!.includes(task))
  );
}
