/** Showing, closing and taking in libraries. A closed one waits, with all that was scored in it, until its undo is gone. */
import * as Comlink from "comlink";
import { libraryWorker } from "../../data/library-client.ts";
import { placeOn } from "../../data/library-place.ts";
import type { LibrarySummary } from "../../data/model.ts";
import { navigate } from "../../data/navigate.ts";
import { counted, libraryFurther, libraryOf, type OpenLibrary, showing } from "../../data/open-libraries.ts";
import { ofScoreKey } from "../../data/score-key.ts";
import { undoList } from "../../data/undo.ts";
import { linkKey } from "../../url/library-link.ts";
import { HOME } from "../../url/place.ts";
import { isTraining } from "../computing.ts";
import { useGate } from "../gate/gate-store.ts";
import { shippedScores } from "../models/internal/shipped-scores.ts";
import { getUi, setUi, type UiState, useUi } from "../store.ts";
import { useOptimal } from "./optimal.ts";

/** Why a library cannot be closed now; null when it can. */
export function closeProblem({ training, scoring, studying }: UiState, id: string | null): string | null {
  if (id === null) return "no library is open";
  if (isTraining(training) && training.library === id) return "a run reads it: stop the run first";
  if (studying?.library === id) return "students are being trained on it: stop them first";
  if (scoring.status === "running" || scoring.status === "cancelling")
    return "a model is at work: cancel it first";
  return null;
}

const page = { worker: libraryWorker, navigate };

/** The open libraries, and those whose closing can be undone. */
export class OpenLibraries {
  /** Closed libraries whose closing can be undone: the worker still has them, paused. */
  readonly #waiting = new Map<string, OpenLibrary>();
  /** The worker reports what it counts. */
  #following = false;

  constructor(private readonly clients: typeof page) {}

  /** Shows an open library, at the same task where it has it, else where it was left. */
  show(id: string): void {
    const { libraries, library, place } = getUi();
    const found = libraryOf(libraries, id);
    if (found === null || found.summary === library) return;
    this.clients.navigate(placeOn(found.summary, place, found.left), "push");
  }

  /** Shows the library `by` further on in the order of their opening, around the end. */
  step(by: 1 | -1): void {
    const next = libraryFurther(getUi(), by);
    if (next !== null) this.show(next.summary.id);
  }

