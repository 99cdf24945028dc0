/**
 * Hub models in a page: kept in the origin-private file system, a folder a commit, written through sync access handles.
 * Those exist in Web Workers only; reading and listing work on any thread.
 *
 * A file that is being downloaded has its own name from the beginning, so that no step depends on renaming; an empty file
 * `NAME.whole` beside it says that it is there whole and was checked.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { InputError } from "../../core/errors.ts";
import { type HubCache, readNote } from "./bring-model.ts";
import type { HubStore } from "./download.ts";
import type { HubFile } from "./hub-client.ts";

const NOTE = "cached.json";
const WHOLE = ".whole";

/** A commit of a model in the cache, or a part of one. */
export interface CachedModel {
  /** `OWNER/NAME`. */
  repository: string;
  commit: string;
  /** Branches and tags that led here. */
  revisions: string[];
  files: readonly HubFile[];
  /** Bytes of all its files, and of what is there. */
  bytes: number;
  have: number;
  /** Every file is there and was checked. */
  whole: boolean;
}

export class OriginCache implements HubCache {
  /** @param root a folder of the origin-private file system, the cache's own */
  constructor(private readonly root: FileSystemDirectoryHandle) {}

  async store(repository: string, commit: string): Promise<OriginStore> {
    return new OriginStore(await this.#folder([...repository.split("/"), commit], true));
  }

  /** A file has one writer: a second one is refused by the browser. */
  alone<T>(_repository: string, work: () => Promise<T>): Promise<T> {
    return work();
  }

  async readNote(repository: string): Promise<string | null> {
    const folder = await absent(this.#folder(repository.split("/"), false));
    const file = folder && (await absent(folder.getFileHandle(NOTE)));
    return file && (await (await file.getFile()).text());
  }

  async writeNote(repository: string, text: string): Promise<void> {
    const folder = await this.#folder(repository.split("/"), true);
    await write(await folder.getFileHandle(NOTE, { create: true }), 0, [new TextEncoder().encode(text)]);
  }

  /** All that is there, whole or not, by name. */
  async list(): Promise<CachedModel[]> {
    const models: CachedModel[] = [];
    for (const owner of await folders(this.root)) {
      for (const name of await folders(owner)) {
        const repository = `${owner.name}/${name.name}`;
        const note = await readNote(this, repository);
        for (const { name: commit } of await folders(name)) {
          const files = note.commits[commit] ?? [];
          const store = await this.store(repository, commit);
          let [have, whole] = [0, files.length > 0];
          for (const file of files) {
            have += Math.min(await store.partial(file), file.size);
            whole &&= await store.has(file);
          }
          const bytes = files.reduce((sum, { size }) => sum + size, 0);
          const revisions = Object.keys(note.revisions).filter((each) => note.revisions[each] === commit);
          models.push({ repository, commit, revisions, files, bytes, have, whole });
        }
      }
    }
    return models.sort((a, b) => (a.repository < b.repository ? -1 : a.repository > b.repository ? 1 : 0));
  }

  /**
   * The files of a whole model, on the disk: reading a slice reads that range alone.
   *
   * @throws InputError when it is not there whole
   */
  async files({
    repository,
    commit,
  }: Pick<CachedModel, "repository" | "commit">): Promise<Map<string, File>> {
    const found = (await this.list()).find(
      (model) => model.repository === repository && model.commit === commit,
    );
    if (found === undefined || !found.whole)
      throw new InputError("is not kept in this browser whole: download it again", { file: repository });
    const folder = await this.#folder([...repository.split("/"), commit], false);
    const files = new Map<string, File>();
    for (const { name } of found.files) files.set(name, await (await folder.getFileHandle(name)).getFile());
    return files;
  }

  /** Takes a commit away, with its folders where nothing else is in them. */
  async remove({ repository, commit }: Pick<CachedModel, "repository" | "commit">): Promise<void> {
    const [owner = "", name = ""] = repository.split("/");
    const owned = await absent(this.#folder([owner], false));
    const named = owned && (await absent(owned.getDirectoryHandle(name)));
    if (!owned || !named) return;
    await absent(named.removeEntry(commit, { recursive: true }));
    if ((await folders(named)).length === 0) await absent(owned.removeEntry(name, { recursive: true }));
    if ((await folders(owned)).length === 0) await absent(this.root.removeEntry(owner, { recursive: true }));
  }

  async #folder(path: readonly string[], create: boolean): Promise<FileSystemDirectoryHandle> {
    let folder = this.root;
    for (const name of path) folder = await folder.getDirectoryHandle(name, { create });
    return folder;
  }
}

/** Files of one commit. */
class OriginStore implements HubStore {
  constructor(private readonly folder: FileSystemDirectoryHandle) {}

  async has(file: HubFile): Promise<boolean> {
    if ((await absent(this.folder.getFileHandle(file.name + WHOLE))) === null) return false;
    return (await this.partial(file)) === file.size;
  }
  async partial({ name }: HubFile): Promise<number> {
    const file = await absent(this.folder.getFileHandle(name));
    return file === null ? 0 : (await file.getFile()).size;
  }
  async append({ name }: HubFile, at: number, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    await write(await this.folder.getFileHandle(name, { create: true }), at, chunks);
  }
  async digest({ name }: HubFile): Promise<string> {
    const hash = sha256.create();
    const file = await (await this.folder.getFileHandle(name)).getFile();
    // Piece by piece, so that other messages to the worker are answered in between.
    for (let start = 0; start < file.size; start += PIECE)
      hash.update(new Uint8Array(await file.slice(start, start + PIECE).arrayBuffer()));
    return bytesToHex(hash.digest());
  }
  async finish({ name, size }: HubFile): Promise<void> {
    if (size === 0) await this.folder.getFileHandle(name, { create: true });
    await this.folder.getFileHandle(name + WHOLE, { create: true });
  }
  async discard({ name }: HubFile): Promise<void> {
    await absent(this.folder.removeEntry(name + WHOLE));
    await absent(this.folder.removeEntry(name));
  }
}

/** Bytes that are hashed at a time. */
const PIECE = 4 << 20;

async function folders(of: FileSystemDirectoryHandle): Promise<FileSystemDirectoryHandle[]> {
  const found: FileSystemDirectoryHandle[] = [];
  for await (const entry of of.values())
    if (entry.kind === "directory") found.push(entry as FileSystemDirectoryHandle);
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Null for what is not there. */
async function absent<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && error.name === "NotFoundError") return null;
    throw error;
  }
}

/** Writes from byte `at` on; what lay beyond is dropped. */
async function write(
  file: FileSystemFileHandle,
  at: number,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  let handle: FileSystemSyncAccessHandle;
  try {
    handle = await file.createSyncAccessHandle();
  } catch (error) {
    if (error instanceof Error && error.name === "NoModificationAllowedError")
      throw new InputError("is being written by another tab: wait for it, or stop it there", {
        file: file.name,
      });
    throw error;
  }
  let to = at;
  try {
    handle.truncate(at);
    for await (const chunk of chunks) {
      let done = 0;
      while (done < chunk.length) {
        const written = handle.write(chunk.subarray(done) as Uint8Array<ArrayBuffer>, { at: to + done });
        if (written === 0) throw new DOMException("no byte was written", "QuotaExceededError");
        done += written;
      }
      to += chunk.length;
    }
    handle.flush();
  } catch (error) {
    if (error instanceof Error && error.name === "QuotaExceededError")
      throw new InputError(
        `this browser gives the page no more storage; ${to} bytes of it are kept: remove other models or free space on the disk, then go on`,
        { file: file.name },
      );
    throw error;
  } finally {
    handle.close();
  }
}
