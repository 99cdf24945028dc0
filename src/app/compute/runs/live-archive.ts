/** Collections and evaluations of the page over its reloads, with what was played, in IndexedDB. */
import type { z } from "zod";
import { database } from "./internal/database.ts";
import {
  type KeptLiveRun,
  keptLiveRunSchema,
  keptOutcomeSchema,
  keptRecordSchema,
  type LiveOutcome,
} from "./live-run.ts";

// What counts of an episode lies apart from its record: the first is read at once, the second only to be saved.
const { within } = database("gcopd-live-runs", 1, {
  runs: "id",
  outcomes: ["run", "episode"],
  records: ["run", "episode"],
});

const ofRun = (run: string): IDBKeyRange => IDBKeyRange.bound([run], [run, []]);

/** Those of `schema`; what another version of the page wrote otherwise is passed over. */
function readable<T>(schema: z.ZodType<T>, values: readonly unknown[]): T[] {
  return values.flatMap((value) => schema.safeParse(value).data ?? []);
}

export const keepLiveRun = (run: KeptLiveRun): Promise<unknown> =>
  within("runs", "readwrite", (store) => store.put(run));

export async function keptLiveRun(id: string): Promise<KeptLiveRun | undefined> {
  return keptLiveRunSchema.safeParse(await within("runs", "readonly", (store) => store.get(id))).data;
}

export async function keptLiveRuns(): Promise<KeptLiveRun[]> {
  return readable(keptLiveRunSchema, await within("runs", "readonly", (store) => store.getAll()));
}

/** Keeps an episode that has ended; the record first, so that what counts is never without it. */
export async function keepPlayed(
  run: string,
  episode: string,
  { outcome, record }: { outcome: LiveOutcome | null; record: object | null },
): Promise<void> {
  await within("records", "readwrite", (store) => store.put({ run, episode, record }));
  await within("outcomes", "readwrite", (store) => store.put({ run, episode, outcome }));
}

/** An episode begins again: what it counted for is taken back. */
export const dropOutcome = (run: string, episode: string): Promise<unknown> =>
  within("outcomes", "readwrite", (store) => store.delete([run, episode]));

/** What counts of a run's episodes that have ended, by episode. */
export async function keptOutcomes(run: string): Promise<Map<string, LiveOutcome | null>> {
  const values = await within("outcomes", "readonly", (store) => store.getAll(ofRun(run)));
  return new Map(readable(keptOutcomeSchema, values).map(({ episode, outcome }) => [episode, outcome]));
}

/** The record of an ended episode; undefined where none is kept, null where it gave none. */
export async function keptRecord(run: string, episode: string): Promise<object | null | undefined> {
  const value = await within("records", "readonly", (store) => store.get([run, episode]));
  return keptRecordSchema.safeParse(value).data?.record;
}

/** Takes a run away with all that was played. */
export async function dropLiveRun(run: string): Promise<void> {
  await within("runs", "readwrite", (store) => store.delete(run));
  for (const store of ["outcomes", "records"] as const)
    await within(store, "readwrite", (each) => each.delete(ofRun(run)));
}
