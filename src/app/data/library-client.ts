/** The library worker as the drawing thread sees it; it starts when it is first asked for. */
import * as Comlink from "comlink";
import { startWorker } from "../base/worker/start-worker.ts";
import { installErrorTransfer } from "../base/worker/transfer.ts";
import type { LibraryApi } from "./worker/library.worker.ts";
import libraryScript from "./worker/library.worker.ts?worker&url";

export type { LibraryApi, OwnFiles } from "./worker/library.worker.ts";

installErrorTransfer();

let library: Comlink.Remote<LibraryApi> | null = null;

export function libraryWorker(): Comlink.Remote<LibraryApi> {
  library ??= Comlink.wrap<LibraryApi>(startWorker(libraryScript, "library"));
  return library;
}
