/**
 * Runs of the page over the tabs of one browser. The tab that owns a run tells the others what happens to it; they show
 * it, may ask its owner to end it, and find out when the owner is gone.
 */
import { foldEvents } from "./fold.ts";
import { pageRuns } from "./page-runs.ts";
import { NO_FIGURES, type Run } from "./run.ts";
import { ownHere, whenFree } from "./run-locks.ts";
import { dropRun, getRuns, patchRun, putRun, takeEvents, useRuns } from "./runs-store.ts";
import { hearTabs, type TabMessage, tellTabs } from "./tab-channel.ts";

/** What the others know of the runs of this tab. */
const told = new Map<string, Run>();

function tell(run: Run): void {
  const before = told.get(run.id);
  if (before === run) return;
  told.set(run.id, run);
  const { figures, stream: _stream, ...rest } = run;
  const { id, state, message, ended, title, events } = rest;
  if (before === undefined || events.length < before.events.length) tellTabs({ type: "run", run: rest });
  else {
    const facts = { state, message, ended, title };
    const since = events.slice(before.events.length);
    tellTabs({ type: "more", id, facts, events: since, work: figures.work });
  }
}

function tellOwn(): void {
  const { runs } = getRuns();
  for (const id of ownHere()) if (runs[id] !== undefined) tell(runs[id]);
}

const followed = new Set<string>();

/** Waits for the end of a run of another tab. */
function follow(id: string, signal: AbortSignal): void {
  if (followed.has(id)) return;
  followed.add(id);
  whenFree(id, signal).then(
    async () => {
      followed.delete(id);
      // The owner wrote the end down before it gave the run up; one that did not is gone.
      const kept = await pageRuns.readKept(id);
      if (getRuns().runs[id]?.stream !== "other-tab" || followed.has(id)) return;
      if (kept !== null) putRun(kept);
      else
        patchRun(id, {
          state: "lost",
          message: "its tab was closed, and this browser kept nothing of it",
          stream: "closed",
        });
    },
    () => followed.delete(id),
  );
}

type OnAsk = (id: string, what: "stop" | "cancel") => void;

function take(message: TabMessage, signal: AbortSignal, onAsk: OnAsk): void {
  switch (message.type) {
    case "hello":
      told.clear();
      tellOwn();
      break;
    case "run": {
      const { run } = message;
      putRun({ ...run, figures: foldEvents(NO_FIGURES, run.events), stream: "other-tab" });
      follow(run.id, signal);
      break;
    }
    case "more": {
      const { id, facts, events, work } = message;
      if (!followed.has(id)) break;
      takeEvents(
        id,
        events.map((event) => ({ event, time: event.time })),
      );
      patchRun(id, ({ figures }) => ({ ...facts, figures: { ...figures, work } }));
      break;
    }
    case "ask":
      if (ownHere().includes(message.id)) onAsk(message.id, message.what);
      break;
    case "title":
      patchRun(message.id, { title: message.title });
      if (ownHere().includes(message.id)) void pageRuns.rename(message.id, message.title);
      break;
    case "removed":
      dropRun(message.id);
  }
}

/** Reads the runs of earlier visits, and follows those of other tabs for as long as the page lives. Returns the undo. */
export function followTabs(onAsk: OnAsk): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  const leaveTabs = hearTabs((message) => take(message, signal, onAsk));
  const leaveRuns = useRuns.subscribe(tellOwn);
  void pageRuns.restore().then(() => {
    if (signal.aborted) return;
    for (const { id, stream } of Object.values(getRuns().runs))
      if (stream === "other-tab") follow(id, signal);
    tellTabs({ type: "hello" });
  });
  return () => {
    ended.abort();
    leaveRuns();
    leaveTabs();
  };
}
