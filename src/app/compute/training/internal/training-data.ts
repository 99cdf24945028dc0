/** What a choice of data means, and what a run is called. */
import { InputError } from "../../../../core/errors.ts";
import type { TrainConfig } from "../../../../core/loop/train-config.ts";
import { countOf } from "../../../../core/plural.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import { libraryWorker } from "../../../data/library-client.ts";
import type { LibrarySummary, TaskName } from "../../../data/model.ts";
import { getUi } from "../../store.ts";
import { type DataChoice, responsesOf, type TrainingForm } from "../training-form.ts";
import { useHeldOut } from "../training-held-out.ts";

export type EpisodeRef = TaskName & { episode: string };

/**
 * The episodes that a choice names, and the library that they are of: the one that is shown when it is asked.
 *
 * @throws InputError when no episode is open
 */
export async function chosenEpisodes(
  data: DataChoice,
): Promise<{ library: LibrarySummary; episodes: EpisodeRef[] }> {
  const { decision, task, library } = getUi();
  if (decision === null || task === null || library === null) {
    throw new InputError("open a student episode first: there is nothing to train on");
  }
  const named = (ref: TaskName, ids: readonly string[]): EpisodeRef[] =>
    ids.map((episode) => ({ environment: ref.environment, task: ref.task, episode }));
  if (data === "episode") return { library, episodes: named(decision, [decision.episode]) };
  const withDecisions = (episodes: readonly { id: string; decisions: number }[]): string[] =>
    episodes.filter(({ decisions }) => decisions > 0).map(({ id }) => id);
  if (data === "task") return { library, episodes: named(task, withDecisions(task.episodes)) };
  const all: EpisodeRef[] = [];
  for (const ref of library.tasks) {
    const ids = await libraryWorker().tasks.episodeIds({
      library: library.id,
      environment: ref.environment,
      task: ref.task,
    });
    all.push(...named(ref, ids));
  }
  return { library, episodes: all };
}

/**
 * What a run on the worker reads of the open library: episodes with the sources of their tasks, or the sources of all
 * tasks, where its student plays live.
 *
 * @throws InputError when there is none
 */
export async function recordsToSend(
  form: Pick<TrainingForm, "data" | "texts">,
): Promise<{ library: LibrarySummary; names: (TaskName & { episode?: string })[] }> {
  if (responsesOf(form) === "live") {
    const library = shownLibrary();
    const tasks = library.tasks.map(({ environment, task }) => ({ environment, task }));
    return { library, names: [...tasks, ...watchedEpisodes(library, [])] };
  }
  const { library, episodes } = await chosenEpisodes(form.data);
  return { library, names: [...episodes, ...watchedEpisodes(library, episodes)] };
}

/** The episodes of a library's watched decisions, each once, without those of `other`. */
function watchedEpisodes({ id }: LibrarySummary, other: readonly EpisodeRef[]): EpisodeRef[] {
  const keyOf = ({ environment, task, episode }: EpisodeRef) => JSON.stringify([environment, task, episode]);
  const known = new Set(other.map(keyOf));
  const more: EpisodeRef[] = [];
  for (const { library, environment, task, episode } of useHeldOut.getState().decisions) {
    const ref = { environment, task, episode };
    if (library !== id || known.has(keyOf(ref))) continue;
    known.add(keyOf(ref));
    more.push(ref);
  }
  return more;
}

/** @throws InputError when none is open */
export function shownLibrary(): LibrarySummary {
  const { library } = getUi();
  if (library === null) throw new InputError("open a library first: evidence is retrieved from it");
  return library;
}

/** "gc-opd, 1 episode": short enough for a list. */
export function runTitle(config: TrainConfig): string {
  const control = config.control === undefined ? "" : ` ${config.control}`;
  const { episode_ids: ids, environment, sample } = config;
  if (environment !== undefined) return `${methodTitle(config)}${control}, live in ${environment.name}`;
  const data =
    ids === undefined
      ? "all episodes"
      : ids.length === 1
        ? shownName(ids[0]!, 80)
        : countOf(ids.length, "episode");
  return `${methodTitle(config)}${control}, ${data}${sample === undefined ? "" : ", sampled again"}`;
}

const methodTitle = ({ stages, method }: TrainConfig): string =>
  stages !== undefined ? "own stages" : typeof method === "string" ? method : method.name;
