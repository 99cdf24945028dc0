/** The text files of a model folder. */
import { InputError } from "./errors.ts";
import type { FolderReader } from "./ports.ts";
import { shownBytes } from "./shown-bytes.ts";

/** Bytes of the largest text file of a model folder. The largest known, tokenizers of 260,000 tokens, have 35 MB. */
export const LARGEST_TEXT = 64 * 2 ** 20;

/** `InputError` for a file that is larger than any text file of a model. */
export function checkTextSize(bytes: number, file: string): void {
  if (bytes > LARGEST_TEXT)
    throw new InputError(`larger than ${shownBytes(LARGEST_TEXT)}, the most that it may have`, { file });
}

/** A whole text file of a model folder. `InputError` where it is not UTF-8, or above `LARGEST_TEXT`. */
export async function readFolderText(folder: FolderReader, file: string): Promise<string> {
  const place = `${folder.name}/${file}`;
  const size = await folder.size(file);
  checkTextSize(size, place);
  return utf8Text(await folder.read(file, 0, size), place);
}

/** The text of a file's bytes. `InputError` where they are not UTF-8. */
export function utf8Text(bytes: Uint8Array | ArrayBuffer, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InputError("not valid UTF-8", { file });
  }
}
