/**
 * Runs of the page over the tabs of one browser. The tab that owns a run tells the others what happens to it; they show
 * it, may ask its owner to end it, and find out when the owner is gone.
 */
import { ENDED } from "../../../protocol/job-state.ts";
import { setUi } from "../store.ts";
import { foldEvents } from "./internal/fold.ts";
import { pageRuns } from "./internal/page-runs.ts";
import { NO_FIGURES, type Run } from "./run.ts";
import { runLocks } from "./run-locks.ts";
import { dropRun, getRuns, patchRun, putRun, takeEvents, useRuns } from "./runs-store.ts";
import { hearTabs, type TabMessage, tellTabs } from "./tab-channel.ts";

type OnAsk = (id: string, what: "stop" | "cancel") => void;

const page = { runs: pageRuns, locks: runLocks, hearTabs, tellTabs };

/** Tells the other tabs of the runs of this one, and shows theirs. */
export class TabRuns {
  /** What the others know of the runs of this tab. */
  readonly #told = new Map<string, Run>();
  /** Runs of other tabs whose end is waited for. */
  readonly #followed = new Set<string>();

  constructor(private readonly clients: typeof page) {}

  #tell(run: Run): void {
    const before = this.#told.get(run.id);
    if (before === run) return;
    this.#told.set(run.id, run);
    const { figures, stream: _stream, ...rest } = run;
    const { id, state, message, ended, title, events } = rest;
    // The others stop following a run once it has ended: one that goes on is told whole.
    const goesOn = before !== undefined && ENDED.includes(before.state) && !ENDED.includes(state);
    if (before === undefined || goesOn || events.length < before.events.length)
      this.clients.tellTabs({ type: "run", run: rest });
    else {
      const facts = { state, message, ended, title };
      const since = events.slice(before.events.length);
      this.clients.tellTabs({ type: "more", id, facts, events: since, work: figures.work });
    }
  }

  #tellOwn(): void {
    const { runs } = getRuns();
    for (const id of this.#told.keys()) if (runs[id] === undefined) this.#told.delete(id);
    for (const id of this.clients.locks.ownHere()) if (runs[id] !== undefined) this.#tell(runs[id]);
  }

  /** Waits for the end of a run of another tab. */
  #followRun(id: string, signal: AbortSignal): void {
    if (this.#followed.has(id)) return;
    this.#followed.add(id);
    this.clients.locks.whenFree(id, signal).then(
      async () => {
        this.#followed.delete(id);
        // The owner wrote the end down before it gave the run up; one that did not is gone.
        const kept = await this.clients.runs.readKept(id);
        if (getRuns().runs[id]?.stream !== "other-tab" || this.#followed.has(id)) return;
        if (kept !== null) putRun(kept);
        else
          patchRun(id, {
            state: "lost",
            message: "its tab was closed, and this browser kept nothing of it",
            stream: "closed",
          });
      },
      () => this.#followed.delete(id),
    );
  }

  #take(message: TabMessage, signal: AbortSignal, onAsk: OnAsk): void {
    switch (message.type) {
      case "hello":
        this.#told.clear();
        this.#tellOwn();
        break;
      case "run": {
        const { run } = message;
        putRun({ ...run, figures: foldEvents(NO_FIGURES, run.events), stream: "other-tab" });
        // It may have ended here before it went on there: the message of that end is out of date.
        setUi(({ training }) =>
          training.run === run.id && training.status === "idle"
            ? { training: { ...training, message: null } }
            : {},
        );
        this.#followRun(run.id, signal);
        break;
      }
      case "more": {
        const { id, facts, events, work } = message;
        if (!this.#followed.has(id)) break;
        takeEvents(
          id,
          events.map((event) => ({ event, time: event.time })),
        );
        patchRun(id, ({ figures }) => ({ ...facts, figures: { ...figures, work } }));
        break;
      }
      case "ask":
        if (this.clients.locks.ownHere().includes(message.id)) onAsk(message.id, message.what);
        break;
      case "title":
        patchRun(message.id, { title: message.title });
        if (this.clients.locks.ownHere().includes(message.id))
          void this.clients.runs.rename(message.id, message.title);
        break;
      case "removed":
        dropRun(message.id);
    }
  }

  /** Reads the runs of earlier visits, and follows those of other tabs for as long as the page lives. Returns the undo. */
  follow(onAsk: OnAsk): () => void {
    const ended = new AbortController();
    const { signal } = ended;
    const leaveTabs = this.clients.hearTabs((message) => this.#take(message, signal, onAsk));
    const leaveRuns = useRuns.subscribe(() => this.#tellOwn());
    void this.clients.runs.restore().then(() => {
      if (signal.aborted) return;
      for (const { id, stream } of Object.values(getRuns().runs))
        if (stream === "other-tab") this.#followRun(id, signal);
      this.clients.tellTabs({ type: "hello" });
    });
    return () => {
      ended.abort();
      leaveRuns();
      leaveTabs();
    };
  }
}

export const tabRuns = new TabRuns(page);
