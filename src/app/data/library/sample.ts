/** A library that lies beside the page (the sample, the miniature world): what it consists of, and its files. */
import { z } from "zod";
import { InputError } from "../../../core/errors.ts";
import type { TokenizerTexts } from "../../../text/index.ts";
import type { ShippedLibrary } from "../../url/library-link.ts";
import type { FolderFiles } from "../files/blob-folder.ts";
import type { RecordInput } from "../files/internal/record-file.ts";

const manifestSchema = z.looseObject({
  title: z.string(),
  sources: z.string(),
  episodes: z.string(),
  tokenizer: z.string(),
  teacher: z.string(),
  student: z.string(),
  /** Prompt template, where it is not the environment's own. */
  prompt: z.string().optional(),
  /** Lines of optimal actions, where they are known. */
  optimal: z.string().optional(),
  /** Planner records of the same tasks, which no view shows and only training reads. */
  plans: z.string().optional(),
});

export type SampleManifest = z.infer<typeof manifestSchema>;

/**
 * What lies beside the page, whole.
 *
 * @param name what messages call it
 * @throws InputError where the server does not send it
 */
export async function fetchBlob(url: string, name: string): Promise<Blob> {
  let response: Response;
  let blob: Blob;
  try {
    response = await fetch(url);
    blob = await response.blob();
  } catch {
    throw new InputError("could not be fetched: is the workbench's server still running?", { file: name });
  }
  if (!response.ok) throw new InputError(`the server answered ${response.status}`, { file: name });
  return blob;
}

/** `base`, the folder, ends with a slash. `library`: one of those in it; the first of them without. */
export async function readSampleManifest(base: string, library?: ShippedLibrary): Promise<SampleManifest> {
  const [, noise] = library?.split("-") ?? [];
  const file = noise === undefined ? "manifest.json" : `manifest-${noise}.json`;
  const name = `${base.split("/").at(-2)}/${file}`;
  const blob = await fetchBlob(`${base}${file}`, name);
  const parsed = manifestSchema.safeParse(await new Response(blob).json().catch(() => null));
  if (!parsed.success) throw new InputError("this is not the manifest of a shipped library", { file: name });
  return parsed.data;
}

/** A file of records: a few hundred kilobytes, fetched whole. */
export async function sampleFile(base: string, path: string): Promise<RecordInput> {
  return { kind: "blob", name: path, blob: await getBlob(base, path) };
}

/** A file of it, whole. */
export const getBlob = (base: string, path: string): Promise<Blob> => fetchBlob(`${base}${path}`, path);

/** Its model of a role. */
export async function sampleModel(base: string, role: "teacher" | "student"): Promise<FolderFiles> {
  const folder = (await readSampleManifest(base))[role];
  const names = ["config.json", "model.safetensors"];
  const blobs = await Promise.all(names.map((name) => getBlob(base, `${folder}/${name}`)));
  return { name: folder, files: new Map(names.map((name, i) => [name, blobs[i]!])) };
}

export async function sampleTokenizer(base: string): Promise<TokenizerTexts> {
  const { tokenizer } = await readSampleManifest(base);
  const text = async (name: string): Promise<string> => (await getBlob(base, `${tokenizer}/${name}`)).text();
  return {
    tokenizerJson: await text("tokenizer.json"),
    tokenizerConfigJson: await text("tokenizer_config.json"),
    file: tokenizer,
  };
}
