/** Loads what the place names, and says so where the library has nothing of that name. */
import { InputError } from "../../core/errors.ts";
import type { LibrarySummary, TaskModel, TaskSummary } from "../model.ts";
import { navigate } from "../place/navigate.ts";
import type { Place } from "../place/place.ts";
import { selectionOf, sourcesKey } from "../place/what-if.ts";
import { getUi, setUi, useUi } from "../state/store.ts";
import { libraryWorker } from "../workers/clients.ts";
import { describeFault } from "./faults.ts";
import { openSample } from "./open.ts";

/** The task that a place names; null when there is none. */
export function taskAt(library: LibrarySummary, place: Place): TaskSummary | null {
  return (
    library.tasks.find(
      ({ task, environment }) =>
        task === place.task && (place.environment === null || environment === place.environment),
    ) ?? null
  );
}

/** The episode that a place names, or the first one when it names none. */
export function episodeAt(task: TaskModel, place: Place) {
  return place.episode === null
    ? (task.episodes[0] ?? null)
    : (task.episodes.find(({ id }) => id === place.episode) ?? null);
}

let sequence = 0;

/** Follows the place for as long as the page lives. Returns the undo. */
export function followPlace(): () => void {
  const follow = (place: Place, library: LibrarySummary | null): void => {
    sequence += 1;
    if (library === null) {
      if (place.library === "sample" && getUi().opening === null && getUi().notice === null)
        void openSample(true);
      return;
    }
    if (place.task === null) {
      setUi({ task: null, decision: null, viewProblem: null });
      return;
    }
    void load(place, library, sequence);
  };
  const { place, library } = getUi();
  follow(place, library);
  return useUi.subscribe((now, before) => {
    if (now.place !== before.place || now.library !== before.library) follow(now.place, now.library);
  });
}

async function load(place: Place, library: LibrarySummary, mine: number): Promise<void> {
  const current = (): boolean => mine === sequence;
  try {
    const ref = taskAt(library, place);
    if (ref === null) throw new InputError(`This library has no task “${place.task}”.`);
    const shown = getUi().task;
    const selection = selectionOf(place);
    let task = shown;
    if (
      shown === null ||
      shown.task !== ref.task ||
      shown.environment !== ref.environment ||
      sourcesKey(shown.selection) !== sourcesKey(selection)
    ) {
      task = await libraryWorker().task({ environment: ref.environment, task: ref.task }, selection);
      if (!current()) return;
      setUi({ task, decision: null });
    }
    if (task === null) return;
    if (task.episodes.length === 0) {
      setUi({ decision: null, viewProblem: null });
      return;
    }
    const episode = episodeAt(task, place);
    if (episode === null) throw new InputError(`Task ${task.task} has no episode “${place.episode}”.`);
    if (place.decision >= episode.decisions) {
      throw new InputError(
        episode.decisions === 0
          ? `Episode ${episode.id} has no decision at all.`
          : `Episode ${episode.id} has no decision ${place.decision}: they go from 0 to ${episode.decisions - 1}.`,
      );
    }
    if (place.episode === null) {
      // The link names it from here on; the change leads back here.
      navigate({ episode: episode.id });
      return;
    }
    const model = await libraryWorker().decision(
      { environment: ref.environment, task: ref.task },
      episode.id,
      place.decision,
      selection,
    );
    if (current()) setUi({ decision: model, viewProblem: null });
  } catch (error) {
    if (current()) setUi({ decision: null, viewProblem: describeFault(error) });
  }
}
