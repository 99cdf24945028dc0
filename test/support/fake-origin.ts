/** An origin-private file system in memory, for tests: what the cache uses of it, with a quota. */

class FakeFile {
  readonly kind = "file";
  bytes = new Uint8Array(0);
  /** Handles that are open: one that writes, or any number of those that only read. */
  open = 0;
  #writing = false;

  constructor(
    readonly name: string,
    private readonly disk: FakeDisk,
  ) {}

  async getFile(): Promise<File> {
    return new File([this.bytes], this.name);
  }
  async createSyncAccessHandle({ mode = "readwrite" }: { mode?: "readwrite" | "read-only" } = {}) {
    const writing = mode === "readwrite";
    if (this.#writing || (writing && this.open > 0))
      throw new DOMException("locked", "NoModificationAllowedError");
    this.#writing = writing;
    this.open += 1;
    let closed = false;
    return {
      mode,
      truncate: (size: number) => this.#resize(size),
      write: (chunk: Uint8Array, { at }: { at: number }) => {
        this.#resize(Math.max(this.bytes.length, at + chunk.length));
        this.bytes.set(chunk, at);
        return chunk.length;
      },
      read: (into: Uint8Array, { at }: { at: number }) => {
        if (closed) throw new DOMException("closed", "InvalidStateError");
        const found = this.bytes.subarray(at, at + into.length);
        into.set(found);
        return found.length;
      },
      flush: () => {},
      close: () => {
        if (closed) return;
        closed = true;
        this.open -= 1;
        this.#writing = false;
      },
    };
  }
  free(): void {
    this.disk.used -= this.bytes.length;
  }
  #resize(size: number): void {
    this.disk.used += size - this.bytes.length;
    if (this.disk.used > this.disk.quota) {
      this.disk.used -= size - this.bytes.length;
      throw new DOMException("full", "QuotaExceededError");
    }
    const grown = new Uint8Array(size);
    grown.set(this.bytes.subarray(0, size));
    this.bytes = grown;
  }
}

class FakeFolder {
  readonly kind = "directory";
  readonly entries = new Map<string, FakeFile | FakeFolder>();

  constructor(
    readonly name: string,
    private readonly disk: FakeDisk,
  ) {}

  async getDirectoryHandle(name: string, { create = false } = {}): Promise<FakeFolder> {
    return this.#entry(name, create, () => new FakeFolder(name, this.disk));
  }
  async getFileHandle(name: string, { create = false } = {}): Promise<FakeFile> {
    return this.#entry(name, create, () => new FakeFile(name, this.disk));
  }
  async removeEntry(name: string): Promise<void> {
    const entry = this.entries.get(name);
    if (entry === undefined) throw new DOMException(name, "NotFoundError");
    if (entry instanceof FakeFile && entry.open > 0)
      throw new DOMException(name, "NoModificationAllowedError");
    this.entries.delete(name);
    entry.free();
  }
  free(): void {
    for (const entry of this.entries.values()) entry.free();
  }
  async *values(): AsyncGenerator<FakeFile | FakeFolder> {
    yield* this.entries.values();
  }
  #entry<T extends FakeFile | FakeFolder>(name: string, create: boolean, make: () => T): T {
    const found = this.entries.get(name) as T | undefined;
    if (found !== undefined) return found;
    if (!create) throw new DOMException(name, "NotFoundError");
    const made = make();
    this.entries.set(name, made);
    return made;
  }
}

export class FakeDisk {
  quota = Number.POSITIVE_INFINITY;
  used = 0;
  readonly root = new FakeFolder("", this);

  /** What a page gets. */
  get handle(): FileSystemDirectoryHandle {
    return this.root as unknown as FileSystemDirectoryHandle;
  }

  /** The bytes of a file by its path; null where it is not there. */
  async read(path: string): Promise<Uint8Array | null> {
    let at: FakeFile | FakeFolder | undefined = this.root;
    for (const name of path.split("/")) at = at instanceof FakeFolder ? at.entries.get(name) : undefined;
    return at instanceof FakeFile ? at.bytes : null;
  }
}
