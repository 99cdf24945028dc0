import type { FolderWriter } from "../ports.ts";

/** Bytes after which it is told again. */
const TOLD_AFTER = 64e6;

/** The same writer, which tells after every 64 MB how many bytes of all files were written. */
export function toldWriter(writer: FolderWriter, tell: (bytes: number) => void): FolderWriter {
  let bytes = 0;
  let told = 0;
  async function* counted(chunks: Parameters<FolderWriter["write"]>[1]): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of chunks) {
      yield chunk;
      bytes += chunk.length;
      if (bytes - told < TOLD_AFTER) continue;
      told = bytes;
      tell(bytes);
    }
  }
  return {
    write: (file, chunks) => writer.write(file, counted(chunks)),
    commit: () => writer.commit(),
    abort: () => writer.abort(),
  };
}
