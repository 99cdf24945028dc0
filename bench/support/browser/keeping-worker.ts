/**
 * Keeps checkpoints as the page's compute worker does, and opens them again.
 */
import { KeptCheckpoints } from "../../../src/app/compute/worker/kept-checkpoints.ts";
import { fileWorkers } from "../../../src/app/data/files/file-workers.ts";
import { CHECKPOINT_FORMAT } from "../../../src/core/loop/index.ts";
import { pieces } from "../../../src/core/manifest.ts";

export interface Ask {
  run: string;
  bytes: number;
  checkpoints: number;
  /** Null: as many as the page takes on this machine. */
  digestWorkers: number | null;
}

/** Seconds of each checkpoint, of the check after a reload, and of reading all once more. */
export interface Kept {
  saved: number[];
  found: number;
  read: number;
}

const CHUNK = 2 ** 23;
const NAME = "model.safetensors";

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

const storeOf = (run: string): KeptCheckpoints =>
  new KeptCheckpoints(
    run,
    (reason) => {
      throw new Error(`not kept: ${reason}`);
    },
    () => undefined,
  );

async function kept({ run, bytes, checkpoints, digestWorkers }: Ask): Promise<Kept> {
  const size = digestWorkers ?? fileWorkers.size;
  fileWorkers.size = size;
  const chunk = new Uint8Array(CHUNK);
  for (let at = 0; at < CHUNK; at += 2 ** 16) crypto.getRandomValues(chunk.subarray(at, at + 2 ** 16));
  function* chunks(): Generator<Uint8Array> {
    for (let at = 0; at < bytes; at += CHUNK) yield chunk.subarray(0, bytes - at);
  }
  const store = storeOf(run);
  const saved: number[] = [];
  for (let step = 1; step <= checkpoints; step++) {
    const position = { stage: 0, epoch: 0, batch: step };
    const save = () =>
      store.save({ format: CHECKPOINT_FORMAT, step, position, fingerprint: {} }, async (writer) => {
        await writer.write(NAME, chunks());
        await writer.commit();
      });
    saved.push(await seconds(save));
  }
  const again = storeOf(run);
  const found = await seconds(() => again.latest());
  const { folder } = (await again.latest())!;
  const read = await seconds(async () => {
    for await (const piece of pieces(folder, NAME, bytes)) if (piece.length === 0) throw new Error("empty");
  });
  if (fileWorkers.size !== size) throw new Error("a digest worker failed");
  return { saved, found, read };
}

addEventListener("message", ({ data }: MessageEvent<Ask>) =>
  kept(data).then(
    (value) => postMessage({ value }),
    (error: unknown) => postMessage({ error: String(error) }),
  ),
);
