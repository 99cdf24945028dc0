import { randomBytes } from "node:crypto";
import { afterAll, expect, it } from "vitest";
import { gzip } from "./write.ts";

const uncaught: unknown[] = [];
const note = (error: unknown): void => void uncaught.push(error);
process.on("uncaughtException", note);
afterAll(() => void process.off("uncaughtException", note));

it("gzip that is not read to its end ends what it packs, and throws nowhere", async () => {
  let ended = 0;
  async function* chunks(size: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      for (let n = 0; n < 6; n++) {
        // In turns of the loop of their own, as chunks of a file come.
        if (n % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
        yield new Uint8Array(randomBytes(size));
      }
    } finally {
      ended += 1;
    }
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const runs = 60;
  for (let run = 0; run < runs; run++) {
    let read = 0;
    for await (const _ of gzip(chunks(70_000))) {
      if (++read > 1 + (run % 3)) break;
      // While one is used, the compressor goes on.
      await new Promise((resolve) => setTimeout(resolve, run % 5));
    }
    await turn();
  }
  await turn();
  expect(ended).toBe(runs);
  expect(uncaught).toEqual([]);
});
