/** Archives of model folders: a .zip that the workbench saved, or one that a user made. */
import { unzipSync } from "fflate";
import { InputError } from "../../../core/errors.ts";

export interface NamedFile {
  path: string;
  file: Blob;
}

/** Entries of an archive: a model folder has a few dozen. */
const MOST_ENTRIES = 10_000;
/** Times its own size that an archive may unpack to: weights hardly compress, and JSON to a tenth. */
const MOST_RATIO = 20;
/** Bytes that an archive may unpack to whatever its size. */
const FREE_BYTES = 256 * 2 ** 20;

/**
 * The files in a .zip, in its order. Takes as long as inflating takes: the page asks a worker (`unpackArchive` of
 * compute/clients.ts).
 *
 * @throws InputError for what is not an archive, and for one that unpacks to more than a model folder has
 */
export async function unpackZip({ path, file }: NamedFile): Promise<NamedFile[]> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const fault = archiveFault(bytes);
  if (fault !== null) throw new InputError(fault, { file: path });
  const root = path.replace(/\.zip$/i, "");
  return Object.entries(inflated(bytes, path))
    .filter(([name]) => !name.endsWith("/"))
    .map(([name, content]) => ({
      path: name.includes("/") ? name : `${root}/${name}`,
      file: new Blob([content as Uint8Array<ArrayBuffer>]),
    }));
}

function inflated(bytes: Uint8Array, path: string): Record<string, Uint8Array> {
  try {
    return unzipSync(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InputError(`not a zip archive that can be read: ${reason}`, { file: path });
  }
}

/**
 * What is wrong with what an archive says of its entries, before any of them is unpacked; null for nothing. An entry
 * never unpacks to more than it says: its memory is taken by that.
 */
function archiveFault(bytes: Uint8Array): string | null {
  let [entries, unpacked] = [0, 0];
  try {
    unzipSync(bytes, {
      filter: ({ size, originalSize }) => {
        if (++entries > MOST_ENTRIES) throw new Error("too many");
        unpacked += Math.max(size, originalSize);
        return false;
      },
    });
  } catch {
    // What cannot be read is said where it is unpacked.
  }
  if (entries > MOST_ENTRIES)
    return `holds more than ${MOST_ENTRIES} entries, the most that a model folder has`;
  if (unpacked > FREE_BYTES && unpacked > MOST_RATIO * bytes.length)
    return `unpacks to ${unpacked} bytes, more than ${MOST_RATIO} times its size, which no model does`;
  return null;
}
