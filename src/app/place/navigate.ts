/** Keeps the hash of the URL and the store's place the same, in both directions. */
import { getUi, setUi } from "../state/store.ts";
import { formatPlace, HOME, type Place, parsePlace } from "./place.ts";

/** Reads the URL on entry and whenever the user edits it or goes back. Returns the undo. */
export function followUrl(): () => void {
  const read = (): void => {
    const { place, problems } = parsePlace(window.location.hash);
    setUi({ place, placeProblems: problems });
  };
  read();
  window.addEventListener("hashchange", read);
  window.addEventListener("popstate", read);
  return () => {
    window.removeEventListener("hashchange", read);
    window.removeEventListener("popstate", read);
  };
}

/** Goes to a place: `push` makes a step of the browser's history, otherwise the present one is replaced. */
export function navigate(change: Partial<Place>, how: "push" | "replace" = "replace"): void {
  const place = { ...getUi().place, ...change };
  const hash = formatPlace(place);
  if (hash !== window.location.hash) {
    if (how === "push") window.history.pushState(null, "", hash);
    else window.history.replaceState(null, "", hash);
  }
  setUi({ place, placeProblems: [] });
}

/** Opens another decision; what was pinned belonged to the one before. */
export function goToDecision(decision: number): void {
  navigate({ decision, token: null, visit: null });
}

/** Opens a task at its first decision of the given (or first) episode. */
export function goToTask(task: string, environment: string | null, episode: string | null = null): void {
  const { view } = getUi().place;
  navigate(
    {
      view: view === "library" ? "task" : view,
      task,
      environment,
      episode,
      decision: 0,
      visit: null,
      token: null,
    },
    "push",
  );
}

export const goHome = (): void => navigate({ ...HOME, library: getUi().place.library }, "push");
