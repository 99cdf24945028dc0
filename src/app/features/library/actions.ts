/** Actions on the open libraries. */

import { flushSync } from "react-dom";
import { type Action, aLibrary } from "../../compute/action.ts";
import { closeProblem, openLibraries } from "../../compute/open/libraries.ts";
import { openSample, stopOpening } from "../../compute/open/open.ts";
import { getUi, setUi, type UiState } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { hasWorker } from "../../data/shared-folder.ts";

const another = ({ libraries, library }: UiState): string | null =>
  libraries.some(({ summary }) => summary !== library) ? null : "no other library is open";

export const LIBRARIES: readonly Action[] = [
  {
    id: "filter",
    title: "Filter the tasks",
    group: "Library",
    keys: ["/"],
    words: "search find",
    blocked: aLibrary,
    run: () => {
      const { view } = getUi().place;
      // Drawn before the next key: what is typed on is for the filter, and not for the page.
      flushSync(() => navigate({ view: "library" }, view === "library" ? "replace" : "push"));
      document.getElementById("task-filter")?.focus();
    },
  },
  {
    id: "open-sample",
    title: "Open the sample",
    group: "Library",
    words: "library demo scienceworld",
    blocked: ({ opening }) => (opening === null ? null : "something is being opened"),
    run: () => void openSample(),
  },
  {
    id: "open-shared",
    title: "Open files of the worker’s disk",
    group: "Library",
    words: "library server folder records",
    blocked: ({ opening }) => {
      if (!hasWorker()) return "no worker serves this page";
      return opening === null ? null : "something is being opened";
    },
    run: () => setUi({ sharedOpen: true }),
  },
  {
    id: "stop-opening",
    title: "Stop opening",
    group: "Library",
    words: "cancel",
    blocked: ({ opening }) => (opening === null ? "nothing is being opened" : null),
    run: stopOpening,
  },
  {
    id: "next-library",
    title: "Next open library",
    group: "Library",
    keys: ["l"],
    words: "switch other",
    blocked: another,
    run: () => openLibraries.step(1),
  },
  {
    id: "previous-library",
    title: "Previous open library",
    group: "Library",
    keys: ["L"],
    words: "switch other",
    blocked: another,
    run: () => openLibraries.step(-1),
  },
  {
    id: "close-library",
    title: "Close this library",
    group: "Library",
    words: "remove shut",
    blocked: (ui) => closeProblem(ui, ui.library?.id ?? null),
    run: () => openLibraries.close(getUi().library?.id ?? ""),
  },
];
