/** Actions on the page itself. */

import type { Action } from "../../compute/action.ts";
import { isEpisodeInFront } from "../../compute/games/play-mode.ts";
import { endTour, useTour } from "../../compute/open/tour-state.ts";
import { scoringRuns } from "../../compute/scoring/score.ts";
import { getUi, setUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { undoList, useUndo } from "../../data/undo.ts";
import { UNDO_DECISION } from "../../features/play/actions.ts";
import { copyLink } from "../copy-link.ts";
import { isTyping } from "../is-typing.ts";
import { setShell, THEMES, type Theme, useShell } from "../shell-state.ts";
import { chooseTheme } from "../theme.ts";
import { startTour } from "../tour/tour.ts";

const THEME_TITLES: Record<Theme, string> = { system: "as the system", light: "light", dark: "dark" };

const UNDO: Action & Required<Pick<Action, "blocked">> = {
  id: "undo",
  title: "Undo the last change",
  group: "Page",
  words: "take back restore",
  blocked: () =>
    useUndo.getState().changes.length === 0
      ? "there is nothing to undo here; to undo a what-if, go back in the browser"
      : null,
  run: () => void undoList.undoLast(),
};

/** What is on top goes first. A native dialog closes itself. */
function leave(): boolean {
  const { place, scoring, notice } = getUi();
  if (useTour.getState().at !== null) {
    endTour();
    return true;
  }
  const field = document.activeElement;
  if (isTyping(field)) {
    if (field.id === "task-filter") navigate({ filter: "" });
    // Out of the field, so that keys are keys again: a menu that was used would take j and k for letters.
    field.blur();
  } else if (scoring.status === "running") void scoringRuns.cancel();
  else if (place.compared.length > 0 && place.view === "task") navigate({ compared: [] });
  else if (place.visit !== null) navigate({ visit: null });
  else if (place.part !== null && place.view === "task") navigate({ part: null });
  else if (place.token !== null) navigate({ token: null });
  else if (notice !== null) setUi({ notice: null });
  else return false;
  return true;
}

export const PAGE: readonly Action[] = [
  {
    id: "tour",
    title: "Tour of the sample, in two minutes",
    group: "Library",
    words: "guide introduction help learn",
    blocked: ({ opening }) => (opening === null ? null : "something is being opened"),
    run: () => void startTour(),
  },
  {
    id: "palette",
    title: "Find an action, a task, an episode, an execution",
    group: "Page",
    keys: ["Mod+k"],
    keyOnly: true,
    inDialog: "palette",
    run: () => setShell(({ paletteOpen }) => ({ paletteOpen: !paletteOpen })),
  },
  {
    id: "undo-here",
    title: "Undo the last decision in Play, the last change elsewhere",
    group: "Page",
    keys: ["z"],
    keyOnly: true,
    blocked: (ui) => (isEpisodeInFront() ? UNDO_DECISION : UNDO).blocked(ui),
    run: () => (isEpisodeInFront() ? UNDO_DECISION : UNDO).run(),
  },
  UNDO,
  {
    id: "copy-link",
    title: "Copy the link to this",
    group: "Page",
    keys: ["y"],
    words: "url address share",
    run: () => void copyLink(),
  },
  ...THEMES.map(
    (theme): Action => ({
      id: `theme-${theme}`,
      title: `Theme: ${THEME_TITLES[theme]}`,
      group: "Page",
      words: "colours appearance mode",
      blocked: () => (useShell.getState().theme === theme ? "this is the present one" : null),
      run: () => chooseTheme(theme),
    }),
  ),
  {
    id: "device",
    title: "Device: what computes, its limits, memory and speed",
    group: "Page",
    words: "gpu webgpu adapter hardware features tflops f16 matrix",
    inDialog: "device",
    run: () => setShell(({ deviceOpen }) => ({ deviceOpen: !deviceOpen })),
  },
  {
    id: "help",
    title: "Keys and marks",
    group: "Page",
    keys: ["?"],
    words: "help shortcuts keyboard legend",
    inDialog: "help",
    run: () => setShell(({ helpOpen }) => ({ helpOpen: !helpOpen })),
  },
  {
    id: "escape",
    title: "Close, clear, cancel, leave the field",
    group: "Page",
    keys: ["Escape"],
    whileTyping: true,
    keyOnly: true,
    run: leave,
  },
];
