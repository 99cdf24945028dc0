/** Model folders as users give them: a picked or dropped folder, loose files, or a .zip that the workbench saved. */
import { unzip, zip } from "fflate";
import { InputError } from "../../core/errors.ts";
import { type BlobFolder, type FolderFiles, wholeFile } from "./blob-folder.ts";

interface NamedFile {
  path: string;
  file: Blob;
}

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
export async function tokenizerTexts(folder: FolderFiles) {
  const text = async (name: string): Promise<string | undefined> => {
    const file = folder.files.get(name);
    return file === undefined ? undefined : (await wholeFile(file)).text();
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
