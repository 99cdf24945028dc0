import { sha256Hex } from "../../../core/seeded.ts";
import { sampleDigest } from "../../../formats/indexed/index.ts";
import type { RangedReader } from "../../../formats/ranged-reader.ts";
import { blobFolder, type FolderFiles } from "../../data/files/blob-folder.ts";
import { isWeights } from "../../data/files/model-folder.ts";

/** Files that decide what a model answers; the optimizer's state does not. */
const decides = (name: string): boolean =>
  !/^optimizer\.\w+$/.test(name) && (isWeights(name) || name.endsWith(".json"));

/** Digest of a model's weights, config and tokenizer: their names, sizes and samples of their bytes. */
export async function modelDigest(folder: FolderFiles): Promise<string> {
  const reader = blobFolder(folder);
  const names = [...folder.files.keys()].filter(decides).sort();
  const parts: string[] = [];
  for (const name of names) {
    const file: RangedReader = {
      name,
      size: await reader.size(name),
      modified: null,
      read: (start, end) => reader.read(name, start, end),
    };
    parts.push(`${name} ${file.size} ${await sampleDigest(file)}`);
  }
  return sha256Hex(parts.join("\n"));
}
