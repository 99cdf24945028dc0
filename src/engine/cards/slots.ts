/** Memory that the processes of all cards share: files in memory, already without names when they are used. */
import { randomUUID } from "node:crypto";
import { statfsSync } from "node:fs";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../../core/errors.ts";

/**
 * Each card has `perCard` slots of `bytes`, which it alone writes. Half are for parts of a sum, half for sums.
 *
 * A slot is a file of its own: Linux lets only one thread at a time write to a file, whatever part of it, so that all
 * cards' writes would wait for each other in one file.
 */
export interface SlotPlan {
  /** Folder of the files. */
  path: string;
  cards: number;
  bytes: number;
  perCard: number;
}

/** What a sum needs of the shared memory. */
export interface SlotStore {
  readonly plan: Pick<SlotPlan, "bytes" | "perCard">;
  write(card: number, slot: number, bytes: Uint8Array): Promise<void>;
  read(card: number, slot: number, bytes: Uint8Array): Promise<void>;
}

const MEMORY_FOLDER = "/dev/shm";

/** Makes the files where memory is: in `/dev/shm`, or in the folder for temporary files where there is no room in it. */
export async function createSlotFiles(
  cards: number,
  { bytes = 8 * 2 ** 20, perCard = 32 }: Partial<Pick<SlotPlan, "bytes" | "perCard">> = {},
): Promise<SlotPlan> {
  const size = cards * perCard * bytes;
  const folder = [MEMORY_FOLDER, tmpdir()].find((path) => room(path) >= size);
  if (folder === undefined)
    throw new InputError(
      `${cards} cards exchange gradients through ${Math.ceil(size / 2 ** 20)} MiB, for which neither ${MEMORY_FOLDER} nor ${tmpdir()} has room`,
    );
  const path = join(folder, `gcopd-${process.pid}-${randomUUID().slice(0, 8)}`);
  const plan = { path, cards, bytes, perCard };
  try {
    await mkdir(path, { mode: 0o700 });
    for (let card = 0; card < cards; card++)
      for (let slot = 0; slot < perCard; slot++) {
        const file = await open(slotFile(plan, card, slot), "wx", 0o600);
        try {
          await file.truncate(bytes);
        } finally {
          await file.close();
        }
      }
  } catch (error) {
    await Slots.unlink(plan);
    throw error;
  }
  return plan;
}

function slotFile({ path }: SlotPlan, card: number, slot: number): string {
  return join(path, `${card}-${slot}`);
}

function room(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** One process's hold on the files. */
export class Slots implements SlotStore {
  private constructor(
    readonly plan: SlotPlan,
    private readonly files: readonly FileHandle[],
  ) {}

  static async open(plan: SlotPlan): Promise<Slots> {
    const files: FileHandle[] = [];
    try {
      for (let card = 0; card < plan.cards; card++)
        for (let slot = 0; slot < plan.perCard; slot++)
          files.push(await open(slotFile(plan, card, slot), "r+"));
    } catch (error) {
      await Promise.all(files.map((file) => file.close()));
      throw error;
    }
    return new Slots(plan, files);
  }

  /** Takes the names away: the memory is given back with the last process that has the files open. */
  static async unlink({ path }: SlotPlan): Promise<void> {
    await rm(path, { recursive: true, force: true });
  }

  async write(card: number, slot: number, bytes: Uint8Array): Promise<void> {
    const file = this.#file(card, slot, bytes.length);
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, done);
      done += bytesWritten;
    }
  }

  async read(card: number, slot: number, bytes: Uint8Array): Promise<void> {
    const file = this.#file(card, slot, bytes.length);
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, done, bytes.length - done, done);
      if (bytesRead === 0) throw new Error(`slot ${slot} of card ${card} ends at byte ${done}`);
      done += bytesRead;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.files.map((file) => file.close()));
  }

  #file(card: number, slot: number, bytes: number): FileHandle {
    const { cards, perCard, bytes: size } = this.plan;
    if (card < 0 || card >= cards || slot < 0 || slot >= perCard || bytes > size)
      throw new Error(`${bytes} bytes for slot ${slot} of card ${card}`);
    return this.files[card * perCard + slot]!;
  }
}
