/** Reads a golden safetensors file for tests: small, whole, and independent of the reader under test. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const MODELS = resolve(import.meta.dirname, "../fixtures/models");

/** Path of a file or folder under test/fixtures/models. */
export const modelFixture = (name: string): string => resolve(MODELS, name);

/**
 * Every tensor of goldens/<file> as plain numbers (I32, F32 and F64), row-major.
 *
 * @param models the fixtures' folder, for programs that are bundled elsewhere
 */
export function readGolden(file: string, models = MODELS): Map<string, number[]> {
  const bytes = readFileSync(resolve(models, "goldens", file));
  const headerLength = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString("utf8", 8, 8 + headerLength)) as Record<
    string,
    { dtype: string; data_offsets: [number, number] }
  >;
  const tensors = new Map<string, number[]>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const data = bytes.subarray(
      8 + headerLength + entry.data_offsets[0],
      8 + headerLength + entry.data_offsets[1],
    );
    const copy = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
    if (entry.dtype === "I32") tensors.set(name, [...new Int32Array(copy)]);
    else if (entry.dtype === "F32") tensors.set(name, [...new Float32Array(copy)]);
    else if (entry.dtype === "F64") tensors.set(name, [...new Float64Array(copy)]);
    else throw new Error(`${file}: ${name} is ${entry.dtype}`);
  }
  return tensors;
}
