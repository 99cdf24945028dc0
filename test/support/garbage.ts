/** Garbage collection on demand, to see whether anything still holds what should be gone. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collections after which what is still there counts as held: objects with finalizers may take more than one. */
const COLLECTIONS = 10;

setFlagsFromString("--expose-gc");
const exposed: unknown = runInNewContext("gc");

/** Collects all garbage of this process's JavaScript. */
export function collectGarbage(): void {
  if (typeof exposed !== "function") throw new Error("this V8 does not collect garbage on demand");
  exposed();
}

/** How many of these objects something still holds. */
export async function heldObjects(references: readonly WeakRef<object>[]): Promise<number> {
  let held = references.length;
  for (let n = 0; n < COLLECTIONS && held > 0; n++) {
    // What a WeakRef was asked for stays until the end of that turn.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    held = references.filter((reference) => reference.deref() !== undefined).length;
  }
  return held;
}
