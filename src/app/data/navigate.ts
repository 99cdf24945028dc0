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

/** The edited evidence that a step of the history keeps. */
function keptText(state: unknown): string | null {
  if (typeof state !== "object" || state === null || !("text" in state)) return null;
  return typeof state.text === "string" ? state.text : null;
}

/** What-ifs that are of the task or the decision that one is leaving. */
function leftBehind(before: Place, change: Partial<Place>): Partial<Place> {
  const leaves = (key: "task" | "environment" | "episode" | "decision"): boolean =>
    key in change && before[key] !== null && change[key] !== before[key];
  if (leaves("task") || leaves("environment")) return NO_TASK_WHAT_IF;
  return leaves("episode") || leaves("decision") ? NO_DECISION_WHAT_IF : {};
}

const page = { window: () => window, hint };

/** The URL of the place. */
export class PlaceUrl {
  #resting: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly clients: typeof page) {}

  /** What rests is not written any more. */
  #wake(): void {
    clearTimeout(this.#resting);
    this.#resting = undefined;
  }

  #write(place: Place, how: "push" | "replace"): void {
    this.#wake();
    const { location, history } = this.clients.window();
    const hash = formatPlace(place);
    // An edited evidence that is too long for the address is kept beside it.
    const state = place.text !== null && packText(place.text) === null ? { text: place.text } : null;
    if (hash === location.hash && (state?.text ?? null) === keptText(history.state)) return;
    try {
      if (how === "push") history.pushState(state, "", hash);
      else history.replaceState(state, "", hash);
    } catch {
      // A name of a record can be longer than any address.
      this.clients.hint("The browser takes no address as long as this place’s: it stays as it was.");
    }
  }

  /** Writes the URL now if it is not yet that of the place. */
  settle = (): void => {
    if (this.#resting !== undefined) this.#write(getData().place, "replace");
  };

  /** Reads the URL on entry and whenever the user edits it or goes back. Returns the undo. */
  follow(): () => void {
    const window = this.clients.window();
    const read = (): void => {
      this.#wake();
      const { place, problems } = parsePlace(window.location.hash, keptText(window.history.state));
      setData((ui) => ({ ...showing(ui, place), placeProblems: problems }));
    };
    read();
    // The last two on the way to the address bar, another tab or another page.
    const heard = { hashchange: read, popstate: read, blur: this.settle, pagehide: this.settle };
    for (const [event, hear] of Object.entries(heard)) window.addEventListener(event, hear);
    return () => {
      for (const [event, hear] of Object.entries(heard)) window.removeEventListener(event, hear);
    };
  }

  /**
   * Goes to a place: `push` makes a step of the browser's history, otherwise the present one is replaced, with `rest` a
   * moment later; `fill` is what an address left open, and leaves what was said of that address. Changes by hand are of one decision, sources that are switched off are of one task: elsewhere they are
   * gone, and Back brings them back.
   */
  go = (change: Partial<Place>, asked: "push" | "replace" | "rest" | "fill" = "replace"): void => {
    const before = getData().place;
    const behind = leftBehind(before, change);
    const how = "pin" in behind && isOfDecision(before) ? "push" : asked === "fill" ? "replace" : asked;
    // The step of the history that is left behind names the decision that was shown there.
    if (how === "push") this.settle();
    const place = { ...before, ...behind, ...change };
    if (how === "rest") {
      this.#wake();
      this.#resting = setTimeout(this.settle, REST);
    } else {
      // Before the store: who follows the place may navigate again.
      this.#write(place, how);
    }
    setData((ui) => ({ ...showing(ui, place), ...(asked === "fill" ? {} : { placeProblems: [] }) }));
  };
}

export const placeUrl = new PlaceUrl(page);
export const navigate = placeUrl.go;

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
