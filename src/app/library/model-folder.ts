/** Model folders as users give them: a picked or dropped folder, loose files, or a .zip that the workbench saved. */
import { unzip, unzipSync, zip } from "fflate";
import { InputError } from "../../core/errors.ts";
import { checkTextSize } from "../../core/folder-text.ts";
import type { TokenizerTexts } from "../../text/index.ts";
import { type BlobFolder, type FolderFiles, wholeFile } from "./blob-folder.ts";

interface NamedFile {
  path: string;
  file: Blob;
}

/** Entries of an archive: a model folder has a few dozen. */
const MOST_ENTRIES = 10_000;
/** Times its own size that an archive may unpack to: weights hardly compress, and JSON to a tenth. */
const MOST_RATIO = 20;
/** Bytes that an archive may unpack to whatever its size. */
const FREE_BYTES = 256 * 2 ** 20;

/** Any of these makes a directory a model folder. */
const CONFIGURATIONS = ["config.json", "genai_config.json"];

/**
 * The folders among some files: each directory that holds a configuration, with the files directly in it and, as
 * `onnx/…`, those of its subfolder of that name. Archives are opened first. The order is that of the files.
 */
export async function modelFolders(files: readonly NamedFile[]): Promise<BlobFolder[]> {
  const opened: NamedFile[] = [];
  for (const entry of files) {
    if (/\.zip$/i.test(entry.path)) opened.push(...(await openArchive(entry)));
    else opened.push(entry);
  }
  const folders = new Map<string, Map<string, Blob>>();
  for (const { path, file } of opened) {
    const slash = path.lastIndexOf("/");
    const folder = slash < 0 ? "" : path.slice(0, slash);
    const members = folders.get(folder) ?? new Map<string, Blob>();
    members.set(path.slice(slash + 1), file);
    folders.set(folder, members);
  }
  const isModel = (members: ReadonlyMap<string, Blob> | undefined): boolean =>
    members !== undefined && CONFIGURATIONS.some((name) => members.has(name));
  for (const [folder, members] of folders) {
    const exported = folders.get(folder === "" ? "onnx" : `${folder}/onnx`);
    if (!isModel(members) || exported === undefined || isModel(exported)) continue;
    for (const [name, file] of exported) members.set(`onnx/${name}`, file);
  }
  return [...folders]
    .filter(([, members]) => isModel(members))
    .map(([folder, members]) => ({ name: folder === "" ? "model folder" : folder, files: members }));
}

async function openArchive({ path, file }: NamedFile): Promise<NamedFile[]> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const fault = archiveFault(bytes);
  if (fault !== null) throw new InputError(fault, { file: path });
  const entries = await new Promise<Record<string, Uint8Array>>((resolve, reject) => {
    unzip(bytes, (error, result) => {
      if (error)
        reject(new InputError(`not a zip archive that can be read: ${error.message}`, { file: path }));
      else resolve(result);
    });
  });
  const root = path.replace(/\.zip$/i, "");
  return Object.entries(entries)
    .filter(([name]) => !name.endsWith("/"))
    .map(([name, content]) => ({
      path: name.includes("/") ? name : `${root}/${name}`,
      file: new Blob([content as Uint8Array<ArrayBuffer>]),
    }));
}

/**
 * What is wrong with what an archive says of its entries, before any of them is unpacked; null for nothing. An entry
 * never unpacks to more than it says: its memory is taken by that.
 */
function archiveFault(bytes: Uint8Array): string | null {
  let [entries, unpacked] = [0, 0];
  try {
    unzipSync(bytes, {
      filter: ({ size, originalSize }) => {
        if (++entries > MOST_ENTRIES) throw new Error("too many");
        unpacked += Math.max(size, originalSize);
        return false;
      },
    });
  } catch {
    // What cannot be read is said where it is unpacked.
  }
  if (entries > MOST_ENTRIES)
    return `holds more than ${MOST_ENTRIES} entries, the most that a model folder has`;
  if (unpacked > FREE_BYTES && unpacked > MOST_RATIO * bytes.length)
    return `unpacks to ${unpacked} bytes, more than ${MOST_RATIO} times its size, which no model does`;
  return null;
}

/** One archive with the folder in it, stored without compression: weights hardly compress. */
export async function archiveFolder(folder: FolderFiles): Promise<Blob> {
  const entries: Record<string, Uint8Array> = {};
  for (const [name, file] of folder.files) {
    entries[`${folder.name}/${name}`] = new Uint8Array(await (await wholeFile(file)).arrayBuffer());
  }
  const bytes = await new Promise<Uint8Array>((resolve, reject) => {
    zip(entries, { level: 0 }, (error, result) => (error ? reject(error) : resolve(result)));
  });
  return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: "application/zip" });
}

/** The files that make a tokenizer, as text; null when the folder has no tokenizer.json. */
export async function tokenizerTexts(folder: FolderFiles): Promise<TokenizerTexts | null> {
  const text = async (name: string): Promise<string | undefined> => {
    const file = folder.files.get(name);
    if (file === undefined) return undefined;
    checkTextSize(file.size, `${folder.name}/${name}`);
    return (await wholeFile(file)).text();
  };
  const tokenizerJson = await text("tokenizer.json");
  if (tokenizerJson === undefined) return null;
  return {
    tokenizerJson,
    tokenizerConfigJson: await text("tokenizer_config.json"),
    chatTemplate: await text("chat_template.jinja"),
    file: folder.name,
  };
}

/** A folder with a tokenizer's files; those that it has stay. */
export function withTokenizer(folder: FolderFiles, texts: TokenizerTexts): FolderFiles {
  const files = new Map(folder.files);
  const add = (name: string, text: string | undefined): void => {
    if (text !== undefined && !files.has(name)) files.set(name, new Blob([text]));
  };
  add("tokenizer.json", texts.tokenizerJson);
  add("tokenizer_config.json", texts.tokenizerConfigJson);
  add("chat_template.jinja", texts.chatTemplate);
  return { ...folder, files };
}
