/** A model's folder as people have it, with random weights. */
import { mkdirSync, writeFileSync } from "node:fs";
import { open, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { modelConfigJson } from "../../src/tensor/config.ts";
import type { ModelConfig } from "../../src/tensor/index.ts";
import { writeSafetensors } from "../../src/tensor/safetensors.ts";
import { elements } from "../../src/tensor/shapes.ts";
import { randomParameters } from "./random-model.ts";

const BF16_ONE = 0x3f80;

/** Writes config.json and the weights of `randomParameters` in bf16. A piece of them is in memory at a time. */
export async function writeModel(folder: string, config: ModelConfig): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), modelConfigJson(config, "bfloat16"));
  const parameters = [...randomParameters(config, "bf16")];
  const tensors = parameters.map(({ name, shape }) => ({ name, dtype: "BF16", shape }));
  const pieces = (index: number): Uint8Array[] => {
    const { shape, words } = parameters[index]!;
    const values = words ?? [new Uint16Array(elements(shape)).fill(BF16_ONE)];
    return values.map((piece) => new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength));
  };
  await writeFile(join(folder, "model.safetensors"), writeSafetensors(tensors, pieces));
}

/** Bytes that are read at once where nothing else is done with them. */
const PIECE = 4 * 2 ** 20;

/** Reads a folder's files and does nothing with them. @returns their bytes */
export async function readAlone(folder: string): Promise<number> {
  const piece = Buffer.alloc(PIECE);
  let bytes = 0;
  for (const name of await readdir(folder)) {
    const file = await open(join(folder, name));
    for (let read = 1; read > 0; bytes += read) ({ bytesRead: read } = await file.read(piece, 0, PIECE));
    await file.close();
  }
  return bytes;
}
