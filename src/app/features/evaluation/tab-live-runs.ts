/**
 * Collections and evaluations over the tabs of one browser. The tab that plays one tells the others how far it is. They
 * show it and leave it alone; once that tab has ended it, or is closed, they have what was written down.
 */
import { z } from "zod";
import * as liveArchive from "../../compute/runs/live-archive.ts";
import {
  type KeptLiveRun,
  type LiveRunEvent,
  liveRunEventSchema,
  presentLiveRunSchema,
} from "../../compute/runs/live-run.ts";
import { runLocks } from "../../compute/runs/run-locks.ts";
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

type Message = z.infer<typeof messageSchema>;

const page = { archive: liveArchive, locks: runLocks, channel: tabChannel<Message>("gcopd-live-runs") };

/** Tells the other tabs what this one plays, and shows what they play. */
export class TabLiveRuns {
  /** Runs of other tabs whose end is waited for. */
  readonly #followed = new Set<string>();

  constructor(private readonly clients: typeof page) {}

  /** Tells the other tabs all of a run that this one plays. */
  tell(id: string): void {
    const run = liveRunOf(id);
    if (run === undefined) return;
    const { endedNow: _, elsewhere: __, ...told } = run;
    this.clients.channel.tell({ type: "run", run: told });
  }

  /** Tells the other tabs what happened to a run that this one plays; records stay here. */
  tellEvent(id: string, event: LiveRunEvent): void {
    this.clients.channel.tell({
      type: "event",
      id,
      event: event.type === "ended" && event.unkept !== null ? { ...event, unkept: {} } : event,
    });
  }

  /** Tells the other tabs that a run was taken away. */
  tellRemoved(id: string): void {
    this.clients.channel.tell({ type: "removed", id });
  }

  /** Hears of the runs that other tabs play, until the returned function is called. */
  follow(): () => void {
    const leave = this.clients.channel.hear((message) => {
      // Another tab may have another version of the page.
      const { data: read } = messageSchema.safeParse(message);
      if (read !== undefined) this.#take(read);
    });
    this.clients.channel.tell({ type: "hello" });
    return leave;
  }

  #take(message: Message): void {
    switch (message.type) {
      case "hello":
        for (const id of this.clients.locks.ownHere()) this.tell(id);
        break;
      case "run": {
        const { run } = message;
        if (this.clients.locks.ownHere().includes(run.id)) break;
        putLiveRun({ ...run, endedNow: false, elsewhere: true });
        void this.followElsewhere(run.id);
        break;
      }
      case "event":
        if (liveRunOf(message.id)?.elsewhere) takeLiveRunEvent(message.id, message.event);
        break;
      case "removed":
        unlistLiveRun(message.id);
    }
  }

  /** Shows that another tab plays a run; once that tab has ended it, or is gone, this one has what was written down. */
  async followElsewhere(id: string): Promise<void> {
    patchLiveRun(id, { elsewhere: true });
    if (this.#followed.has(id)) return;
    this.#followed.add(id);
    await this.clients.locks.whenFree(id).finally(() => this.#followed.delete(id));
    const kept = await this.clients.archive.keptLiveRun(id).catch(() => undefined);
    const run = kept && (await this.#asWrittenDown(kept));
    // It may have been begun again since, here or in another tab.
    if (!liveRunOf(id)?.elsewhere || this.#followed.has(id)) return;
    if (run !== undefined) putLiveRun(run);
    else unlistLiveRun(id);
  }

  /** Reads the runs of earlier visits, once. One that seems to go on, and that no tab has, was lost with its page. */
  async restore(): Promise<void> {
    if (useLiveRuns.getState().restored) return;
    useLiveRuns.setState({ restored: true });
    try {
      // In this order a run that ends meanwhile is read as ended, or is followed until it is read again.
      const owned = await this.clients.locks.ownedRuns();
      for (const kept of await this.clients.archive.keptLiveRuns()) {
        const run = await this.#asWrittenDown(kept);
        if (liveRunOf(run.id) !== undefined) continue;
        const { state, message } = kept;
        putLiveRun(owned.has(run.id) ? { ...run, state, message } : run);
        if (owned.has(run.id)) void this.followElsewhere(run.id);
      }
    } catch {
      // Nothing is kept here: the list begins empty.
    }
  }

  /** A run that no tab plays, as it was written down. */
  async #asWrittenDown(run: KeptLiveRun): Promise<LiveRun> {
    const outcomes = await this.clients.archive.keptOutcomes(run.id);
    const goesOn = run.state === "running" || run.state === "cancelling";
    return {
      ...{ ...run, outcomes, share: 0, since: null, kept: true, endedNow: false, elsewhere: false },
      ...(goesOn ? { state: "lost", message: "the page was closed while it played" } : {}),
    };
  }
}

export const tabLiveRuns = new TabLiveRuns(page);
