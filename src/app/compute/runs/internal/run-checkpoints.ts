/**
 * The checkpoints that the browser keeps of a run, each with its manifest: none is used that is not as it was written.
 * Those of an earlier version have no manifest, and are taken as they are.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { InputError } from "../../../../core/errors.ts";
import { bestEvaluated } from "../../../../core/evaluation/index.ts";
import {
  allDamaged,
  type CheckpointState,
  type DamagedCheckpoint,
  parseState,
  STATE_FILE,
  stateText,
} from "../../../../core/loop/index.ts";
import {
  type FileDigest,
  folderDamage,
  MANIFEST,
  type ManifestFiles,
  manifestText,
  pieces,
} from "../../../../core/manifest.ts";
import { inTurn } from "../../../../core/read-ahead.ts";
import { digestOfDigests, sha256Bytes } from "../../../../core/seeded.ts";
import { type BlobFolder, blobFolder, type OnPart, PART } from "../../../data/files/blob-folder.ts";
import { fileWorkers, WORTH_A_WORKER } from "../../../data/files/file-workers.ts";
import { originFiles } from "../../../data/files/origin-files.ts";
import {
  dropCheckpoint,
  type KeptCheckpoint,
  keepCheckpoint,
  keptCheckpointsOf,
  openFiles,
} from "./page-archive.ts";

export interface RunCheckpoint {
  /** Its key in the archive. */
  id: string;
  state: CheckpointState;
  folder: BlobFolder;
}

/**
 * The browser's own SHA-256 wants all bytes at once, and is many times faster than one that does not: a file of more
 * than `whole` bytes has the digest of its parts' digests. Workers read and digest parts side by side, where there are any.
 */
const byParts =
  (files: ReadonlyMap<string, Blob>, whole = PART): FileDigest =>
  async (folder, name, bytes) => {
    const length = bytes <= whole ? bytes : PART;
    const digests: string[] = [];
    const parts = Array.from({ length: Math.ceil(bytes / length) }, (_, n) => {
      const [start, end] = [n * length, Math.min(bytes, (n + 1) * length)] as const;
      return { start, end, read: () => folder.read(name, start, end) };
    });
    if (fileWorkers.size === 0 || bytes < WORTH_A_WORKER || length > PART) {
      const reads = parts.map(({ read }) => read);
      for await (const part of inTurn(reads, 1)) digests.push(await sha256Bytes(part));
      return digestOfDigests(digests);
    }
    const file = files.get(name)!;
    const found = parts.map(({ start, end }) => fileWorkers.digestOf(file, start, end));
    try {
      for (const [n, { read }] of parts.entries())
        digests.push((await found[n]!) ?? (await sha256Bytes(await read())));
    } finally {
      // Nobody reads the file any more when this ends.
      await Promise.all(found);
    }
    return digestOfDigests(digests);
  };

/** As earlier versions of the page digested files of more than `PART`, the latest first. */
const earlierDigests = (files: ReadonlyMap<string, Blob>): readonly FileDigest[] => [
  byParts(files, 2 ** 28),
  async (folder, name, bytes) => {
    const hash = sha256.create();
    for await (const piece of pieces(folder, name, bytes)) hash.update(piece);
    return bytesToHex(hash.digest());
  },
];

/** Digests that are taken as files are written: reading them back takes as long again. */
export class WrittenDigests {
  /** By file. A null stands for a part that was lost with its worker. */
  readonly #parts = new Map<string, Promise<string | null>[]>();
  readonly #open = new Set<Promise<string | null>>();
  #buffers: Uint8Array<ArrayBuffer>[] = [];

  /** Takes the next part of a file; a `BlobFolderWriter` gives them. */
  readonly add: OnPart = async (file, part) => {
    while (this.#open.size >= Math.max(1, fileWorkers.size)) await Promise.race(this.#open);
    const sent = fileWorkers.size > 0 && part.length >= WORTH_A_WORKER;
    const digest = sent ? this.#sent(part) : sha256Bytes(part);
    this.#open.add(digest);
    const closed = (): boolean => this.#open.delete(digest);
    digest.then(closed, closed);
    this.#parts.set(file, [...(this.#parts.get(file) ?? []), digest]);
    return sent ? this.#buffers.pop() : part;
  };

  /** What `byParts` gives for a file; null for one that has to be read. */
  async of(file: string): Promise<string | null> {
    const parts = this.#parts.get(file);
    if (parts === undefined) return null;
    const digests = await Promise.all(parts);
    return digests.every((digest) => digest !== null) ? digestOfDigests(digests) : null;
  }

  async #sent(part: Uint8Array<ArrayBuffer>): Promise<string | null> {
    const answer = await fileWorkers.digestBytes(part);
    if (answer?.bytes?.length === PART) this.#buffers.push(answer.bytes);
    return answer?.sha256 ?? null;
  }
}

const nameOf = (step: number): string => `step ${step}`;

/**
 * Keeps a checkpoint, the one before it, to go on from where the newest is damaged, and the best evaluated one. Where
 * there is no room for all of them the older ones go. `written`: digests that are known.
 *
 * @returns whether the best evaluated one had to go
 */
