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
import { readAhead } from "../../../../core/read-ahead.ts";
import { digestOfDigests, sha256Bytes } from "../../../../core/seeded.ts";
import { type BlobFolder, blobFolder, type OnPart, PART } from "../../../data/files/blob-folder.ts";
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
 * than `whole` bytes has the digest of its parts' digests.
 */
const byParts =
  (whole: number): FileDigest =>
  async (folder, name, bytes) => {
    if (bytes <= whole) return sha256Bytes(await folder.read(name, 0, bytes));
    const digests: string[] = [];
    for await (const part of readAhead(pieces(folder, name, bytes, PART)))
      digests.push(await sha256Bytes(part));
    return digestOfDigests(digests);
  };

const digest = byParts(PART);

/** As earlier versions of the page digested files of more than `PART`, the latest first. */
const EARLIER_DIGESTS: readonly FileDigest[] = [
  byParts(2 ** 28),
  async (folder, name, bytes) => {
    const hash = sha256.create();
    for await (const piece of pieces(folder, name, bytes)) hash.update(piece);
    return bytesToHex(hash.digest());
  },
];

/** Digests that are taken as files are written: reading them back takes as long again. */
export class WrittenDigests {
  readonly #parts = new Map<string, string[]>();

  /** Takes the next part of a file; a `BlobFolderWriter` gives them. */
  readonly add: OnPart = async (file, part) => {
    const digests = this.#parts.get(file) ?? [];
    this.#parts.set(file, digests);
    digests.push(await sha256Bytes(part));
  };

  /** What `digest` gives for a file; null for one that has to be read. */
  of(file: string): string | null {
    const digests = this.#parts.get(file);
    return digests === undefined ? null : digestOfDigests(digests);
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
  for (const [name, { size }] of files)
    listed[name] = { bytes: size, sha256: written.of(name) ?? (await digest(reader, name, size)) };
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
    let damage = await folderDamage(folder, digest);
    if ([...files.values()].some(({ size }) => size > PART))
      for (const earlier of EARLIER_DIGESTS)
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
