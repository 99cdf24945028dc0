/** IndexedDB with promises. */

export interface Database<S extends string> {
  /** Does one thing in one store, in a transaction of its own. */
  within<T>(store: S, mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T>;
}

/** A database of the page; its stores are made where they are missing, with these key paths. */
export function database<S extends string>(
  name: string,
  version: number,
  stores: Readonly<Record<S, string | string[]>>,
): Database<S> {
  const open = (): Promise<IDBDatabase> =>
    new Promise((resolve, reject) => {
      const request = indexedDB.open(name, version);
      request.onupgradeneeded = () => {
        const there = request.result.objectStoreNames;
        for (const [store, keyPath] of Object.entries<string | string[]>(stores))
          if (!there.contains(store)) request.result.createObjectStore(store, { keyPath });
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  return {
    async within(store, mode, work) {
      const opened = await open();
      try {
        return await new Promise((resolve, reject) => {
          const transaction = opened.transaction(store, mode);
          const request = work(transaction.objectStore(store));
          transaction.oncomplete = () => resolve(request.result);
          transaction.onerror = () => reject(transaction.error);
          transaction.onabort = () => reject(transaction.error);
        });
      } finally {
        opened.close();
      }
    },
  };
}
