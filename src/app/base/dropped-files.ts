/** A file with its path inside what was dropped or picked. */
export interface PathFile {
  /** With `/` between folders, without a leading one. */
  path: string;
  file: File;
}

/** All files of a drop, folders opened to any depth. Must be called inside the event: the list is void afterwards. */
export async function droppedFiles(transfer: DataTransfer): Promise<PathFile[]> {
  const entries = [...transfer.items].map((item) => (item.kind === "file" ? item.webkitGetAsEntry() : null));
  const plain = [...transfer.files];
  if (entries.every((entry) => entry === null)) return pickedFiles(plain);
  const found: PathFile[] = [];
  for (const entry of entries) if (entry !== null) await walk(entry, "", found);
  return found;
}

/** The files of a file or directory input, with the paths that the browser gives. */
export function pickedFiles(files: Iterable<File>): PathFile[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

async function walk(entry: FileSystemEntry, folder: string, found: PathFile[]): Promise<void> {
  const path = `${folder}${entry.name}`;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // Browsers hand out at most 100 entries at a time; an empty list is the end.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (batch.length === 0) return;
    for (const child of batch) await walk(child, `${path}/`, found);
  }
}
