/**
 * Keeps the hash of the URL and the store's place the same, in both directions. Steps from decision to decision are
 * written when they rest: browsers refuse more than a few writes per second, and each costs the tab a part of a frame.
 */

import { hint } from "../base/hint.ts";
import { packText } from "../url/evidence-text.ts";
import { linkOf } from "../url/library-link.ts";
import { formatPlace, parsePlace } from "../url/link.ts";
import { HOME, type Place, type View } from "../url/place.ts";
import { isOfDecision, NO_DECISION_WHAT_IF, NO_TASK_WHAT_IF } from "../url/what-if.ts";
import { showing } from "./open-libraries.ts";
import { getData, setData } from "./store.ts";

/** Milliseconds without another step after which the URL is written. */
const REST = 120;

let resting: ReturnType<typeof setTimeout> | undefined;

function write(place: Place, how: "push" | "replace"): void {
  clearTimeout(resting);
  resting = undefined;
  const hash = formatPlace(place);
  // An edited evidence that is too long for the address is kept beside it.
  const state = place.text !== null && packText(place.text) === null ? { text: place.text } : null;
  if (hash === window.location.hash && (state?.text ?? null) === keptText(window.history.state)) return;
  try {
    if (how === "push") window.history.pushState(state, "", hash);
    else window.history.replaceState(state, "", hash);
  } catch {
    // A name of a record can be longer than any address.
    hint("The browser takes no address as long as this place’s: it stays as it was.");
  }
}

/** The edited evidence that a step of the history keeps. */
function keptText(state: unknown): string | null {
  if (typeof state !== "object" || state === null || !("text" in state)) return null;
  return typeof state.text === "string" ? state.text : null;
}

/** Writes the URL now if it is not yet that of the place. */
export function settleUrl(): void {
  if (resting !== undefined) write(getData().place, "replace");
}

/** Reads the URL on entry and whenever the user edits it or goes back. Returns the undo. */
export function followUrl(): () => void {
  const read = (): void => {
    clearTimeout(resting);
    resting = undefined;
    const { place, problems } = parsePlace(window.location.hash, keptText(window.history.state));
    setData((ui) => ({ ...showing(ui, place), placeProblems: problems }));
  };
  read();
  window.addEventListener("hashchange", read);
  window.addEventListener("popstate", read);
  // On the way to the address bar, another tab or another page.
  window.addEventListener("blur", settleUrl);
  window.addEventListener("pagehide", settleUrl);
  return () => {
    window.removeEventListener("blur", settleUrl);
    window.removeEventListener("pagehide", settleUrl);
    window.removeEventListener("hashchange", read);
    window.removeEventListener("popstate", read);
  };
}

/** What-ifs that are of the task or the decision that one is leaving. */
function leftBehind(before: Place, change: Partial<Place>): Partial<Place> {
  const leaves = (key: "task" | "environment" | "episode" | "decision"): boolean =>
    key in change && before[key] !== null && change[key] !== before[key];
  if (leaves("task") || leaves("environment")) return NO_TASK_WHAT_IF;
  return leaves("episode") || leaves("decision") ? NO_DECISION_WHAT_IF : {};
}

/**
 * Goes to a place: `push` makes a step of the browser's history, otherwise the present one is replaced, with `rest` a
 * moment later. Changes by hand are of one decision, sources that are switched off are of one task: elsewhere they are
 * gone, and Back brings them back.
 */
export function navigate(change: Partial<Place>, asked: "push" | "replace" | "rest" = "replace"): void {
  const before = getData().place;
  const behind = leftBehind(before, change);
  const how = "pin" in behind && isOfDecision(before) ? "push" : asked;
  // The step of the history that is left behind names the decision that was shown there.
  if (how === "push") settleUrl();
  const place = { ...before, ...behind, ...change };
  if (how === "rest") {
    clearTimeout(resting);
    resting = setTimeout(settleUrl, REST);
  } else {
    // Before the store: who follows the place may navigate again.
    write(place, how);
  }
  setData((ui) => ({ ...showing(ui, place), placeProblems: [] }));
}

/** Opens another decision; what was pinned belonged to the one before. */
export function goToDecision(decision: number): void {
  navigate({ decision, token: null, visit: null, part: null }, "rest");
}

/** Opens a task at its first decision of the given (or first) episode. */
export function goToTask(task: string, environment: string | null, episode: string | null = null): void {
  const { view } = getData().place;
  navigate(
    {
      view: view === "library" ? "task" : view,
      task,
      environment,
      episode,
      decision: 0,
      visit: null,
      highlights: [],
      compared: [],
      part: null,
      token: null,
    },
    "push",
  );
}

/** Shows another view of the same place. */
export function showView(view: View): void {
  if (getData().place.view !== view) navigate({ view }, "push");
}

export function goHome(): void {
  navigate({ ...HOME, ...linkOf(getData().place) }, "push");
}
