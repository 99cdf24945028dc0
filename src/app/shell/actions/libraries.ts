/** Actions on the open libraries. */
import { closeLibrary, closeProblem, stepLibrary } from "../../session/libraries.ts";
import { getUi, type UiState } from "../../state/store.ts";
import type { Action } from "./action.ts";

const another = ({ libraries, library }: UiState): string | null =>
  libraries.some(({ summary }) => summary !== library) ? null : "no other library is open";

export const LIBRARIES: readonly Action[] = [
  {
    id: "next-library",
    title: "Next open library",
    group: "Library",
    keys: ["l"],
    words: "switch other",
    blocked: another,
    run: () => stepLibrary(1),
  },
  {
    id: "previous-library",
    title: "Previous open library",
    group: "Library",
    keys: ["L"],
    words: "switch other",
    blocked: another,
    run: () => stepLibrary(-1),
  },
  {
    id: "close-library",
    title: "Close this library",
    group: "Library",
    words: "remove shut",
    blocked: (ui) => closeProblem(ui, ui.library?.id ?? null),
    run: () => closeLibrary(getUi().library?.id ?? ""),
  },
];
