import { describe, expect, it } from "vitest";
import { fixtureSources } from "../../test/support/scienceworld.ts";
import { InputError } from "../core/errors.ts";
import { buildIndex } from "./indexed/index.ts";
import { LineSplitter } from "./lines.ts";
import { type RangedReader, rangedBytes, rangedChunks } from "./ranged-reader.ts";
import { recordLine } from "./write.ts";

/** A reader that uses the room it is given, as that of a file on disk does. */
function inRoom(bytes: Uint8Array): RangedReader {
  return {
    ...rangedBytes(bytes, "f"),
    read: async (start, end, room = new Uint8Array(end - start)) => {
      room.set(bytes.subarray(start, end));
      return room.subarray(0, end - start);
    },
  };
}

describe("rangedChunks", () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);

  it("gives every byte once and in order, whatever the chunk", async () => {
    for (const chunk of [1, 7, 250, 999, 1000, 1001]) {
      for (const reader of [inRoom(bytes), rangedBytes(bytes, "f")]) {
        const all: number[] = [];
        for await (const piece of rangedChunks(reader, chunk)) all.push(...piece);
        expect(all).toEqual([...bytes]);
      }
    }
    for await (const piece of rangedChunks(inRoom(new Uint8Array(0)))) expect(piece).toBeUndefined();
  });

  it("reuses two buffers, and leaves a chunk alone until the next one is asked for", async () => {
    const buffers = new Set<ArrayBufferLike>();
    let start = 0;
    for await (const piece of rangedChunks(inRoom(bytes), 100)) {
      await new Promise((resolve) => setTimeout(resolve));
      expect([...piece]).toEqual([...bytes.subarray(start, start + 100)]);
      buffers.add(piece.buffer);
      start += 100;
    }
    expect(buffers.size).toBe(2);
  });

  it("says that a file became shorter", async () => {
    const cut = { ...inRoom(bytes), read: async () => bytes.subarray(0, 10) };
    await expect(rangedChunks(cut, 100).next()).rejects.toThrow(InputError);
  });
});

describe("lines of reused buffers", () => {
  it("are whole where they lie across chunks", async () => {
    const text = "one\n\ntwo and more\nthree";
    const bytes = new TextEncoder().encode(text);
    for (const chunk of [1, 2, 5, 11, 40]) {
      const splitter = new LineSplitter("made.jsonl");
      const lines: string[] = [];
      for await (const piece of rangedChunks(inRoom(bytes), chunk)) {
        for (const line of splitter.lines(piece)) lines.push(new TextDecoder().decode(line.bytes));
      }
      for (const line of splitter.rest()) lines.push(new TextDecoder().decode(line.bytes));
      expect(lines).toEqual(text.split("\n"));
    }
  });

  it("give the index that the file in one piece gives", async () => {
    const bytes = new TextEncoder().encode(fixtureSources().slice(0, 40).map(recordLine).join(""));
    const whole = await buildIndex(bytes, { file: "f" });
    for (const chunk of [1 << 12, 10_007]) {
      expect(await buildIndex(rangedChunks(inRoom(bytes), chunk), { file: "f" })).toStrictEqual(whole);
    }
  });
});
