/** Random access to a `File` or `Blob` of the page: its bytes stay where the browser has them. */
import { InputError } from "../../../../core/errors.ts";
import type { RangedReader } from "../../../../formats/ranged-reader.ts";

/** A ranged reader over `slice`. A file that was changed or moved after it was picked is an `InputError`. */
export function blobReader(blob: Blob, name: string): RangedReader {
  return {
    name,
    size: blob.size,
    modified: typeof File !== "undefined" && blob instanceof File ? blob.lastModified : null,
    async read(start, end) {
      try {
        return new Uint8Array(await blob.slice(start, end).arrayBuffer());
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new InputError(`cannot be read any more (${reason}): open it again`, { file: name });
      }
    },
  };
}
