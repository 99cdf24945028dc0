/** The workers as the drawing thread sees them; each starts when it is first asked for. */
import * as Comlink from "comlink";
import type { ComputeApi } from "./compute.worker.ts";
import type { HubApi } from "./hub.worker.ts";
import type { LibraryApi } from "./library.worker.ts";
import { installErrorTransfer } from "./transfer.ts";

installErrorTransfer();

let library: Comlink.Remote<LibraryApi> | null = null;

export function libraryWorker(): Comlink.Remote<LibraryApi> {
  library ??= Comlink.wrap<LibraryApi>(
    new Worker(new URL("./library.worker.ts", import.meta.url), { type: "module", name: "library" }),
  );
  return library;
}

let hub: Comlink.Remote<HubApi> | null = null;

export function hubWorker(): Comlink.Remote<HubApi> {
  hub ??= Comlink.wrap<HubApi>(
    new Worker(new URL("./hub.worker.ts", import.meta.url), { type: "module", name: "hub" }),
  );
  return hub;
}

/** A compute worker of its own; ending it stops whatever it does. */
export interface ComputeClient {
  api: Comlink.Remote<ComputeApi>;
  end(): void;
}

export function startComputeWorker(): ComputeClient {
  const worker = new Worker(new URL("./compute.worker.ts", import.meta.url), {
    type: "module",
    name: "compute",
  });
  const api = Comlink.wrap<ComputeApi>(worker);
  return { api, end: () => worker.terminate() };
}
