/** Hub models in Node: kept below the user's cache folder, opened like any folder. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { FolderReader } from "../../core/ports.ts";
import { onFile } from "../../node/file-error.ts";
import { lockWhenFree } from "../../node/lock.ts";
import { makeFolder, syncFolder, writeAll, writeWhole } from "../../node/whole-file.ts";
import { openFolder } from "../native/node-folder.ts";
import { type BringOptions, bringModel, type HubCache } from "./bring-model.ts";
import type { HubStore } from "./download.ts";
import { DEFAULT_ENDPOINT, type HubFile, parseHubName } from "./hub-client.ts";

export { parseHubName } from "./hub-client.ts";

/** What is in the cache of one repository. */
const NOTE = "cached.json";

/**
 * A model by path or by name: `hub:OWNER/NAME[@REVISION]` is downloaded into the cache, where it is not there yet, and
 * opened; anything else is a folder on disk. `HF_ENDPOINT` and `HF_TOKEN` are those of Hugging Face's own tools; the
 * cache is `GCOPD_CACHE`, else gcopd/hub in the user's cache folder, one folder a commit. A commit that is there whole, or
 * any model with `HF_HUB_OFFLINE`, is opened without asking anyone.
 *
 * @throws InputError, also when the hub cannot be reached
 */
export async function openModelFolder(
  pathOrName: string,
  options: BringOptions & { environment?: NodeJS.ProcessEnv } = {},
): Promise<FolderReader> {
  const name = parseHubName(pathOrName);
  if (name === null) return openFolder(pathOrName);
  const environment = options.environment ?? process.env;
  const cache = new DiskCache(cacheFolder(environment));
  const { commit } = await bringModel(name, cache, {
    ...options,
    endpoint: options.endpoint ?? (environment["HF_ENDPOINT"] || DEFAULT_ENDPOINT),
    token: options.token ?? environment["HF_TOKEN"],
    offline: options.offline ?? /^(1|on|yes|true)$/i.test(environment["HF_HUB_OFFLINE"] ?? ""),
  });
  return openFolder(cache.folder(name.repository, commit));
}

function cacheFolder(environment: NodeJS.ProcessEnv): string {
  const own = environment["GCOPD_CACHE"];
  if (own) return own;
  const cache = environment["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(cache, "gcopd", "hub");
}

/** A folder a commit below that of its repository, and the note beside them. */
class DiskCache implements HubCache {
  constructor(private readonly root: string) {}

  folder(repository: string, commit: string): string {
    return join(this.root, ...repository.split("/"), commit);
  }
  async store(repository: string, commit: string): Promise<HubStore> {
    const folder = this.folder(repository, commit);
    await makeFolder(folder);
    return new DiskStore(folder);
  }
  async alone<T>(repository: string, work: () => Promise<T>, { signal, onNote }: BringOptions): Promise<T> {
    const folder = join(this.root, ...repository.split("/"));
    await makeFolder(folder);
    const file = join(folder, "lock.sqlite");
    const onWait = () => onNote?.(`${repository}: waiting for another process that downloads it (${file})`);
    const unlock = await lockWhenFree(file, { signal, onWait });
    try {
      return await work();
    } finally {
      unlock();
    }
  }
  async readNote(repository: string): Promise<string | null> {
    return readFile(this.folder(repository, NOTE), "utf8").catch(() => null);
  }
  async writeNote(repository: string, text: string): Promise<void> {
    await writeWhole(this.folder(repository, NOTE), [new TextEncoder().encode(text)]);
  }
}

/** Files of one commit: `NAME` when whole, `NAME.part` until then. */
class DiskStore implements HubStore {
  constructor(private readonly folder: string) {}

  async has({ name, size }: HubFile): Promise<boolean> {
    return (await this.#size(join(this.folder, name))) === size;
  }
  async partial(file: HubFile): Promise<number> {
    return (await this.#size(this.#part(file))) ?? 0;
  }
  async append(file: HubFile, at: number, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.#part(file);
    const handle = await onFile(path, "write", open(path, at === 0 ? "w" : "r+"));
    try {
      await onFile(path, "write", handle.truncate(at));
      let to = at;
      for await (const chunk of chunks) {
        await onFile(path, "write", writeAll(handle, chunk, to));
        to += chunk.length;
      }
      await onFile(path, "write", handle.sync());
    } finally {
      await handle.close();
    }
  }
  async digest(file: HubFile): Promise<string> {
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(this.#part(file), { highWaterMark: 2 ** 20 }))
      hash.update(chunk as Uint8Array);
    return hash.digest("hex");
  }
  async finish(file: HubFile): Promise<void> {
    const path = this.#part(file);
    if (file.size === 0) await onFile(path, "write", writeFile(path, ""));
    await onFile(path, "write", rename(path, join(this.folder, file.name)));
    await syncFolder(this.folder);
  }
  async discard(file: HubFile): Promise<void> {
    await rm(this.#part(file), { force: true });
  }
  #part(file: HubFile): string {
    return join(this.folder, `${file.name}.part`);
  }
  async #size(path: string): Promise<number | null> {
    return stat(path).then(
      (found) => found.size,
      () => null,
    );
  }
}
