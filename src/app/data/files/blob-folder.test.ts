import { describe, expect, it } from "vitest";
import { BlobFolderWriter, blobFolder } from "./blob-folder.ts";

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

  it("leaves nothing after an abort", async () => {
    const writer = new BlobFolderWriter("student");
    await writer.write("config.json", [new Uint8Array(1)]);
    await writer.abort();
    expect(writer.folder).toBeNull();
  });
});
