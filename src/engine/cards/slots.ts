/** Memory that the processes of all cards share: a file in memory, already without a name when they use it. */
import { randomUUID } from "node:crypto";
import { statfsSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../../core/errors.ts";

/**
 * The file is cut into slots of `bytes`, `perCard` for each card, which alone writes them. Half are for parts of a sum,
 * half for sums.
 */
export interface SlotPlan {
  path: string;
  bytes: number;
  perCard: number;
}

const MEMORY_FOLDER = "/dev/shm";

/** Makes the file where memory is: `/dev/shm`, or the folder for temporary files where there is no room in it. */
export async function createSlotFile(
  cards: number,
  { bytes = 32 * 2 ** 20, perCard = 8 }: Partial<SlotPlan> = {},
): Promise<SlotPlan> {
  const size = cards * perCard * bytes;
  const folder = [MEMORY_FOLDER, tmpdir()].find((path) => room(path) >= size);
  if (folder === undefined)
    throw new InputError(
      `${cards} cards exchange gradients through ${Math.ceil(size / 2 ** 20)} MiB, for which neither ${MEMORY_FOLDER} nor ${tmpdir()} has room`,
    );
  const path = join(folder, `gcopd-${process.pid}-${randomUUID().slice(0, 8)}`);
  const file = await open(path, "wx", 0o600);
  await file.truncate(size);
  await file.close();
  return { path, bytes, perCard };
}

function room(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** One process's hold on the file. */
export class Slots {
  private constructor(
    readonly plan: SlotPlan,
    private readonly file: FileHandle,
  ) {}

  static async open(plan: SlotPlan): Promise<Slots> {
    return new Slots(plan, await open(plan.path, "r+"));
  }

  /** Takes the file's name away: its memory is given back with the last process that has it open. */
  static async unlink({ path }: SlotPlan): Promise<void> {
    await rm(path, { force: true });
  }

  async write(card: number, slot: number, bytes: Uint8Array): Promise<void> {
    const at = this.#place(card, slot, bytes.length);
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.file.write(bytes, done, bytes.length - done, at + done);
      done += bytesWritten;
    }
  }

  async read(card: number, slot: number, bytes: Uint8Array): Promise<void> {
    const at = this.#place(card, slot, bytes.length);
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await this.file.read(bytes, done, bytes.length - done, at + done);
      if (bytesRead === 0) throw new Error(`slot ${slot} of card ${card} ends at byte ${done}`);
      done += bytesRead;
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  #place(card: number, slot: number, bytes: number): number {
    const { perCard, bytes: size } = this.plan;
    if (slot < 0 || slot >= perCard || bytes > size) throw new Error(`${bytes} bytes for slot ${slot}`);
    return (card * perCard + slot) * size;
  }
}
