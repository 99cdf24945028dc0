/** The end of a log, however long it is. */
import { open } from "node:fs/promises";

const PIECE = 1 << 16;
const NEWLINE = 0x0a;

/**
 * The last `lines` lines of a file, and how many bytes the whole of it has. Read from its end, a piece at a time.
 *
 * @throws where the file cannot be read
 */
export async function logTail(file: string, lines: number): Promise<{ text: string; bytes: number }> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const pieces: Buffer[] = [];
    // The newline at the very end ends the last line; it begins none.
    let found = -1;
    let start = size;
    while (start > 0) {
      const length = Math.min(PIECE, start);
      const buffer = Buffer.alloc(length);
      // One read may give less than there is.
      for (let done = 0; done < length; ) {
        const { bytesRead } = await handle.read(buffer, done, length - done, start - length + done);
        if (bytesRead === 0) throw new Error(`${file}: became shorter while it was read`);
        done += bytesRead;
      }
      if (start === size && buffer.at(-1) !== NEWLINE) found = 0;
      start -= length;
      for (let i = length - 1; i >= 0; i -= 1) {
        if (buffer[i] !== NEWLINE) continue;
        found += 1;
        if (found < lines) continue;
        pieces.unshift(buffer.subarray(i + 1));
        return { text: Buffer.concat(pieces).toString("utf8"), bytes: size };
      }
      pieces.unshift(buffer);
    }
    return { text: Buffer.concat(pieces).toString("utf8"), bytes: size };
  } finally {
    await handle.close();
  }
}
