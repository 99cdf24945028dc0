import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BlobFolderWriter, blobFolder, PART } from "./blob-folder.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** So many words of a generator, as bytes. */
function randomWords(count: number, seed: number): Uint8Array {
  const words = new Uint32Array(count);
  let state = seed;
  for (let i = 0; i < count; i++) words[i] = state = Math.imul(state, 1_664_525) + 1_013_904_223;
  return new Uint8Array(words.buffer);
}

describe("a folder of blobs", () => {
  it("reads back what was written, by range", async () => {
    const writer = new BlobFolderWriter("student");
    const buffer = new Uint8Array(2);
    function* reused(): Generator<Uint8Array> {
      for (const value of [1, 2, 3]) yield buffer.fill(value);
    }
    await writer.write("model.safetensors", reused());
    expect(writer.folder, "nothing shows before it is whole").toBeNull();
    await writer.commit();
    const folder = blobFolder(writer.folder!);
    expect(await folder.list()).toEqual(["model.safetensors"]);
    expect(await folder.size("model.safetensors")).toBe(6);
    expect([...(await folder.read("model.safetensors", 1, 5))]).toEqual([1, 2, 2, 3]);
    await expect(folder.read("model.safetensors", 4, 9)).rejects.toThrow(
      "student/model.safetensors: ends at byte 6, expected to read up to 9",
    );
    await expect(folder.size("config.json")).rejects.toThrow("student/config.json: this file is missing");
  });

  it("gives large files part by part once they are written, and gathers the next in what it gets back", async () => {
    const bytes = randomWords(PART / 2 + 3, 4);
    const seen: [string, string][] = [];
    const taken: ArrayBuffer[] = [];
    let looking = 0;
    const writer = new BlobFolderWriter("student", async (file, part) => {
      expect(++looking).toBe(1);
      seen.push([file, sha256(part)]);
      // What has been written is not needed any more: the first two are taken away, and one of them is given back.
      if (taken.length < 2) taken.push(structuredClone(part.buffer, { transfer: [part.buffer] }));
      await new Promise((resolve) => setTimeout(resolve));
      looking -= 1;
      if (part.length > 0) return part;
      return taken.length === 2 ? new Uint8Array(taken[0]!) : undefined;
    });
    const chunks = [0, 1, 70_000, PART - 5, 2 * PART].map((at, n, all) => bytes.subarray(at, all[n + 1]));
    await writer.write("a", chunks);
    await writer.write("b", [bytes.subarray(0, 3)]);
    await writer.commit();
    expect(seen).toEqual([
      ["a", sha256(bytes.subarray(0, PART))],
      ["a", sha256(bytes.subarray(PART, 2 * PART))],
      ["a", sha256(bytes.subarray(2 * PART))],
      ["b", sha256(bytes.subarray(0, 3))],
    ]);
    const written = new Uint8Array(await writer.folder!.files.get("a")!.arrayBuffer());
    expect(sha256(written)).toBe(sha256(bytes));
  });

  it("a part that cannot be looked at ends the writing", async () => {
    const writer = new BlobFolderWriter("student", async () => {
      throw new Error("no digest");
    });
    await expect(writer.write("a", [new Uint8Array(3)])).rejects.toThrow("no digest");
  });

  it("leaves nothing after an abort", async () => {
    const writer = new BlobFolderWriter("student");
    await writer.write("config.json", [new Uint8Array(1)]);
    await writer.abort();
    expect(writer.folder).toBeNull();
  });
});
