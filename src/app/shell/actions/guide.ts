/** Actions that open a page of the guide. */

import type { Action } from "../../compute/action.ts";
import { getUi } from "../../compute/store.ts";
import type { View } from "../../url/place.ts";
import { GUIDE_PAGES, GUIDE_TITLES, type GuidePage } from "../guide-pages.ts";
import { setShell } from "../shell-state.ts";

/** The page that speaks of a view. */
function pageOf(view: View): GuidePage {
  if (view === "tokens") return "comparing";
  return view === "training" ? "updating" : "inspecting";
}

export const GUIDE: readonly Action[] = [
  {
    id: "guide",
    title: "Guide to what is shown",
    group: "Page",
    keys: ["g"],
    words: "help documentation manual",
    inDialog: "guide",
    run: () => setShell(({ guide }) => ({ guide: guide === null ? pageOf(getUi().place.view) : null })),
  },
  ...GUIDE_PAGES.map(
    (page): Action => ({
      id: `guide-${page}`,
      title: `Guide: ${GUIDE_TITLES[page].toLowerCase()}`,
      group: "Page",
      words: "help documentation manual",
      run: () => setShell({ guide: page }),
    }),
  ),
];
