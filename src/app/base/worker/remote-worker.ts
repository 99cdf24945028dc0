/** The page's workers as comlink's remotes. Calls of one that cannot start fail, where comlink alone would wait for good. */
import * as Comlink from "comlink";
import { InputError } from "../../../core/errors.ts";
import { startWorker } from "./start-worker.ts";
import { installErrorTransfer, thrownAnswer } from "./transfer.ts";

installErrorTransfer();

export interface RemoteWorker<T> {
  api: Comlink.Remote<T>;
  end(): void;
}

/**
 * Starts a worker. If it fails before its first answer, because its script did not load or threw, its calls throw that:
 * comlink does not listen for `error`.
 *
 * @param failed told before the calls throw
 */
export function startRemote<T>(url: string, name: string, failed = (): void => {}): RemoteWorker<T> {
  const worker = startWorker(url, name);
  /** Calls that wait for the first answer. */
  let waiting: string[] | null = [];
  let fault: Error | null = null;
  const fail = (id: string, error: Error): void => {
    worker.dispatchEvent(new MessageEvent("message", { data: thrownAnswer(id, error) }));
  };
  worker.addEventListener("message", () => {
    waiting = null;
  });
  worker.addEventListener("error", (event) => {
    if (waiting === null) return;
    worker.terminate();
    fault = whyNotStarted(event, url, name);
    const calls = waiting;
    failed();
    for (const id of calls) fail(id, fault);
  });
  const endpoint: Comlink.Endpoint = {
    addEventListener: worker.addEventListener.bind(worker),
    removeEventListener: worker.removeEventListener.bind(worker),
    postMessage: (message: { id: string }, transfer: Transferable[] = []) => {
      waiting?.push(message.id);
      worker.postMessage(message, transfer);
      if (fault !== null) fail(message.id, fault);
    },
  };
  return { api: Comlink.wrap<T>(endpoint), end: () => worker.terminate() };
}

/**
 * A worker that starts when it is first asked for. Where it could not start, the next who asks for it starts another.
 *
 * @returns `ask` gives the worker; `present` too, or null where there is none
 */
export function startedWhenAsked<T>(url: string, name: string) {
  let worker: Comlink.Remote<T> | null = null;
  const ask = (): Comlink.Remote<T> => {
    worker ??= startRemote<T>(url, name, () => {
      worker = null;
    }).api;
    return worker;
  };
  return { ask, present: () => worker };
}

/** What to do about a part of the page's program that its server did not send: an update of the page has other files. */
export const NOT_LOADED =
  "did not load. Check that the page's server runs; if the page was updated since you opened it, reload it";

/** An `error` event with a message is of a script that threw; one of a script that could not be loaded has none. */
function whyNotStarted(event: ErrorEvent | Event, url: string, name: string): Error {
  const what = `the ${name} worker could not start`;
  if ("message" in event) return new Error(`${what}: ${event.message}`);
  return new InputError(`${what}: its script ${new URL(url, location.href).pathname} ${NOT_LOADED}`);
}
