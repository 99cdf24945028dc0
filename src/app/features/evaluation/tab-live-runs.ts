/**
 * Collections and evaluations over the tabs of one browser. The tab that plays one tells the others how far it is. They
 * show it and leave it alone; once that tab has ended it, or is closed, they have what was written down.
 */
import { z } from "zod";
import { keptLiveRun, keptLiveRuns, keptOutcomes } from "../../compute/runs/live-archive.ts";
import {
  type KeptLiveRun,
  type LiveRunEvent,
  liveRunEventSchema,
  presentLiveRunSchema,
} from "../../compute/runs/live-run.ts";
import { ownedRuns, ownHere, whenFree } from "../../compute/runs/run-locks.ts";
import { tabChannel } from "../../compute/runs/tab-channel.ts";
import {
  type LiveRun,
  liveRunOf,
  patchLiveRun,
  putLiveRun,
  takeLiveRunEvent,
  unlistLiveRun,
  useLiveRuns,
} from "./live-runs-store.ts";

const messageSchema = z.discriminatedUnion("type", [
  /** A tab was opened: the others tell it what they play. */
  z.object({ type: z.literal("hello") }),
  /** All of a run that begins, goes on, or is asked for. */
  z.object({ type: z.literal("run"), run: presentLiveRunSchema }),
  z.object({ type: z.literal("event"), id: z.string(), event: liveRunEventSchema }),
  z.object({ type: z.literal("removed"), id: z.string() }),
]);

const { hear, tell } = tabChannel<z.infer<typeof messageSchema>>("gcopd-live-runs");

/** Tells the other tabs all of a run that this one plays. */
export function tellLiveRun(id: string): void {
  const run = liveRunOf(id);
  if (run === undefined) return;
  const { endedNow: _, elsewhere: __, ...told } = run;
  tell({ type: "run", run: told });
}

/** Tells the other tabs what happened to a run that this one plays; records stay here. */
export function tellLiveRunEvent(id: string, event: LiveRunEvent): void {
  tell({
    type: "event",
    id,
    event: event.type === "ended" && event.unkept !== null ? { ...event, unkept: {} } : event,
  });
}

/** Tells the other tabs that a run was taken away. */
export const tellLiveRunRemoved = (id: string): void => tell({ type: "removed", id });

/** Hears of the runs that other tabs play, until the returned function is called. */
export function followLiveTabs(): () => void {
  const leave = hear((message) => {
    // Another tab may have another version of the page.
    const { data: read } = messageSchema.safeParse(message);
    if (read !== undefined) take(read);
  });
  tell({ type: "hello" });
  return leave;
}

function take(message: z.infer<typeof messageSchema>): void {
  switch (message.type) {
    case "hello":
      for (const id of ownHere()) tellLiveRun(id);
      break;
    case "run": {
      const { run } = message;
      if (ownHere().includes(run.id)) break;
      putLiveRun({ ...run, endedNow: false, elsewhere: true });
      void followElsewhere(run.id);
      break;
    }
    case "event":
      if (liveRunOf(message.id)?.elsewhere) takeLiveRunEvent(message.id, message.event);
      break;
    case "removed":
      unlistLiveRun(message.id);
  }
}

const followed = new Set<string>();

/** Shows that another tab plays a run; once that tab has ended it, or is gone, this one has what was written down. */
export async function followElsewhere(id: string): Promise<void> {
  patchLiveRun(id, { elsewhere: true });
  if (followed.has(id)) return;
  followed.add(id);
  await whenFree(id).finally(() => followed.delete(id));
  const kept = await keptLiveRun(id).catch(() => undefined);
  const run = kept && (await asWrittenDown(kept));
  // It may have been begun again since, here or in another tab.
  if (!liveRunOf(id)?.elsewhere || followed.has(id)) return;
  if (run !== undefined) putLiveRun(run);
  else unlistLiveRun(id);
}

/** Reads the runs of earlier visits, once. One that seems to go on, and that no tab has, was lost with its page. */
export async function restoreLiveRuns(): Promise<void> {
  if (useLiveRuns.getState().restored) return;
  useLiveRuns.setState({ restored: true });
  try {
    // In this order a run that ends meanwhile is read as ended, or is followed until it is read again.
    const owned = await ownedRuns();
    for (const kept of await keptLiveRuns()) {
      const run = await asWrittenDown(kept);
      if (liveRunOf(run.id) !== undefined) continue;
      const { state, message } = kept;
      putLiveRun(owned.has(run.id) ? { ...run, state, message } : run);
      if (owned.has(run.id)) void followElsewhere(run.id);
    }
  } catch {
    // Nothing is kept here: the list begins empty.
  }
}

/** A run that no tab plays, as it was written down. */
async function asWrittenDown(run: KeptLiveRun): Promise<LiveRun> {
  const outcomes = await keptOutcomes(run.id);
  const goesOn = run.state === "running" || run.state === "cancelling";
  return {
    ...{ ...run, outcomes, share: 0, since: null, kept: true, endedNow: false, elsewhere: false },
    ...(goesOn ? { state: "lost", message: "the page was closed while it played" } : {}),
  };
}
