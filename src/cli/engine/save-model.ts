import { readdir, stat } from "node:fs/promises";
import { InputError } from "../../core/errors.ts";
import type { FolderReader, FolderWriter, Trainer } from "../../core/ports.ts";
import { createFolder, openFolder } from "../../engine/native/node-folder.ts";
import { onFile, unlessPassing } from "../../node/file-error.ts";

/** Files that travel with the weights, so that a written folder can be used as the one it came from. */
const COMPANIONS = [
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "chat_template.jinja",
  "special_tokens_map.json",
  "added_tokens.json",
  "vocab.json",
  "merges.txt",
];

/** Writes further files before the folder becomes visible. */
export function withFiles(
  writer: FolderWriter,
  files: () => AsyncIterable<{ name: string; bytes: Uint8Array }>,
): FolderWriter {
  return {
    write: (name, chunks) => writer.write(name, chunks),
    async commit() {
      for await (const { name, bytes } of files()) await writer.write(name, [bytes]);
      await writer.commit();
    },
    abort: () => writer.abort(),
  };
}

/** Lets `write` fill and commit a folder; after an error nothing of it stays. */
export async function writeFolder(
  writer: FolderWriter,
  write: (writer: FolderWriter) => Promise<void>,
): Promise<void> {
  try {
    await write(writer);
  } catch (error) {
    // The fault that came first is the one to tell.
    await writer.abort().catch(() => undefined);
    throw error;
  }
}

async function* companions(
  folders: readonly FolderReader[],
): AsyncGenerator<{ name: string; bytes: Uint8Array }> {
  for (const name of COMPANIONS) {
    for (const folder of folders) {
      if (!(await folder.list()).includes(name)) continue;
      yield { name, bytes: await folder.read(name, 0, await folder.size(name)) };
      break;
    }
  }
}

export interface SaveModelOptions {
  /** With the optimizer state beside the weights. */
  optimizer: boolean;
  /** Folders to take tokenizer and generation files from; the first that has a file gives it. */
  companionsFrom: readonly string[];
  /** Replace a folder that is there. */
  replace?: boolean;
}

/** Writes a model folder, whole or not at all. */
export async function saveModel(trainer: Trainer, path: string, options: SaveModelOptions): Promise<void> {
  const from = options.companionsFrom.map((folder) => openFolder(folder));
  const writer = withFiles(createFolder(path, { replace: options.replace ?? false }), () => companions(from));
  await writeFolder(writer, (folder) => trainer.save(folder, { optimizer: options.optimizer }));
}

/** Writes the files that go with a model's weights alone, whole or not at all. */
export async function saveCompanions(path: string, folders: readonly string[]): Promise<void> {
  const from = folders.map((folder) => openFolder(folder));
  const writer = withFiles(createFolder(path, { replace: true }), () => companions(from));
  await writeFolder(writer, (folder) => folder.commit());
}

/** Refuses, before any work, a folder that already exists with something in it. */
export async function checkNewFolder(path: string): Promise<void> {
  const found = await onFile(path, "write", stat(path).catch(unlessPassing));
  if (found === null) return;
  if (!found.isDirectory()) throw new InputError("this is a file, expected a folder", { file: path });
  if ((await onFile(path, "read", readdir(path))).length > 0) {
    throw new InputError("this folder already exists and is not empty", { file: path });
  }
}
