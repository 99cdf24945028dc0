import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { database } from "./database.ts";

/** As far as the page uses it; the test says when a request and its transaction are over. */
const store = {};
const request = { result: "kept", onsuccess: () => {} };
let transaction: { error: Error | null; oncomplete(): void; onerror(): void; onabort(): void };
const closed = vi.fn();

beforeEach(() => {
  const none = () => {};
  transaction = { error: null, oncomplete: none, onerror: none, onabort: none };
  const opened = {
    transaction: () => Object.assign(transaction, { objectStore: () => store }),
    close: closed,
  };
  const open = () => {
    const opening = { result: opened, onsuccess: none };
    queueMicrotask(() => opening.onsuccess());
    return opening;
  };
  vi.stubGlobal("indexedDB", { open });
  closed.mockClear();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** Writes, and returns once the request is made. */
async function writing(): Promise<{ done: Promise<unknown> }> {
  let done: Promise<unknown> = Promise.resolve();
  await new Promise<void>((made) => {
    done = database("runs", 1, { runs: "id" }).within("runs", "readwrite", () => {
      queueMicrotask(made);
      return request as unknown as IDBRequest;
    });
  });
  return { done };
}

it("a write is done once its transaction is, not when its request is", async () => {
  const { done } = await writing();
  const settled = vi.fn();
  void done.then(settled);
  request.onsuccess();
  await new Promise(setImmediate);
  expect(settled).not.toHaveBeenCalled();
  expect(closed).not.toHaveBeenCalled();
  transaction.oncomplete();
  expect(await done).toBe("kept");
  expect(closed).toHaveBeenCalledOnce();
});

it.each(["onabort", "onerror"] as const)(
  "a transaction that ends with %s is the write's failure",
  async (how) => {
    const { done } = await writing();
    const failed = vi.fn();
    void done.catch(failed);
    // The browser ends one without an error of its request where the disk is full.
    transaction.error = new Error("quota exceeded");
    transaction[how]();
    await new Promise(setImmediate);
    expect(failed).toHaveBeenCalledWith(transaction.error);
    expect(closed).toHaveBeenCalledOnce();
  },
);
