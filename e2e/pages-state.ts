/** What the pages of a failed test were at: for a hang that comes once in many runs. */
import type { Browser, Page } from "@playwright/test";

const PATIENCE_MS = 10_000;

/** What is asked may be the very thing that hangs. */
function inTime<T>(asked: Promise<T>): Promise<T | string> {
  const late = new Promise<string>((resolve) => setTimeout(resolve, PATIENCE_MS, "no answer"));
  return Promise.race([asked.catch((error: unknown) => String(error)), late]);
}

/** Runs before the page's scripts: keeps what its workers were asked and have not answered. */
export function keepUnanswered(): void {
  const unanswered = new Map<string, { worker: Worker; call: string }>();
  const heard = new WeakSet<Worker>();
  Object.assign(globalThis, { unanswered });
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message?: { id?: string; path?: string[] }, ...rest: never[]) {
    if (message?.id !== undefined && message.path !== undefined) {
      unanswered.set(message.id, { worker: this, call: message.path.join(".") });
      if (!heard.has(this)) this.addEventListener("message", ({ data }) => unanswered.delete(data?.id));
      heard.add(this);
    }
    post.call(this, message, ...rest);
  };
  const end = Worker.prototype.terminate;
  Worker.prototype.terminate = function () {
    // It never answers, and need not.
    for (const [id, { worker }] of unanswered) if (worker === this) unanswered.delete(id);
    end.call(this);
  };
}

/**
 * Runs in the page: the header's list of what is running and how far it is, what the workers have not answered, what is
 * shown of a fault, and who waits for a lock.
 */
async function inPage() {
  const { unanswered } = globalThis as unknown as { unanswered?: Map<string, { call: string }> };
  const progress = [...document.querySelectorAll<HTMLProgressElement>('[data-testid="at-work"] progress')];
  const shown = (name: string) =>
    [...document.querySelectorAll(`[data-testid="${name}"]`)].map(({ textContent }) => textContent);
  const { held = [], pending = [] } = await navigator.locks.query();
  const names = (locks: LockInfo[]) => locks.map(({ name, mode }) => `${name} (${mode})`);
  return {
    running: shown("at-work"),
    progress: progress.map(({ value, max }) => `${value} of ${max}`),
    unanswered: unanswered === undefined ? "not watched" : [...unanswered.values()].map(({ call }) => call),
    notices: shown("notice"),
    held: names(held),
    waiting: names(pending),
  };
}

/** Runs in a worker: whether the browser answers what models are read from and computed on. */
async function inWorker(patience: number) {
  const answers = (ask: () => Promise<unknown>): Promise<string> =>
    Promise.race([
      ask().then(() => "answers", String),
      new Promise<string>((resolve) => setTimeout(resolve, patience, "no answer")),
    ]);
  const [gpu, files, database] = await Promise.all([
    answers(async () => {
      const device = await (await navigator.gpu.requestAdapter())!.requestDevice();
      await device.queue.onSubmittedWorkDone();
      device.destroy();
    }),
    answers(async () => {
      const root = await navigator.storage.getDirectory();
      for await (const found of (await root.getDirectoryHandle("kept-files")).values()) {
        const handle = found as FileSystemFileHandle & {
          createSyncAccessHandle(how: { mode: "read-only" }): Promise<FileSystemSyncAccessHandle>;
        };
        const access = await handle.createSyncAccessHandle({ mode: "read-only" });
        access.read(new Uint8Array(1));
        access.close();
        await (await handle.getFile()).slice(0, 1).arrayBuffer();
      }
    }),
    answers(() => indexedDB.databases()),
  ]);
  return { gpu, files, database };
}

async function stateOf(page: Page) {
  const workers = [];
  // One after the other: what is asked of several at once may itself hang (docs/performance.md).
  for (const worker of page.workers()) {
    const name = worker.url().replace(/^.*\//, "");
    workers.push({ name, state: await inTime(worker.evaluate(inWorker, PATIENCE_MS / 2)) });
  }
  return { url: page.url(), page: await inTime(page.evaluate(inPage)), workers };
}

/** One of each page that is open in a browser. */
export async function pagesState(browser: Browser): Promise<string> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  return JSON.stringify(await Promise.all(pages.map(stateOf)), null, 2);
}
