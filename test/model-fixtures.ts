import { fileURLToPath } from "node:url";
import type { FolderReader } from "../src/core/ports.ts";
import { openFolder } from "../src/engine/native/node-folder.ts";

/** A folder of fixtures/models on disk. */
export function openModelFixture(folder: string): FolderReader {
  return openFolder(fileURLToPath(new URL(`./fixtures/models/${folder}`, import.meta.url)));
}
