/** The task view's data of executions that are played in the page, joined with recorded ones where they share a state. */
import { taskGraph } from "../../../core/graph/index.ts";
import type { Source } from "../../../core/record/schema.ts";
import type { TaskModel } from "../model.ts";
import { taskModel } from "./task-model.ts";

/**
 * @param recorded of the same task; all of them, since a graph needs no trust in a record
 * @param played at least one, the present execution last: it is also drawn as the path of an episode
 */
export function playedTask(
  recorded: readonly Source[],
  played: readonly Source[],
): Omit<TaskModel, "library" | "selection" | "leftOut"> {
  const ids = new Set(recorded.map(({ source }) => source));
  const own = played.map((each) => {
    let { source } = each;
    // A library that was saved here before has records of the same names.
    while (ids.has(source)) source += "′";
    ids.add(source);
    return { ...each, source };
  });
  const last = own.at(-1)!;
  const { environment, task, source, ...execution } = last;
  const { format: _, repetition: __, origin: ___, ...rest } = execution;
  const name = { environment, task };
  return taskModel(taskGraph([...recorded, ...own], name), name, [
    { ...rest, ...name, format: "gcopd.episode.v1", episode: source },
  ]);
}
