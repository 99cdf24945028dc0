/**
 * Checkpoints as folders on disk: `step-00000012/` with model, optimizer, `checkpoint.json` and a manifest of them all,
 * whole or not there.
 */
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../core/errors.ts";
import { bestEvaluated, type Ranked } from "../../core/evaluation/index.ts";
import {
  allDamaged,
  type Checkpoint,
  type CheckpointState,
  type CheckpointStore,
  type DamagedCheckpoint,
  parseState,
  STATE_FILE,
  stateText,
} from "../../core/loop/index.ts";
import { folderDamage } from "../../core/manifest.ts";
import type { FolderWriter } from "../../core/ports.ts";
import { createFolder, openFolder } from "../../engine/native/node-folder.ts";
import { servedCheckpoint } from "../../engine/tinker/index.ts";
import { onFile, passingFault } from "../../node/file-error.ts";
import { fileDigest, withManifest } from "../../node/manifest.ts";
import { temporaryName } from "../../node/whole-file.ts";
import { withFiles, writeFolder } from "../engine/save-model.ts";
import { readText } from "../io.ts";

const NAME = /^step-(\d{8})$/;
/** Of one that is written or removed (`temporaryName`). */
const HIDDEN = /^\.(step-[^.]*)/;

/** Names of the whole checkpoints in a folder, oldest first; none where there is no such folder. */
async function checkpointNames(folder: string): Promise<string[]> {
  return (await entriesOf(folder)).filter((name) => NAME.test(name)).sort();
}

/** The newest whole checkpoint of a run that may still be under way; null where there is none. */
export async function newestCheckpoint(folder: string): Promise<string | null> {
  const newest = (await checkpointNames(folder)).at(-1);
  return newest === undefined ? null : join(folder, newest);
}

/** The state of one checkpoint; null for a folder that is not one. `InputError` for one that is damaged or cannot be read. */
export async function checkpointState(folder: string): Promise<CheckpointState | null> {
  if (!(await entriesOf(folder)).includes(STATE_FILE)) return null;
  const damage = await folderDamage(openFolder(folder), fileDigest);
  if (damage !== null) throw new InputError(`this checkpoint cannot be used: ${damage}`, { file: folder });
  return readState(join(folder, STATE_FILE));
}

/**
 * The fingerprint of the newest checkpoint in a folder whose state can be read, whether its other files are whole or not;
 * null where there is none. The run reports what cannot be read when it opens it.
 */
export async function keptFingerprint(folder: string): Promise<CheckpointState["fingerprint"] | null> {
  for (const name of ((await readable(checkpointNames(folder))) ?? []).reverse()) {
    const state = await readable(readState(join(folder, name, STATE_FILE)));
    if (state !== null) return state.fingerprint;
  }
  return null;
}

/** Null for what is damaged. @throws a fault that passes, which does not tell */
async function readable<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof InputError && passingFault(error.cause) === null) return null;
    throw error;
  }
}

const stepOf = (name: string): number => Number(NAME.exec(name)?.[1]);

const nameOf = (step: number): string => `step-${String(step).padStart(8, "0")}`;

async function entriesOf(folder: string): Promise<string[]> {
  const entries = readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return onFile(folder, "read", entries);
}

/** A checkpoint by its folder. */
export interface KeptCheckpoint {
  path: string;
  step: number;
  /** What its student achieved; absent where it was not measured. */
  evaluation?: CheckpointState["evaluation"];
}

/** The checkpoints that a run keeps, oldest first. One whose state is damaged is left out. @throws a fault that hides one */
export async function keptCheckpoints(folder: string): Promise<KeptCheckpoint[]> {
  const kept: KeptCheckpoint[] = [];
  for (const name of await checkpointNames(folder)) {
    const found = await keptCheckpoint(folder, name);
    if (found !== null) kept.push(found);
  }
  return kept;
}

async function keptCheckpoint(folder: string, name: string): Promise<KeptCheckpoint | null> {
  const state = await readable(readState(join(folder, name, STATE_FILE)));
  return state && { path: join(folder, name), step: stepOf(name), evaluation: state.evaluation };
}

/** The one whose student was measured to be the best; null where none was measured. */
export function bestCheckpoint(kept: readonly KeptCheckpoint[]): KeptCheckpoint | null {
  const evaluated = kept.flatMap(({ evaluation, ...of }) =>
    evaluation === undefined ? [] : [{ ...evaluation, ...of }],
  );
  return bestEvaluated<Ranked & KeptCheckpoint>(evaluated);
}

const FAULT = Symbol("a fault of the disk");
const UNREAD = "this checkpoint stays until it can be read";
const UNREMOVED = "what is old stays; each new checkpoint tries again to remove it";

export class DiskCheckpoints implements CheckpointStore {
  /** Those that `latest` passed over. */
  #damaged: readonly DamagedCheckpoint[] = [];
  /** The faults that were told. */
  readonly #told = new Set<string>();

