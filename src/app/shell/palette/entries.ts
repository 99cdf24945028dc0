/** What the palette finds: the table of actions, and the places of the open library. */

import { countOf } from "../../../core/plural.ts";
import { successWords } from "../../base/mark.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { episodeAt } from "../../compute/open/follow-place.ts";
import { openLibraries } from "../../compute/open/libraries.ts";
import type { UiState } from "../../compute/store.ts";
import type { Execution, LibrarySummary, TaskModel } from "../../data/model.ts";
import { goToDecision, goToTask, navigate } from "../../data/navigate.ts";
import { libraryNames } from "../../data/open-libraries.ts";
import { ACTIONS, perform } from "../actions/index.ts";
import { type SearchText, searchText } from "./search.ts";

export interface Entry {
  id: string;
  title: string;
  /** What it is: the group of an action, "Task", "Episode", … */
  kind: string;
  /** A few words more, or what is missing. */
  detail: string;
  keys: readonly string[];
  /** It cannot be done now: `detail` says why. */
  blocked: boolean;
  search: SearchText;
  run: () => void;
}

type Found = Omit<Entry, "keys" | "blocked" | "search"> & { words?: string };

function entry({ words = "", ...found }: Found): Entry {
  const search = searchText({ title: found.title, words: `${found.kind} ${found.detail} ${words}` });
  // Found by the text as it is, shown as what can be shown.
  const [title, detail] = [shownName(found.title), shownName(found.detail)];
  return { ...found, title, detail, keys: [], blocked: false, search };
}

/** The actions as they are now: those that cannot be done come last. */
function actionEntries(ui: UiState): Entry[] {
  const entries = ACTIONS.filter(({ keyOnly }) => keyOnly !== true).map((action): Entry => {
    const missing = action.blocked?.(ui) ?? null;
    return {
      id: action.id,
      title: action.title,
      kind: action.group,
      detail: missing ?? "",
      keys: action.keys ?? [],
      blocked: missing !== null,
      search: searchText({ title: action.title, words: `${action.group} ${action.words ?? ""}` }),
      run: () => void perform(action),
    };
  });
  return [...entries.filter(({ blocked }) => !blocked), ...entries.filter(({ blocked }) => blocked)];
}

const outcome = ({ success, decisions }: Execution): string =>
  `${successWords(success)}, ${countOf(decisions, "decision")}`;

function episodeEntries(task: TaskModel): Entry[] {
  return task.episodes.map((episode) =>
    entry({
      id: `episode ${task.environment} ${task.task} ${episode.id}`,
      title: episode.id,
      kind: "Episode",
      detail: outcome(episode),
      words: "student",
      run: () => navigate({ episode: episode.id, decision: 0, token: null, visit: null, part: null }, "push"),
    }),
  );
}

function sourceEntries(task: TaskModel): Entry[] {
  return task.sources.map((source) =>
    entry({
      id: `source ${task.environment} ${task.task} ${source.id}`,
      title: source.id,
      kind: "Execution",
      detail: outcome(source),
      words: `recorded source ${source.origin}`,
      run: () => navigate({ view: "task", visit: { source: source.id, position: 0 } }, "push"),
    }),
  );
}

/** The other open libraries. */
function libraryEntries({ libraries, library }: UiState): Entry[] {
  const names = libraryNames(libraries);
  return libraries
    .filter(({ summary }) => summary !== library)
    .map(({ summary: { id, tasks } }) =>
      entry({
        id: `library ${id}`,
        title: names.get(id)!,
        kind: "Library",
        detail: countOf(tasks.length, "task"),
        words: "open switch show",
        run: () => openLibraries.show(id),
      }),
    );
}

function taskEntries(library: LibrarySummary): Entry[] {
  return library.tasks.map(({ task, environment, description, sources, episodes }) =>
    entry({
      id: `task ${environment} ${task}`,
      title: task,
      kind: "Task",
      detail: `${countOf(sources, "execution")}, ${countOf(episodes, "episode")}`,
      words: `${environment} ${description}`,
      run: () => goToTask(task, environment),
    }),
  );
}

/** Lists of thousands are made once for what they list. */
function once<K extends object>(make: (of: K) => Entry[]): (of: K | null) => readonly Entry[] {
  const made = new WeakMap<K, Entry[]>();
  return (of) => {
    if (of === null) return [];
    let entries = made.get(of);
    if (entries === undefined) {
      entries = make(of);
      made.set(of, entries);
    }
    return entries;
  };
}

const episodesOf = once(episodeEntries);
const sourcesOf = once(sourceEntries);
const tasksOf = once(taskEntries);

/** A number is a decision of the present episode. */
function decisionEntries({ task, place }: UiState, query: string): Entry[] {
  const number = /^\s*(?:decision\s*)?(\d{1,6})\s*$/i.exec(query)?.[1];
  const episode = task === null ? null : episodeAt(task, place);
  if (number === undefined || episode === null || Number(number) >= episode.decisions) return [];
  const decision = Number(number);
  const { action } = episode.cells[decision] ?? {};
  return [
    entry({
      id: `decision ${decision}`,
      title: `Decision ${decision}`,
      kind: "Decision",
      detail: action ?? "no action (malformed response)",
      words: query,
      run: () => goToDecision(decision),
    }),
  ];
}

/** Everything there is, in the order in which equally good finds are shown. */
export function paletteEntries(ui: UiState, query: string): Entry[] {
  return [
    ...decisionEntries(ui, query),
    ...actionEntries(ui),
    ...libraryEntries(ui),
    ...episodesOf(ui.task),
    ...sourcesOf(ui.task),
    ...tasksOf(ui.library),
  ];
}
