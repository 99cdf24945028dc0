/** Models that lie on the worker's disk: what a folder there holds, opened with its weights left where they are. */
import { InputError } from "../../../core/errors.ts";
import type { SharedList } from "../../../protocol/files.ts";
import { faultNotice } from "../../base/faults.ts";
import type { FolderFile, FolderFiles } from "../../data/files/blob-folder.ts";
import { holdsWeights, isWeights } from "../../data/files/model-folder.ts";
import { type SharedFile, sharedBlob } from "../../data/files/shared-files.ts";
import { listShared, sharedFolder } from "../../data/shared-folder.ts";
import { type Role, setUi } from "../store.ts";
import { models } from "./models.ts";

/** Whether a folder of the worker's disk holds a model, judging by its file names. */
export function looksLikeModel({ entries }: Pick<SharedList, "entries">): boolean {
  const has = (name: string): boolean => entries.some((entry) => entry.name === name);
  const weights = entries.some(({ name }) => isWeights(name)) || has("onnx");
  return (has("config.json") && weights) || has("genai_config.json");
}

/** A folder to choose a model from, in the page's words. */
export const MODEL_FOLDER = {
  fits: looksLikeModel,
  found: "This folder holds a model.",
  missing:
    "Open the folder that holds the model: its config.json with weights, or an export’s genai_config.json.",
};

/** Names of a model folder's small files, which are fetched. */
const FETCHED = /\.(json|jsonl|txt|jinja|model)$/i;

/** Opens the model in a folder below the shared one in a role; a fault is shown, and the model before stays. */
export async function openSharedModel(role: Role, path: string): Promise<void> {
  try {
    await models.open(role, await sharedModel(path));
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  }
}

/** The files of a model folder, and those of its `onnx/`. `InputError` for a folder that holds no model. */
export async function sharedModel(path: string): Promise<FolderFiles> {
  const { content, token } = sharedFolder();
  const at = (name: string): string => (path === "" ? name : `${path}/${name}`);
  const list = await listShared(path);
  if (!looksLikeModel(list))
    throw new InputError("expected a model folder with config.json and weights in it", { file: path });
  const found = list.entries.map((entry) => ({ ...entry, as: entry.name }));
  if (found.some(({ name, kind }) => name === "onnx" && kind === "folder")) {
    const { entries } = await listShared(at("onnx"));
    found.push(...entries.map((entry) => ({ ...entry, as: `onnx/${entry.name}` })));
  }
  const files = new Map<string, FolderFile>();
  for (const { as, kind, bytes } of found) {
    // Others, as pickles of weights, are left on the disk.
    if (kind !== "file" || !(holdsWeights(as) || FETCHED.test(as))) continue;
    const file: SharedFile = { kind: "shared", content, token, path: at(as), size: bytes ?? 0 };
    files.set(as, holdsWeights(as) ? file : await sharedBlob(file));
  }
  return { name: path.split("/").at(-1) || "shared model", files, shared: path };
}

/** The same, called by its whole path: folders of one name may lie in many places. */
export async function sharedModelByPath(path: string): Promise<FolderFiles> {
  const folder = await sharedModel(path);
  return { ...folder, name: path === "" ? folder.name : path };
}
