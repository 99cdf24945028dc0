import type { FolderReader } from "../../src/core/ports.ts";

/** Files that a page's server has in one folder. Each is fetched once, when it is first asked for. */
export function fetchedFolder(name: string, path: string, files: readonly string[]): FolderReader {
  const kept = new Map<string, Promise<Uint8Array>>();
  const bytes = (file: string): Promise<Uint8Array> => {
    const known = kept.get(file);
    if (known !== undefined) return known;
    const fetched = (async () => {
      const response = await fetch(`${path}/${file}`);
      if (!response.ok) throw new Error(`${path}/${file}: ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    })();
    kept.set(file, fetched);
    return fetched;
  };
  return {
    name,
    list: async () => [...files],
    size: async (file) => (await bytes(file)).length,
    read: async (file, start, end) => (await bytes(file)).slice(start, end),
  };
}
