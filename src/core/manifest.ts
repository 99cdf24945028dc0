/** Sizes and SHA-256 digests of the files of a folder, kept beside them: what was changed since is found before it is used. */
import { z } from "zod";
import type { FolderReader } from "./ports.ts";

export const MANIFEST = "manifest.json";

const schema = z.strictObject({
  format: z.literal("gcopd.manifest.v1"),
  files: z.record(
    z.string(),
    z.strictObject({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
});

/** Files by name; digests are 64 hexadecimal digits. */
export type ManifestFiles = z.infer<typeof schema>["files"];

/** SHA-256 of a file of so many bytes, as 64 hexadecimal digits. */
export type FileDigest = (folder: FolderReader, name: string, bytes: number) => Promise<string>;

/** What `manifest.json` holds. */
export const manifestText = (files: ManifestFiles): string =>
  `${JSON.stringify({ format: "gcopd.manifest.v1", files }, null, 2)}\n`;

/**
 * Compares a folder with its manifest: the names and sizes first, then every byte, once and in order. Loaders read in
 * an order of their own, some of them in other processes, so the digests cannot be taken while they read. Hidden files
 * do not count.
 *
 * @returns what is wrong, for a message that names the folder; null when the folder is as it was written
 * @throws InputError when a file cannot be read
 */
export async function folderDamage(folder: FolderReader, digest: FileDigest): Promise<string | null> {
  const names = (await folder.list()).filter((name) => !name.startsWith("."));
  if (!names.includes(MANIFEST))
    return `no ${MANIFEST}: it is damaged, or of a version that wrote no checksums`;
  const files = parse(await folder.read(MANIFEST, 0, await folder.size(MANIFEST)));
  if (files === null) return `${MANIFEST} is damaged`;
  const unlisted = names.find((name) => name !== MANIFEST && !Object.hasOwn(files, name));
  if (unlisted !== undefined) return `${unlisted} is not in ${MANIFEST}`;
  for (const [name, { bytes }] of Object.entries(files)) {
    if (!names.includes(name)) return `${name} is missing`;
    const size = await folder.size(name);
    if (size !== bytes) return `${name} has ${size} bytes, expected ${bytes}`;
  }
  for (const [name, { bytes, sha256 }] of Object.entries(files)) {
    if ((await digest(folder, name, bytes)) !== sha256)
      return `${name} does not have the SHA-256 that it was written with`;
  }
  return null;
}

/** Bytes read at a time, where nothing else is said. */
const PIECE = 2 ** 22;

/** The pieces of a file, in order. */
export async function* pieces(
  folder: FolderReader,
  name: string,
  bytes: number,
  length = PIECE,
): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < bytes; start += length)
    yield await folder.read(name, start, Math.min(bytes, start + length));
}

/** Null for anything but what `manifestText` gives, to the byte. */
function parse(bytes: Uint8Array): ManifestFiles | null {
  const text = new TextDecoder().decode(bytes);
  try {
    const { files } = schema.parse(JSON.parse(text));
    return manifestText(files) === text ? files : null;
  } catch {
    return null;
  }
}
