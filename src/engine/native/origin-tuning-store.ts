import type { TuningStore } from "../../tensor/index.ts";

const NAME = "gcopd-tuning.json";

/** In the origin-private file system, which pages and Web Workers share; nothing where the browser has none. */
export function originTuningStore(): TuningStore | undefined {
  const storage = (globalThis.navigator as Partial<Navigator> | undefined)?.storage as
    | Partial<StorageManager>
    | undefined;
  if (!storage?.getDirectory) return undefined;
  const directory = () => storage.getDirectory!();
  return {
    async read() {
      try {
        const handle = await (await directory()).getFileHandle(NAME);
        return await (await handle.getFile()).text();
      } catch (error) {
        if ((error as Partial<DOMException>).name === "NotFoundError") return null;
        throw error;
      }
    },
    async write(text) {
      const handle = await (await directory()).getFileHandle(NAME, { create: true });
      // What is written takes the file's place when it is closed, whole.
      const file = await handle.createWritable();
      await file.write(text);
      await file.close();
    },
  };
}
