/** Whether an index is of the file as it stands: size, time of change, and a digest of samples. */
import { type RangedReader, readExactly } from "../ranged-reader.ts";
import type { FileIdentity } from "./types.ts";

/** Bytes of one sample, and how many there are: a file of up to 4 MiB is digested whole. */
const SAMPLE = 1 << 16;
const SAMPLES = 64;

/**
 * SHA-256, in hexadecimal, of 64 samples of 64 KiB: the first at the start of the file, the last at its end, the others
 * evenly between (sample i starts at floor(i · (size − 65,536) / 63)); of the whole file where it has no more than that.
 */
export async function sampleDigest(reader: RangedReader): Promise<string> {
  const { size } = reader;
  let joined: Uint8Array<ArrayBuffer>;
  if (size <= SAMPLE * SAMPLES) joined = new Uint8Array(await readExactly(reader, 0, size));
  else {
    joined = new Uint8Array(SAMPLE * SAMPLES);
    // Together: over a network each of them takes a round trip.
    await Promise.all(
      Array.from({ length: SAMPLES }, async (_, i) => {
        const start = Math.floor((i * (size - SAMPLE)) / (SAMPLES - 1));
        joined.set(await readExactly(reader, start, start + SAMPLE), i * SAMPLE);
      }),
    );
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", joined));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What to keep with an index so that `isFresh` can tell later. */
export async function fileIdentity(reader: RangedReader): Promise<FileIdentity> {
  return { bytes: reader.size, modified: reader.modified, sample: await sampleDigest(reader) };
}

/**
 * True when the file is the one that was indexed: same size, same samples, and not changed since. A file that was only
 * copied has another time too and is indexed again, which takes no longer than digesting all of it would. An edit that
 * keeps size, time and samples passes here; a record that it moved or renamed is refused when it is read.
 */
export async function isFresh(identity: FileIdentity, reader: RangedReader): Promise<boolean> {
  if (identity.bytes !== reader.size) return false;
  if (identity.modified !== null && reader.modified !== null && identity.modified !== reader.modified)
    return false;
  return identity.sample === (await sampleDigest(reader));
}
