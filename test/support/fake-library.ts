import type * as Comlink from "comlink";
import type { LibraryApi } from "../../src/app/data/worker/library.worker.ts";
import { fake, type Parts } from "./fake.ts";

type Library = Comlink.Remote<LibraryApi>;

/** The library worker, as far as it answers some questions about tasks, and whatever else a test gives it. */
export const fakeLibrary = (tasks: Parts<Library["tasks"]>, more: Parts<Library> = {}): Library =>
  fake<Library>({ ...more, tasks: fake<Library["tasks"]>(tasks) });
