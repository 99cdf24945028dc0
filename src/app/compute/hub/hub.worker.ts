/**
 * Models of the hub in the page: lists them, brings them into the origin-private file system and gives their files out.
 * A worker of its own, since files there are written through sync access handles, and a download goes on whatever the
 * others do. It contacts nobody unless `look` or `bring` is called.
 */
import "../../base/without-eval.ts";
import * as Comlink from "comlink";
import { InputError } from "../../../core/errors.ts";
import {
  type BroughtModel,
  type CachedModel,
  fetchModel,
  type HubName,
  hubText,
  listHubFiles,
  OriginCache,
} from "../../../engine/hub/index.ts";
import { installErrorTransfer } from "../../base/worker/transfer.ts";
import { hubFetch } from "./hub-fetch.ts";

installErrorTransfer();

/** The files of a model that the hub has, and how much of each is here already. */
export interface HubListing extends BroughtModel {
  name: HubName;
  endpoint: string;
  bytes: number;
  have: number;
}

/** How far a download is, in bytes of the whole model. */
export interface HubProgress {
  /** The file and what is done with it. */
  file: string;
  what: "downloading" | "checking";
  done: number;
  total: number;
}

/** What a person does about models that need an account: the page keeps no token. */
const ACCESS = "needs an account's token: download it with `gcopd score --model hub:…` and open its folder";

/** Milliseconds between two words of progress. */
const TOLD = 150;

let cache: Promise<OriginCache> | null = null;
let work: AbortController | null = null;

function opened(): Promise<OriginCache> {
  cache ??= (async () => {
    if (navigator.storage?.getDirectory === undefined)
      throw new InputError("this browser has no private file system for pages: open a folder instead");
    const root = await navigator.storage.getDirectory();
    return new OriginCache(await root.getDirectoryHandle("hub", { create: true }));
  })();
  return cache;
}

async function stoppable<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  if (work !== null) throw new InputError("another download is under way: wait for it, or stop it");
  const controller = new AbortController();
  work = controller;
  try {
    return await run(controller.signal);
  } finally {
    work = null;
  }
}

const api = {
  /** What is kept in this browser. */
  list: async (): Promise<CachedModel[]> => (await opened()).list(),

  /** Asks the hub for the files of a model. */
  look(name: HubName, endpoint: string): Promise<HubListing> {
    return stoppable(async (signal) => {
      let listed: BroughtModel;
      try {
        listed = await listHubFiles(name, { endpoint, fetch: hubFetch, accessHint: ACCESS, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof InputError) throw error;
        throw new InputError(`${hubText(name)}: ${error instanceof Error ? error.message : String(error)}`);
      }
      const kept = (await (await opened()).list()).find(
        ({ repository, commit }) => repository === name.repository && commit === listed.commit,
      );
      const bytes = listed.files.reduce((sum, { size }) => sum + size, 0);
      return { ...listed, name, endpoint, bytes, have: kept?.have ?? 0 };
    });
  },

  /**
   * Brings a listed model here, going on where an earlier download ended. Throws `InputError`, or an AbortError when it
   * was stopped; what came is kept either way.
   */
  bring(
    { name, commit, files, bytes, endpoint }: Omit<HubListing, "have">,
    onProgress: (progress: HubProgress) => void,
  ): Promise<void> {
    return stoppable(async (signal) => {
      const at: HubProgress = { file: "", what: "downloading", done: 0, total: bytes };
      let told = "";
      // At intervals, not as bytes come: that is too often, and the last word before a standstill is to be heard, too.
      const tell = (): void => {
        const now = JSON.stringify(at);
        if (now !== told) onProgress({ ...at });
        told = now;
      };
      const timer = setInterval(tell, TOLD);
      try {
        await fetchModel(name, { commit, files }, await opened(), {
          endpoint,
          fetch: hubFetch,
          accessHint: ACCESS,
          signal,
          onFile: (file, what) => Object.assign(at, { file: file.name, what }),
          onProgress: ({ done }) => Object.assign(at, { done }),
        });
      } finally {
        clearInterval(timer);
      }
    });
  },

  /** Ends what is under way. */
  stop(): void {
    work?.abort(new DOMException("the download was stopped", "AbortError"));
  },

  /** The files of a model that is here whole, for `blobFolder`. */
  files: async (model: Pick<CachedModel, "repository" | "commit">): Promise<Map<string, File>> =>
    (await opened()).files(model),

  remove: async (model: Pick<CachedModel, "repository" | "commit">): Promise<void> =>
    (await opened()).remove(model),
};

export type HubApi = typeof api;

Comlink.expose(api);
