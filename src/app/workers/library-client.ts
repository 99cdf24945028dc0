/** The library worker as the drawing thread sees it; it starts when it is first asked for. */
import * as Comlink from "comlink";
import type { LibraryApi } from "./library.worker.ts";
import libraryScript from "./library.worker.ts?worker&url";
import { startWorker } from "./start-worker.ts";
import { installErrorTransfer } from "./transfer.ts";

installErrorTransfer();

let library: Comlink.Remote<LibraryApi> | null = null;

export function libraryWorker(): Comlink.Remote<LibraryApi> {
  library ??= Comlink.wrap<LibraryApi>(startWorker(libraryScript, "library"));
  return library;
}
