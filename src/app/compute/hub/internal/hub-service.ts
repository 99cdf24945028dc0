/** Models of the hub: lists them, brings them into a cache and gives their files out. */
import { InputError } from "../../../../core/errors.ts";
import {
  type BroughtModel,
  type CachedModel,
  fetchModel,
  type HubName,
  hubText,
  listHubFiles,
  type OriginCache,
} from "../../../../engine/hub/index.ts";

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

/** What the service works with: the cache, opened when it is first needed, and how the hub is asked. */
interface Clients {
  openCache(): Promise<Pick<OriginCache, keyof OriginCache>>;
  fetch: typeof fetch;
}

/** Contacts nobody unless `look` or `bring` is called. One of these is under way at a time. */
export class HubService {
  #cache: ReturnType<Clients["openCache"]> | null = null;
  #work: AbortController | null = null;

  constructor(private readonly clients: Clients) {}

  /** What is kept in this browser. */
  async list(): Promise<CachedModel[]> {
    return (await this.#opened()).list();
  }

  /** Asks the hub for the files of a model. */
  look(name: HubName, endpoint: string): Promise<HubListing> {
    return this.#stoppable(async (signal) => {
      let listed: BroughtModel;
      try {
        listed = await listHubFiles(name, {
          endpoint,
          fetch: this.clients.fetch,
          accessHint: ACCESS,
          signal,
        });
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof InputError) throw error;
        throw new InputError(`${hubText(name)}: ${error instanceof Error ? error.message : String(error)}`);
      }
      const kept = (await (await this.#opened()).list()).find(
        ({ repository, commit }) => repository === name.repository && commit === listed.commit,
      );
      const bytes = listed.files.reduce((sum, { size }) => sum + size, 0);
      return { ...listed, name, endpoint, bytes, have: kept?.have ?? 0 };
    });
  }

  /**
   * Brings a listed model here, going on where an earlier download ended. Throws `InputError`, or an AbortError when it
   * was stopped; what came is kept either way.
   */
  bring(
    { name, commit, files, bytes, endpoint }: Omit<HubListing, "have">,
    onProgress: (progress: HubProgress) => void,
  ): Promise<void> {
    return this.#stoppable(async (signal) => {
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
        await fetchModel(name, { commit, files }, await this.#opened(), {
          endpoint,
          fetch: this.clients.fetch,
          accessHint: ACCESS,
          signal,
          onFile: (file, what) => Object.assign(at, { file: file.name, what }),
          onProgress: ({ done }) => Object.assign(at, { done }),
        });
      } finally {
        clearInterval(timer);
      }
    });
  }

  /** Ends what is under way. */
  stop(): void {
    this.#work?.abort(new DOMException("the download was stopped", "AbortError"));
  }

  /** The files of a model that is here whole, for `blobFolder`. */
  async files(model: Pick<CachedModel, "repository" | "commit">): Promise<Map<string, File>> {
    return (await this.#opened()).files(model);
  }

  async remove(model: Pick<CachedModel, "repository" | "commit">): Promise<void> {
    return (await this.#opened()).remove(model);
  }

  #opened(): ReturnType<Clients["openCache"]> {
    this.#cache ??= this.clients.openCache();
    return this.#cache;
  }

  async #stoppable<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#work !== null) throw new InputError("another download is under way: wait for it, or stop it");
    const controller = new AbortController();
    this.#work = controller;
    try {
      return await run(controller.signal);
    } finally {
      this.#work = null;
    }
  }
}