export async function keepRunCheckpoint(
  run: string,
  state: CheckpointState,
  folder: BlobFolder,
  written = new WrittenDigests(),
): Promise<boolean> {
  const files = new Map(folder.files);
  files.set(STATE_FILE, new Blob([stateText(state)]));
  const listed: ManifestFiles = {};
  const reader = blobFolder({ ...folder, files });
  const digest = byParts(files);
  for (const [name, { size }] of files)
    listed[name] = { bytes: size, sha256: (await written.of(name)) ?? (await digest(reader, name, size)) };
  files.set(MANIFEST, new Blob([manifestText(listed)]));
  const checkpoint = { id: `${run}/${String(state.step).padStart(8, "0")}`, files };
  let lost = false;
  try {
    await keepCheckpoint(checkpoint);
  } catch (error) {
    const room = await makeRoom(run);
    if (room === null) throw error;
    lost = room.bestLost;
    await keepCheckpoint(checkpoint);
  }
  await dropOlder(run);
  return lost;
}

/**
 * Removes the checkpoints of a run but for the last one, which stays until a new one is there.
 *
 * @returns whether the best evaluated one was among them; null where there was none to remove
 */
export async function makeRoom(run: string): Promise<{ bestLost: boolean } | null> {
  const all = await keptCheckpointsOf(run);
  const [, ...older] = all;
  if (older.length === 0) return null;
  const best = await bestOf(all);
  for (const { id } of older) await dropCheckpoint(id);
  return { bestLost: older.some(({ id }) => id === best) };
}

/** The id of the best evaluated one of a run's checkpoints, which are given with the newest first. */
async function bestOf(all: readonly KeptCheckpoint[]): Promise<string | undefined> {
  const evaluated = [];
  for (const kept of [...all].reverse()) {
    const evaluation = (await stateOf(kept).catch(() => null))?.evaluation;
    if (evaluation !== undefined) evaluated.push({ ...evaluation, id: kept.id });
  }
  return bestEvaluated(evaluated)?.id;
}

async function dropOlder(run: string): Promise<void> {
  const all = await keptCheckpointsOf(run);
  const [, , ...older] = all;
  if (older.length === 0) return;
  const best = await bestOf(all);
  for (const { id } of older) if (id !== best) await dropCheckpoint(id);
}

/** An earlier version kept one checkpoint of a run, under the run's id. */
const isOld = ({ id }: KeptCheckpoint): boolean => !id.includes("/");

/** @throws InputError where there is none, or it cannot be read */
async function stateOf(kept: KeptCheckpoint): Promise<CheckpointState> {
  const { id, files } = kept;
  if (isOld(kept)) return parseState(JSON.stringify(kept.state ?? null), id);
  const file = files.get(STATE_FILE);
  if (!(file instanceof Blob)) throw new InputError("is missing", { file: STATE_FILE });
  return parseState(await file.text(), id);
}

/** The kept checkpoint itself, or why it cannot be used. */
async function opened(kept: KeptCheckpoint): Promise<RunCheckpoint | string> {
  const files = await openFiles(kept.files);
  const checkpoint = await checked(kept, files);
  if (typeof checkpoint === "string") await originFiles.letGo(files.values());
  return checkpoint;
}

async function checked(kept: KeptCheckpoint, files: Map<string, Blob>): Promise<RunCheckpoint | string> {
  if (!isOld(kept)) {
    const folder = blobFolder({ name: kept.id, files });
    let damage = await folderDamage(folder, byParts(files));
    if ([...files.values()].some(({ size }) => size > PART))
      for (const earlier of earlierDigests(files))
        if (damage !== null) damage = await folderDamage(folder, earlier);
    if (damage !== null) return damage;
  }
  let state: CheckpointState;
  try {
    state = await stateOf(kept);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.message;
  }
  for (const name of [STATE_FILE, MANIFEST]) files.delete(name);
  return { id: kept.id, state, folder: { name: nameOf(state.step), files } };
}

/** Those that are as they were written, the newest first, and those that are not. */
export async function runCheckpoints(
  run: string,
): Promise<{ whole: RunCheckpoint[]; damaged: DamagedCheckpoint[] }> {
  const whole: RunCheckpoint[] = [];
  const damaged: DamagedCheckpoint[] = [];
  for (const kept of await keptCheckpointsOf(run)) {
    const found = await opened(kept);
    if (typeof found !== "string") whole.push(found);
    else damaged.push({ name: keptName(kept), reason: found });
  }
  return { whole, damaged };
}

function keptName({ id }: KeptCheckpoint): string {
  const digits = /\/(\d+)$/.exec(id)?.[1];
  return digits === undefined ? "a checkpoint of an earlier version" : nameOf(Number(digits));
}

/** The step of the newest one, which is not checked; null where there is none. */
export async function newestStep(run: string): Promise<number | null> {
  const [newest] = await keptCheckpointsOf(run);
  return newest === undefined ? null : (await stateOf(newest)).step;
}

/**
 * The newest one that is as it was written, and those that were passed over for it.
 *
 * @throws InputError when there are some and all are damaged
 */
export async function newestCheckpoint(
  run: string,
): Promise<(RunCheckpoint & { damaged: DamagedCheckpoint[] }) | null> {
  const damaged: DamagedCheckpoint[] = [];
  for (const kept of await keptCheckpointsOf(run)) {
    const found = await opened(kept);
    if (typeof found !== "string") return { ...found, damaged };
    damaged.push({ name: keptName(kept), reason: found });
  }
  if (damaged.length === 0) return null;
  throw allDamaged(damaged, "remove this run and begin it again", run);
}
