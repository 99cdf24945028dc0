/** Runs of the page over its reloads: what they were, their events and their last checkpoint, in IndexedDB. */
import type { Run } from "./run.ts";

const NAME = "gcopd-runs";

/** What is kept of a run; its figures are made again from its events. */
export type KeptRun = Omit<Run, "figures" | "stream"> & { plan: unknown };

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore("runs", { keyPath: "id" });
      request.result.createObjectStore("checkpoints", { keyPath: "id" });
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function within<T>(
  store: "runs" | "checkpoints",
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const database = await open();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(store, mode);
      const request = work(transaction.objectStore(store));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

export const keepRun = (run: KeptRun): Promise<unknown> =>
  within("runs", "readwrite", (store) => store.put(run));

export const keptRuns = (): Promise<KeptRun[]> =>
  within("runs", "readonly", (store) => store.getAll() as IDBRequest<KeptRun[]>);

export const keptRun = (id: string): Promise<KeptRun | undefined> =>
  within("runs", "readonly", (store) => store.get(id) as IDBRequest<KeptRun | undefined>);

/** A checkpoint with the files of its model folder. */
export interface KeptCheckpoint {
  id: string;
  state: unknown;
  files: Map<string, Blob>;
}

export const keepCheckpoint = (checkpoint: KeptCheckpoint): Promise<unknown> =>
  within("checkpoints", "readwrite", (store) => store.put(checkpoint));

export const keptCheckpoint = (id: string): Promise<KeptCheckpoint | undefined> =>
  within("checkpoints", "readonly", (store) => store.get(id) as IDBRequest<KeptCheckpoint | undefined>);

/** Ids of the runs that have one. */
export const keptCheckpoints = (): Promise<IDBValidKey[]> =>
  within("checkpoints", "readonly", (store) => store.getAllKeys());

export async function dropKept(id: string, what: "checkpoint" | "all"): Promise<void> {
  await within("checkpoints", "readwrite", (store) => store.delete(id));
  if (what === "all") await within("runs", "readwrite", (store) => store.delete(id));
}