  /**
   * @param keep how many of the newest stay on disk; the best evaluated one stays, too
   * @param forget called with the path of a server's checkpoint that none on disk names any more
   * @param keepEvery those after every so many steps stay, too
   * @param onNote told once of each that stays since it cannot be read, or removed
   */
  constructor(
    private readonly folder: string,
    private readonly keep: number,
    private readonly forget: (served: string) => Promise<void> = async () => undefined,
    private readonly keepEvery = Number.POSITIVE_INFINITY,
    private readonly onNote: (note: string) => void = () => undefined,
  ) {}

  async latest(): Promise<Checkpoint | null> {
    await this.#removeUnfinished();
    const damaged: DamagedCheckpoint[] = [];
    for (const name of (await checkpointNames(this.folder)).reverse()) {
      const found = await this.#open(name);
      if (typeof found === "string") {
        damaged.push({ name, reason: found });
        continue;
      }
      this.#damaged = damaged;
      return { ...found, damaged };
    }
    if (damaged.length === 0) return null;
    throw allDamaged(
      damaged,
      "remove this folder to begin the run again, or use another output folder",
      this.folder,
    );
  }

  async save(state: CheckpointState, write: (writer: FolderWriter) => Promise<void>): Promise<void> {
    const name = nameOf(state.step);
    const bytes = new TextEncoder().encode(stateText(state));
    // `#removeUnfinished` tries again below, and tells.
    const onLeft = () => undefined;
    const folder = withManifest(createFolder(join(this.folder, name), { replace: true, onLeft }));
    const writer = withFiles(folder, async function* () {
      yield { name: STATE_FILE, bytes };
    });
    await writeFolder(writer, write);
    await this.#tried(this.folder, UNREMOVED, () => this.#removeOld(name));
  }

  /** Removes what a new checkpoint makes superfluous, and what could not be removed before. */
  async #removeOld(newest: string): Promise<void> {
    // A damaged one, which must not count among those that are kept, goes once there is one in its stead.
    const damaged: DamagedCheckpoint[] = [];
    for (const each of this.#damaged)
      if (each.name !== newest && !(await this.#remove(each.name))) damaged.push(each);
    this.#damaged = damaged;
    const isDamaged = (name: string) => damaged.some((each) => each.name === name);
    const names = (await checkpointNames(this.folder)).filter((name) => !isDamaged(name));
    if (names.length > this.keep) await this.#keepNewest(names);
    await this.#removeUnfinished();
  }

  /** @param names of whole checkpoints, oldest first */
  async #keepNewest(names: readonly string[]): Promise<void> {
    const kept: KeptCheckpoint[] = [];
    const hidden = new Set<string>();
    for (const each of names) {
      const found = await this.#tried(each, UNREAD, () => keptCheckpoint(this.folder, each));
      if (found === FAULT) hidden.add(each);
      else if (found !== null) kept.push(found);
    }
    const best = bestCheckpoint(kept);
    // What a fault hides may be the best.
    for (const old of names.slice(0, names.length - this.keep))
      if (!hidden.has(old) && stepOf(old) !== best?.step && stepOf(old) % this.keepEvery !== 0)
        await this.#remove(old);
  }

  /**
   * Works on an old checkpoint. A fault of the disk must not end the training, whose new one is written: it is told once
   * for each checkpoint.
   */
  async #tried<T>(name: string, then: string, work: () => Promise<T>): Promise<T | typeof FAULT> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const key = `${name} ${then}`;
      if (!this.#told.has(key)) this.onNote(`${error.message}: ${then}`);
      this.#told.add(key);
      return FAULT;
    }
  }

  /** @returns the reason as text where the checkpoint is damaged */
  async #open(name: string): Promise<Checkpoint | string> {
    const path = join(this.folder, name);
    const folder = openFolder(path);
    const damage = await folderDamage(folder, fileDigest);
    if (damage !== null) return damage;
    const state = await readState(join(path, STATE_FILE));
    return nameOf(state.step) === name ? { state, folder } : `it holds step ${state.step}`;
  }

  /**
   * Takes the name away: a kill in the midst of the removal leaves no half of a checkpoint.
   *
   * @returns false where a fault keeps it
   */
  async #remove(name: string): Promise<boolean> {
    const path = join(this.folder, name);
    const served = await this.#tried(name, UNREAD, () => readable(servedCheckpoint(openFolder(path))));
    if (served === FAULT) return false;
    const renamed = () => onFile(path, "write", rename(path, temporaryName(path)));
    if ((await this.#tried(name, UNREMOVED, renamed)) === FAULT) return false;
    // After its record: no checkpoint on disk may name one that is gone.
    if (served !== null) await this.forget(served.path);
    return true;
  }

  /** What has no name any more, or has none yet since a run was killed. Only one run at a time works in a folder (see `lockFolder`). */
  async #removeUnfinished(): Promise<void> {
    for (const name of await entriesOf(this.folder)) {
      const [, checkpoint] = HIDDEN.exec(name) ?? [];
      if (checkpoint === undefined) continue;
      const path = join(this.folder, name);
      const removed = () => onFile(path, "write", rm(path, { recursive: true, force: true }));
      await this.#tried(checkpoint, UNREMOVED, removed);
    }
  }
}

const readState = async (file: string): Promise<CheckpointState> => parseState(await readText(file), file);
