/** Model folders as users give them: a picked or dropped folder, loose files, or a .zip that the workbench saved. */
import { zipSync } from "fflate";
import { checkTextSize } from "../../../core/folder-text.ts";
import type { TokenizerTexts } from "../../../text/index.ts";
import { type BlobFolder, type FolderFiles, wholeFile } from "./blob-folder.ts";
import type { NamedFile } from "./zip-archive.ts";

/** Any of these makes a directory a model folder. */
const CONFIGURATIONS = ["config.json", "genai_config.json"];

/** Files of weights, in the formats of all engines. */
const WEIGHTS = /\.(safetensors|onnx)$/;
/** Files that hold the numbers of such a file beside it. */
const WEIGHT_DATA = /\.(onnx[._]data|data)$/i;

export const isWeights = (name: string): boolean => WEIGHTS.test(name);

/** Whether a file is large: it is read in parts, where it lies. */
export const holdsWeights = (name: string): boolean => isWeights(name) || WEIGHT_DATA.test(name);

/**
 * The folders among some files: each directory that holds a configuration, with the files directly in it and, as
 * `onnx/…`, those of its subfolder with that name. `unpack` opens archives first. The order is that of the files.
 */
export async function modelFolders(
  files: readonly NamedFile[],
  unpack: (archive: NamedFile) => Promise<NamedFile[]>,
): Promise<BlobFolder[]> {
  const opened: NamedFile[] = [];
  for (const entry of files) {
    if (/\.zip$/i.test(entry.path)) opened.push(...(await unpack(entry)));
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

/** One archive with the folder in it, stored without compression: weights hardly compress. */
export async function archiveFolder(folder: FolderFiles): Promise<Blob> {
  const entries: Record<string, Uint8Array> = {};
  for (const [name, file] of folder.files) {
    entries[`${folder.name}/${name}`] = new Uint8Array(await (await wholeFile(file)).arrayBuffer());
  }
  const bytes = zipSync(entries, { level: 0 });
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