  /** Closes a library; the one after it is shown in its place. */
  close(id: string): void {
    const { libraries, library, place } = getUi();
    const at = libraries.findIndex(({ summary }) => summary.id === id);
    const closed = libraries[at];
    if (closed === undefined || closeProblem(getUi(), id) !== null) return;
    const shown = library?.id === id;
    const others = libraries.filter((each) => each !== closed);
    setUi({ libraries: others });
    if (shown) {
      const next = others[at] ?? others.at(-1);
      this.clients.navigate(next === undefined ? { ...HOME } : placeOn(next.summary, place, next.left));
    }
    this.#setAside(`${closed.summary.title} was closed`, shown ? { ...closed, left: place } : closed, {
      at,
      shown,
    });
  }

  /** Keeps a library that is not among the open ones any more, for as long as that can be undone. */
  #setAside(label: string, closed: OpenLibrary, was: { at: number; shown: boolean }): void {
    const { id } = closed.summary;
    this.#waiting.set(id, closed);
    undoList.offer(
      label,
      () => this.#bringBack(id, was),
      "closed-library",
      () => {
        this.#waiting.delete(id);
        this.#forgetUnread(id);
      },
    );
  }

  /** Lets go of a library once nothing reads it: one that was read again may still be what a run began with. */
  #forgetUnread(id: string): void {
    const isFree = (ui: UiState): boolean => closeProblem(ui, id) === null;
    if (isFree(getUi())) this.#forget(id);
    else {
      const stop = useUi.subscribe((ui) => {
        if (!isFree(ui)) return;
        stop();
        this.#forget(id);
      });
    }
  }

  #bringBack(id: string, { at, shown }: { at: number; shown: boolean }): void {
    const back = this.#waiting.get(id);
    if (back === undefined) return;
    this.#waiting.delete(id);
    const { libraries } = getUi();
    const twin = libraries.find(({ summary }) => linkKey(summary.link) === linkKey(back.summary.link));
    const others = libraries.filter((each) => each !== twin);
    setUi({ libraries: [...others.slice(0, at), back, ...others.slice(at)] });
    if (shown && back.left !== null) this.clients.navigate(back.left, "push");
    // What was shown may have been the one that gave way.
    else setUi((ui) => showing(ui, ui.place));
    if (twin !== undefined) this.#forgetUnread(twin.summary.id);
  }

  /** Lets go of all that was kept of a library. */
  #forget(id: string): void {
    void this.clients.worker().close(id);
    const others = (scores: UiState["scores"]): UiState["scores"] =>
      Object.fromEntries(Object.entries(scores).filter(([key]) => ofScoreKey(key).library !== id));
    for (const [name, kept] of shippedScores)
      shippedScores.set(name, { ...kept, scores: others(kept.scores) });
    setUi(({ scores }) => ({ scores: others(scores) }));
    useOptimal.setState(({ [id]: _gone, ...rest }) => rest, true);
    useGate.setState(({ gate }) => (gate?.library === id ? { gate: null } : {}));
  }

  /**
   * Takes in a library that was just read. It comes beside those that are open; in the place of `replaces`, or else of one
   * with the same records. Another with the same records goes: no link would lead to it. The library is shown, unless a link
   * opened it that the page does not stand at any more.
   */
  take(
    summary: LibrarySummary,
    {
      byLink,
      imported,
      replaces,
    }: { byLink: boolean; imported: OpenLibrary["imported"]; replaces: string | null },
  ): void {
    const { libraries, library, place } = getUi();
    const key = linkKey(summary.link);
    const twins = libraries.filter((each) => linkKey(each.summary.link) === key);
    const before = (replaces === null ? null : libraryOf(libraries, replaces)) ?? twins[0];
    const others = libraries.filter((each) => each === before || !twins.includes(each));
    const at = before === undefined ? -1 : others.indexOf(before);
    const taken: OpenLibrary = { summary, columns: summary.columns, imported, left: null };
    setUi({
      libraries:
        before === undefined ? [...libraries, taken] : others.map((each) => (each === before ? taken : each)),
      notice: null,
      viewProblem: null,
    });
    // The link names what to show in it.
    if (library === null && linkKey(place) === key) setUi((ui) => showing(ui, ui.place));
    // Back leads to the library before, and to a link into one that is not open.
    else if (!byLink)
      this.clients.navigate({ ...HOME, ...summary.link }, place.library === null ? "replace" : "push");
    if (before !== undefined) {
      const shown = before.summary === library;
      this.#setAside(`${summary.title} was read again`, shown ? { ...before, left: place } : before, {
        at,
        shown,
      });
    }
    for (const each of twins) if (each !== before) this.#forgetUnread(each.summary.id);
  }

  /** Lets the columns of the shown library be counted, and takes over what is counted. */
  async followColumns({ id, remote, columns, tasks }: LibrarySummary): Promise<void> {
    if (!this.#following) {
      this.#following = true;
      await this.clients.worker().onColumns(
        Comlink.proxy((library, batch) => {
          const aside = this.#waiting.get(library);
          // The last words of one that was closed meanwhile.
          if (aside !== undefined) this.#waiting.set(library, counted([aside], library, batch)[0]!);
          else setUi(({ libraries }) => ({ libraries: counted(libraries, library, batch) }));
        }),
      );
    }
    await this.clients.worker().show(id);
    // Over the network that would download everything: only when it is asked for.
    if (!remote && columns.counted < tasks.length) await this.clients.worker().countAllColumns(id);
  }
}

export const openLibraries = new OpenLibraries(page);
