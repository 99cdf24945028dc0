import { readAhead } from "../core/read-ahead.ts";
import type { Backend } from "./backend.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { FloatFormat } from "./number-format.ts";
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

/** Bytes handed to a device before they are waited for: its queue keeps a copy of each piece until then. */
const MOST_PENDING = 256 * 2 ** 20;

/** Rows whose width is a multiple of this begin where the device can widen them (`Backend.writeBf16`). */
const WIDENED = 64;

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

/** Brings tensors of a checkpoint to a device piece by piece: no tensor is in the host's memory whole. */
export class WeightLoader {
  #pending = 0;

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
  async fill(wanted: Iterable<readonly [Tensor, string]>): Promise<void> {
    const { backend, checkpoint } = this;
    for await (const { t, name, row, bytes, format } of readAhead(this.#pieces(wanted))) {
      if (t.dtype === "u32") throw new Error(`${name}: weights are not u32`);
      const width = t.shape.at(-1) ?? 1;
      const widens = t.dtype === "f32" && format === "BF16" && width % WIDENED === 0;
      const writeBf16 = widens ? backend.writeBf16 : undefined;
      const words = packRows(writeBf16 ? "bf16" : t.dtype, width, format, bytes, row, checkpoint.where(name));
      if (writeBf16) writeBf16(t, row, words);
      else backend.writeWords(t, wordOfRow(t.dtype, width, row), words);
      this.#pending += words.byteLength;
      if (this.#pending >= MOST_PENDING) {
        await backend.sync();
        this.#pending = 0;
      }
      this.onPiece?.(bytes.length);
    }
  }

  async *#pieces(wanted: Iterable<readonly [Tensor, string]>) {
    for (const [t, name] of wanted)
      for await (const piece of this.checkpoint.rows(name, t.shape, this.signal)) yield { t, name, ...piece };
  }
}
