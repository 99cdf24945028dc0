/** Manifests of folders on the disk, with Node's own SHA-256. */
import { createHash } from "node:crypto";
import { type FileDigest, MANIFEST, type ManifestFiles, manifestText, pieces } from "../core/manifest.ts";
import type { FolderWriter } from "../core/ports.ts";

/** Adds the manifest to what is written, before the folder becomes visible. Files are digested on their way to the disk. */
export function withManifest(writer: FolderWriter): FolderWriter {
  const files: ManifestFiles = {};
  return {
    async write(name, chunks) {
      const hash = createHash("sha256");
      let bytes = 0;
      async function* digested(): AsyncGenerator<Uint8Array> {
        for await (const chunk of chunks) {
          hash.update(chunk);
          bytes += chunk.length;
          yield chunk;
        }
      }
      await writer.write(name, digested());
      files[name] = { bytes, sha256: hash.digest("hex") };
    },
    async commit() {
      await writer.write(MANIFEST, [new TextEncoder().encode(manifestText(files))]);
      await writer.commit();
    },
    abort: () => writer.abort(),
  };
}

export const fileDigest: FileDigest = async (folder, name, bytes) => {
  const hash = createHash("sha256");
  for await (const piece of pieces(folder, name, bytes)) hash.update(piece);
  return hash.digest("hex");
};
