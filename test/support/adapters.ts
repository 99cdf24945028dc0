/** Compares LoRA adapters that were trained twice. */
import assert from "node:assert/strict";
import { openFolder } from "../../src/engine/native/node-folder.ts";
import { Checkpoint } from "../../src/tensor/index.ts";
import { relativeError } from "./relative-error.ts";

/** The factors of a PEFT adapter, by their names. */
export type Adapter = ReadonlyMap<string, Float32Array>;

export async function readAdapter(folder: string): Promise<Adapter> {
  const stored = await Checkpoint.openFile(openFolder(folder), "adapter_model.safetensors");
  const factors = new Map<string, Float32Array>();
  for (const [name, { shape }] of stored.tensors) factors.set(name, await stored.read(name, shape));
  return factors;
}

/** Largest relative L2 difference of a factor, and of how far it moved from where it began. */
export function adapterDifferences(
  found: Adapter,
  expected: Adapter,
  start: Adapter,
): { weights: number; moved: number } {
  assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
  let [weights, moved] = [0, 0];
  for (const [name, values] of expected) {
    const from = (all: Float32Array) => all.map((value, n) => value - start.get(name)![n]!);
    weights = Math.max(weights, relativeError(found.get(name)!, values));
    moved = Math.max(moved, relativeError(from(found.get(name)!), from(values)));
  }
  return { weights, moved };
}

/** The largest difference of two lists of the same length. */
export function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  assert.equal(a.length, b.length);
  return Array.from(a, (value, n) => Math.abs(value - b[n]!)).reduce((most, each) => Math.max(most, each), 0);
}
