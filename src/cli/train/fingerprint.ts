/** What decides a run's numbers, as short names and SHA-256 digests: a checkpoint of another run is refused by name. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { TrainConfig } from "../../core/loop/index.ts";
import type { FolderReader } from "../../core/ports.ts";
import { digestOfDigests, sha256Hex } from "../../core/seeded.ts";
import { isThere } from "../../node/file-error.ts";
import { TOKENIZER_FILES } from "../../text/index.ts";
import { openBytes } from "../io.ts";

/** Files up to this size are digested whole. */
const WHOLE = 64 * 2 ** 20;
/** Of larger ones: the size, the first piece (the header of a safetensors file) and pieces spread evenly. */
const PIECES = 64;
const PIECE = 2 ** 16;

/** Of what decides the numbers of a student on a server, its weights apart. */
export const tinkerDigest = ({
  lora_rank: rank,
  optimizer,
}: Pick<NonNullable<TrainConfig["tinker"]>, "lora_rank" | "optimizer">): string =>
  sha256Hex(JSON.stringify({ rank, optimizer }));

/** Digest of a file's bytes. */
async function fileDigest(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of openBytes(path)) hash.update(chunk);
  return hash.digest("hex");
}

/** Of several files, in their order: the digest of their digests. */
export async function filesDigest(paths: readonly string[]): Promise<string> {
  const digests: string[] = [];
  for (const path of paths) digests.push(await fileDigest(path));
  return digestOfDigests(digests);
}

/** Digest of the files of a tokenizer that are in a folder. */
export const tokenizerDigest = (folder: string): Promise<string> =>
  filesDigest(TOKENIZER_FILES.map((name) => join(folder, name)).filter(isThere));

/**
 * Digest of a model folder's configuration, weights and index, and of its optimizer state where asked; files of more
 * than 64 MiB by samples.
 */
export async function modelDigest(folder: FolderReader, { optimizer = false } = {}): Promise<string> {
  const hash = createHash("sha256");
  for (const file of (await folder.list()).filter((name) =>
    /^config\.json$|\.safetensors(\.index\.json)?$/.test(name),
  )) {
    if (!optimizer && file.startsWith("optimizer.")) continue;
    const size = await folder.size(file);
    hash.update(`${file}\0${size}\0`);
    const whole = size <= WHOLE;
    const step = whole ? PIECE * 16 : Math.floor((size - PIECE) / (PIECES - 1));
    const length = whole ? step : PIECE;
    for (let start = 0; start < size; start += step) {
      hash.update(await folder.read(file, start, Math.min(size, start + length)));
    }
  }
  return hash.digest("hex");
}
