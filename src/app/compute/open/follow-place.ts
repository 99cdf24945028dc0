/** Loads what the place names, and says so where the library has nothing with that name. */

import { InputError } from "../../../core/errors.ts";
import { sourcesKey } from "../../../core/retrieval/selection.ts";
import { describeFault } from "../../base/faults.ts";
import { Latest } from "../../base/latest.ts";
import type { DecisionRequest } from "../../data/decisions.ts";
import { keptDecisions } from "../../data/kept-decisions.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { taskAt } from "../../data/library-place.ts";
import type { LibrarySummary, TaskModel } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import { linkKey, opensByItself } from "../../url/library-link.ts";
import type { Place } from "../../url/place.ts";
import { ofTask, selectionOf } from "../../url/what-if.ts";
import { isDeviceBusy } from "../computing.ts";
import { models } from "../models/models.ts";
import { getUi, setUi, useUi } from "../store.ts";
import { openLibraries } from "./libraries.ts";
import { openLinked } from "./open.ts";

/** The episode that a place names, or the first one when it names none. */
export function episodeAt(task: TaskModel, place: Place) {
  return place.episode === null
    ? (task.episodes[0] ?? null)
    : (task.episodes.find(({ id }) => id === place.episode) ?? null);
}

/** Parts of a place that say how something is shown that is loaded already. */
const HOW: ReadonlySet<keyof Place> = new Set([
  "part",
  "token",
  "sides",
  "compare",
  "signal",
  "axis",
  "runsSort",
  "runsGroup",
  "runsTags",
]);

/** True where two places differ only in how the same thing is shown: stepping through tokens reloads nothing. */
function isHowOnly(now: Place, before: Place): boolean {
  const changed = (Object.keys(now) as (keyof Place)[]).filter((key) => now[key] !== before[key]);
  return changed.length > 0 && changed.every((key) => HOW.has(key));
}

const page = { worker: libraryWorker, decisions: keptDecisions, models, navigate, openLinked, openLibraries };

/** Loads what the place names, for as long as it follows it. */
export class PlaceFollower {
  readonly #turns = new Latest();
  /** The link that was last opened by itself: one that failed is not tried again and again. */
  #tried: string | null = null;
  /** What was shown last, to know which way the user steps. */
  #last: DecisionRequest | null = null;

  constructor(private readonly clients: typeof page) {}

  /** The user asks for the link again: it is tried once more, even if it failed. */
  tryAgain(): void {
    this.#tried = null;
  }

  /** The user asks again for what could not be read. */
  readAgain = (): void => {
    setUi({ viewProblem: null });
    // The same place as another object is followed like any other.
    this.clients.navigate({});
  };

  /** Follows the place for as long as the page lives. Returns the undo. */
  follow(): () => void {
    const { models, openLibraries } = this.clients;
    const { place, library } = getUi();
    this.#goTo(place, library);
    return useUi.subscribe((now, before) => {
      const another = now.library !== before.library;
      if (another && now.library !== null) void openLibraries.followColumns(now.library);
      // While a model is at work those before stay: their models are taken once it ends.
      const freed = isDeviceBusy(before) && !isDeviceBusy(now);
      if ((another || freed) && now.library !== null)
        void models.takeShipped(now.library.link).catch(describeFault);
      // A link that came while something else was opened waits for its turn.
      const itsTurn = now.library === null && now.opening === null && before.opening !== null;
      if (!another && !itsTurn && (now.place === before.place || isHowOnly(now.place, before.place))) return;
      this.#goTo(now.place, now.library);
    });
  }

  #goTo(place: Place, library: LibrarySummary | null): void {
    const isLatest = this.#turns.begin();
    if (library === null) {
      const link = linkKey(place);
      if (getUi().opening !== null || !opensByItself(place) || this.#tried === link) return;
      this.#tried = link;
      void this.clients.openLinked(place);
      return;
    }
    this.#tried = null;
    if (place.task === null) {
      setUi({ task: null, decision: null, viewProblem: null });
      return;
    }
    void this.#load(place, library, isLatest);
  }

  async #load(place: Place, library: LibrarySummary, isLatest: () => boolean): Promise<void> {
    const { worker, decisions, navigate } = this.clients;
    try {
      const ref = taskAt(library, place);
      if (ref === null) throw new InputError(`This library has no task “${place.task}”.`);
      const shown = getUi().task;
      const selection = selectionOf(place);
      let task = shown;
      const sameTask =
        shown?.library === library.id && shown.task === ref.task && shown.environment === ref.environment;
      if (shown === null || !sameTask || sourcesKey(shown.selection) !== sourcesKey(selection)) {
        // What was wished of the task before is read by nobody.
        void decisions.prepare([]);
        const { environment, task: name } = ref;
        task = await worker().tasks.task({ library: library.id, environment, task: name }, selection);
        if (!isLatest()) return;
        // Within one task, what is shown stays until everything that changes has arrived.
        if (!sameTask) setUi({ task, decision: null });
      }
      if (task === null) return;
      if (task.episodes.length === 0) {
        setUi({ task, decision: null, viewProblem: null });
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
        navigate({ episode: episode.id }, "fill");
        return;
      }
      const request: DecisionRequest = {
        library: library.id,
        environment: ref.environment,
        task: ref.task,
        episode: episode.id,
        decision: place.decision,
        selection,
        endOfTurn: place.endOfTurn,
      };
      // What is here is shown in the same frame as the place.
      const model = decisions.ready(request) ?? (await decisions.get(request));
      if (!isLatest()) return;
      setUi({ task, decision: model, viewProblem: null });
      // Changes by hand are of this decision: those beside it are without them.
      const beside = selectionOf(ofTask(place));
      this.#prepareBeside({ ...request, selection: beside }, episode.decisions);
    } catch (error) {
      if (isLatest()) setUi({ decision: null, viewProblem: describeFault(error) });
    }
  }

  /**
   * Makes the decisions beside the present one ready: two ahead, and one back. At once: the worker reads the next one
   * while the page draws this one, so that a key that is held waits for the slower of the two only.
   */
  #prepareBeside(request: DecisionRequest, count: number): void {
    const last = this.#last;
    const stepsBack =
      last?.task === request.task && last.episode === request.episode && request.decision < last.decision;
    const by = stepsBack ? -1 : 1;
    this.#last = request;
    const beside = [by, 2 * by, -by]
      .map((distance) => request.decision + distance)
      .filter((decision) => decision >= 0 && decision < count)
      .map((decision) => ({ ...request, decision }));
    void this.clients.decisions.prepare(beside);
  }
}

export const placeFollower = new PlaceFollower(page);
