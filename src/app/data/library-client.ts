/** The library worker as the drawing thread sees it; it starts when it is first asked for. */
import { startedWhenAsked } from "../base/worker/remote-worker.ts";
import type { LibraryApi } from "./worker/library.worker.ts";
import libraryScript from "./worker/library.worker.ts?worker&url";

export type { LibraryApi, OwnFiles } from "./worker/library.worker.ts";

export const { ask: libraryWorker } = startedWhenAsked<LibraryApi>(libraryScript, "library");
