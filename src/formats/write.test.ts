import { randomBytes } from "node:crypto";
import { afterAll, expect, it } from "vitest";
import { gzip } from "./write.ts";

const uncaught: unknown[] = [];
const note = (error: unknown): void => void uncaught.push(error);
process.on("uncaughtException", note);
afterAll(() => void process.off("uncaughtException", note));

it("a gzip stream that is not read to its end releases its source and throws nothing", async () => {
  let ended = 0;
  async function* chunks(size: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    try {
      for (let n = 0; n < 6; n++) {
        // Some chunks come a turn of the event loop later, as from a file.
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
      // The compressor goes on while a chunk is used.
      await new Promise((resolve) => setTimeout(resolve, run % 5));
    }
    await turn();
  }
  await turn();
  expect(ended).toBe(runs);
  expect(uncaught).toEqual([]);
});
