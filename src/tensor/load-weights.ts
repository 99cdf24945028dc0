import { inTurn } from "../core/read-ahead.ts";
import type { Backend } from "./backend.ts";
import { type Checkpoint, PIECE, type StoredRows } from "./checkpoint.ts";
import { type FloatFormat, FORMAT_BYTES } from "./number-format.ts";
import type { Tensor, WeightFormat } from "./tensor.ts";
import { packRows, wordOfRow } from "./weight-format.ts";
import { EMBEDDING, HEAD } from "./weights.ts";

/** How a frozen model's weights are kept on the device; `auto`: as they are stored. */
export type WeightChoice = WeightFormat | "auto";

export const WEIGHT_CHOICES = [
  "auto",
  "f32",
  "f16",
  "bf16",
  "int8",
  "int4",
] as const satisfies readonly WeightChoice[];

/** Bytes that the host packs before they are waited for: a device's queue keeps a copy of each piece until then. */
const MOST_PENDING = 256 * 2 ** 20;
/** Bytes that go through the device before it is asked whether it had the room and left any of them to the host. */
const MOST_UPLOADED = 2 ** 30;

/** Pieces of a file that are asked for while one is used. */
const READ_AHEAD = 3;
/** Bytes for which fresh memory takes longer than it takes to look for some that was used. */
const WORTH_REUSING = 2 ** 20;

const STORED: Readonly<Record<FloatFormat, WeightFormat>> = { F32: "f32", F16: "f16", BF16: "bf16" };

/**
 * The format of one parameter. Matrices take the chosen one; norms and other small parameters stay f32, and the
 * embedding and the head of an int4 model are int8, since every logit depends on them (docs/models.md).
 */
export function weightFormat(
  choice: WeightChoice,
  name: string,
  shape: readonly number[],
  stored: FloatFormat,
): WeightFormat {
  if (shape.length !== 2) return "f32";
  const format = choice === "auto" ? STORED[stored] : choice;
  return format === "int4" && (name === EMBEDDING || name === HEAD) ? "int8" : format;
}

/** A tensor on the device, and the name of what fills it. */
type Wanted = readonly [Tensor, string];

/** Rows of a tensor. */
interface Rows {
  one: Wanted;
  rows: StoredRows;
}

/** Those that were read, perhaps into `memory`. */
interface Piece extends Rows {
  bytes: Uint8Array;
  memory: Uint8Array<ArrayBuffer> | undefined;
}

/** Brings tensors of a checkpoint to a device piece by piece: no tensor is in the host's memory whole. */
export class WeightLoader {
  /** Share of what may be under way before the device is waited for. */
  #pending = 0;
  /** What the device took since it was last asked whether it left any of it to the host. */
  #uploaded: Rows[] = [];
  /** What pieces were read into, for the next ones. */
  readonly #spare: Uint8Array<ArrayBuffer>[] = [];

  constructor(
    private readonly backend: Backend,
    private readonly checkpoint: Checkpoint,
    private readonly signal?: AbortSignal,
    /** Called after each piece with its bytes in the file. */
    private readonly onPiece?: (bytes: number) => void,
  ) {}

  /**
   * Fills each tensor with the one of that name, as the file is read ahead. An InputError names a value that is not
   * finite or does not fit the format.
   */
  async fill(wanted: Iterable<Wanted>): Promise<void> {
    const { weightUpload } = this.backend;
    try {
      for await (const piece of inTurn(this.#readsOf(this.#rowsOf(wanted)), READ_AHEAD)) {
        const { one, rows, bytes } = piece;
        const [t] = one;
        if (weightUpload?.takes(t, rows.row, rows.length / FORMAT_BYTES[rows.format])) {
          this.#uploaded.push({ one, rows });
          await weightUpload.write(t, rows.row, rows.format, bytes);
          this.#pending += rows.length / MOST_UPLOADED;
        } else this.#pack(piece);
        this.#giveBack(piece);
        if (this.#pending >= 1) await this.#settle();
        this.onPiece?.(rows.length);
      }
      await this.#settle();
    } finally {
      weightUpload?.release();
    }
  }

  /** Waits for the device, and does what it left to the host. */
  async #settle(): Promise<void> {
    const { backend } = this;
    const uploaded = this.#uploaded;
    this.#uploaded = [];
    this.#pending = 0;
    if (uploaded.length > 0 && (await backend.weightUpload!.declined()))
      for await (const piece of inTurn(this.#readsOf(uploaded), READ_AHEAD)) {
        this.#pack(piece);
        this.#giveBack(piece);
        if (this.#pending < 1) continue;
        await backend.sync();
        this.#pending = 0;
      }
    await backend.sync();
    this.#pending = 0;
  }

  /** Brings rows to their tensor's format on the host. */
  #pack({ one: [t, name], rows: { row, format }, bytes }: Piece): void {
    if (t.dtype === "u32") throw new Error(`${name}: weights are not u32`);
    const width = t.shape.at(-1) ?? 1;
    const words = packRows(t.dtype, width, format, bytes, row, this.checkpoint.where(name));
    this.backend.writeWords(t, wordOfRow(t.dtype, width, row), words);
    this.#pending += bytes.length / MOST_PENDING;
  }

  *#rowsOf(wanted: Iterable<Wanted>): Generator<Rows, void> {
    for (const one of wanted) {
      const [{ shape }, name] = one;
      for (const rows of this.checkpoint.rows(name, shape, this.signal)) yield { one, rows };
    }
  }

  *#readsOf(all: Iterable<Rows>): Generator<() => Promise<Piece>, void> {
    for (const { one, rows } of all) {
      const memory = rows.length < WORTH_REUSING ? undefined : this.#memory(rows.length);
      yield async () => ({ one, rows, bytes: await rows.read(memory), memory });
    }
  }

  #memory(bytes: number): Uint8Array<ArrayBuffer> {
    const place = this.#spare.findIndex(({ length }) => length >= bytes);
    return place < 0 ? new Uint8Array(Math.max(PIECE, bytes)) : this.#spare.splice(place, 1)[0]!;
  }

  #giveBack({ memory }: Piece): void {
    if (memory !== undefined) this.#spare.push(memory);
  }
}
