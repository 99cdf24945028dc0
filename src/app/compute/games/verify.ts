/** "Verify by playing": records of open libraries, executed once more in the games that are open in the page. */
import { create } from "zustand";
import { countOf } from "../../../core/plural.ts";
import { formatSeconds } from "../../base/eta.ts";
import { describeFault } from "../../base/faults.ts";
import { libraryWorker } from "../../data/library-client.ts";
import type { TaskModel, TaskRef } from "../../data/model.ts";
import { gamesWorker } from "../clients.ts";
import { opensByItself } from "./games.ts";
import { missingGame, type RecordRef, readRecord } from "./play-record.ts";

export interface Verdict {
  /** `missing`: it could not be played. */
  kind: "playing" | "verified" | "differs" | "missing";
  /** One line. */
  text: string;
}

interface Verifying {
  /** By `recordKey`. */
  verdicts: Readonly<Record<string, Verdict>>;
  /** All records of a task are under way; null while they are not. */
  all: { task: TaskRef; done: number; total: number; left: string | null } | null;
}

export const useVerdicts = create<Verifying>(() => ({ verdicts: {}, all: null }));

export const recordKey = ({ library, environment, task, kind, id }: RecordRef): string =>
  JSON.stringify([library, environment, task, kind, id]);

/** The records of a task: all its executions, those too that take no part in retrieval, and its episodes. */
export async function recordsOf({ library, environment, task, episodes }: TaskModel): Promise<RecordRef[]> {
  const ref = { library, environment, task };
  return [
    ...(await libraryWorker().tasks.sourceIds(ref)).map((id) => ({ ...ref, kind: "source" as const, id })),
    ...episodes.map(({ id }) => ({ ...ref, kind: "episode" as const, id })),
  ];
}

const page = { games: gamesWorker, readRecord, opensByItself };

/** Plays records again, one after the other. */
export class Verifier {
  #stopped = false;

  constructor(private readonly clients: typeof page) {}

  /** Plays one record again and says whether it repeats. */
  async verify(ref: RecordRef): Promise<void> {
    const say = (verdict: Verdict): void =>
      useVerdicts.setState(({ verdicts }) => ({ verdicts: { ...verdicts, [recordKey(ref)]: verdict } }));
    const missing = missingGame(ref);
    if (missing !== null) return say({ kind: "missing", text: missing });
    say({ kind: "playing", text: "Playing…" });
    try {
      const record = await this.clients.readRecord(ref);
      await this.clients.opensByItself(ref);
      const differs = await this.clients.games().verify(record);
      if (differs !== null) return say({ kind: "differs", text: `Differs: ${differs}` });
      const all = `${countOf(record.decisions.length, "decision")} repeat`;
      say({
        kind: "verified",
        text: record.outcome.complete ? `Verified: ${all}` : `Incomplete: its ${all}`,
      });
    } catch (error) {
      say({ kind: "missing", text: describeFault(error) });
    }
  }

  /** Plays records of a task, one after the other. */
  async all({ library, environment, task: name }: TaskRef, records: readonly RecordRef[]): Promise<void> {
    if (useVerdicts.getState().all !== null) return;
    this.#stopped = false;
    const task = { library, environment, task: name };
    const began = performance.now();
    try {
      for (const [done, record] of records.entries()) {
        if (this.#stopped) return;
        const each = done === 0 ? null : (performance.now() - began) / 1000 / done;
        const left = each === null ? null : formatSeconds(each * (records.length - done));
        useVerdicts.setState({ all: { task, done, total: records.length, left } });
        await this.verify(record);
      }
    } finally {
      useVerdicts.setState({ all: null });
    }
  }

  /** Ends `all` after the present record. */
  stop(): void {
    this.#stopped = true;
  }
}

export const verifier = new Verifier(page);
