import type { FolderWriter } from "../ports.ts";

/** Bytes between two reports. */
const REPORT_EVERY = 64e6;

/** The same writer, which reports after every 64 MB how many bytes it has written, over all files. */
export function reportingWriter(writer: FolderWriter, report: (bytes: number) => void): FolderWriter {
  let bytes = 0;
  let reported = 0;
  async function* counted(chunks: Parameters<FolderWriter["write"]>[1]): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of chunks) {
      yield chunk;
      bytes += chunk.length;
      if (bytes - reported < REPORT_EVERY) continue;
      reported = bytes;
      report(bytes);
    }
  }
  return {
    write: (file, chunks) => writer.write(file, counted(chunks)),
    commit: () => writer.commit(),
    abort: () => writer.abort(),
  };
}
