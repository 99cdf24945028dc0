/** Sizes and SHA-256 digests of the files of a folder, kept beside them: what was changed since is found before it is used. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { FolderReader, FolderWriter } from "../core/ports.ts";

export const MANIFEST = "manifest.json";

/** Bytes read at a time. */
const PIECE = 2 ** 22;

const schema = z.strictObject({
  format: z.literal("gcopd.manifest.v1"),
  files: z.record(
    z.string(),
    z.strictObject({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});
type Manifest = z.infer<typeof schema>;

const textOf = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** Adds the manifest to what is written, before the folder becomes visible. Files are digested on their way to the disk. */
export function withManifest(writer: FolderWriter): FolderWriter {
  const files: Manifest["files"] = {};
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
      await writer.write(MANIFEST, [
        new TextEncoder().encode(textOf({ format: "gcopd.manifest.v1", files })),
      ]);
      await writer.commit();
    },
    abort: () => writer.abort(),
  };
}

/**
 * Compares a folder with its manifest: the names and sizes first, then every byte, once and in order. Loaders read in
 * an order of their own, some of them in other processes, so the digests cannot be taken while they read. Hidden files
 * do not count.
 *
 * @returns what is wrong, for a message that names the folder; null when the folder is as it was written
 * @throws InputError when a file cannot be read
 */
export async function folderDamage(folder: FolderReader): Promise<string | null> {
  const names = (await folder.list()).filter((name) => !name.startsWith("."));
  if (!names.includes(MANIFEST))
    return `no ${MANIFEST}: it is damaged, or of a version that wrote no checksums`;
  const files = parse(await folder.read(MANIFEST, 0, await folder.size(MANIFEST)))?.files;
  if (files === undefined) return `${MANIFEST} is damaged`;
  const unlisted = names.find((name) => name !== MANIFEST && !Object.hasOwn(files, name));
  if (unlisted !== undefined) return `${unlisted} is not in ${MANIFEST}`;
  for (const [name, { bytes }] of Object.entries(files)) {
    if (!names.includes(name)) return `${name} is missing`;
    const size = await folder.size(name);
    if (size !== bytes) return `${name} has ${size} bytes, expected ${bytes}`;
  }
  for (const [name, { bytes, sha256 }] of Object.entries(files)) {
    const hash = createHash("sha256");
    for (let start = 0; start < bytes; start += PIECE)
      hash.update(await folder.read(name, start, Math.min(bytes, start + PIECE)));
    if (hash.digest("hex") !== sha256) return `${name} does not have the SHA-256 that it was written with`;
  }
  return null;
}

/** Null for anything but what `withManifest` writes, to the byte. */
function parse(bytes: Uint8Array): Manifest | null {
  const text = new TextDecoder().decode(bytes);
  try {
    const manifest = schema.parse(JSON.parse(text));
    return textOf(manifest) === text ? manifest : null;
  } catch {
    return null;
  }
}
