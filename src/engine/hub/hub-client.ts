/** The model hub's HTTP API: which files a revision has, and their bytes. Nothing here runs unless it is asked for. */
import { InputError } from "../../core/errors.ts";
import { shownBytes } from "../../core/shown-bytes.ts";
import { byteChunks } from "../../formats/bytes.ts";

export const DEFAULT_ENDPOINT = "https://huggingface.co";

/** `hub:Qwen/Qwen3-0.6B@main`. */
export interface HubName {
  repository: string;
  /** Branch, tag or commit. */
  revision: string;
}

export interface HubFile {
  name: string;
  size: number;
  /** SHA-256 of the content, in hexadecimal, for files whose digest the hub knows (weights). */
  sha256: string | null;
}

export interface HubOptions {
  /** Where the hub is; `HF_ENDPOINT` of the command line. */
  endpoint?: string;
  /** For gated and private models; `HF_TOKEN` of the command line. */
  token?: string;
  /** What a person does about a gated or private model; by default, the token of the command line. */
  accessHint?: string;
  signal?: AbortSignal;
  fetch?: typeof fetch;
}

const PREFIX = "hub:";

/** Bytes of the largest listing: 60,000 files, where the largest repositories of models have some thousands. */
const LARGEST_LISTING = 16 * 2 ** 20;

/** Files of the largest model; those of 1,000 billion parameters have 200. */
const MOST_FILES = 10_000;

/** Null for what is not a hub name; an InputError for one that is not well formed. */
export function parseHubName(text: string): HubName | null {
  if (!text.startsWith(PREFIX)) return null;
  const found = /^hub:([\w.-]+\/[\w.-]+)(?:@([\w./-]+))?$/.exec(text);
  const [, repository = "", revision = "main"] = found ?? [];
  if (!found || `${repository}/${revision}`.split("/").includes(".."))
    throw new InputError(`${text}: expected hub:OWNER/NAME or hub:OWNER/NAME@REVISION`);
  return { repository, revision };
}

/**
 * Files of a model folder: what is read, and what is saved beside the weights. Names of plain characters alone: a hub's
 * file must not lead out of its folder on any system (`..\\..\\x`, `C:x`), nor be a stream of another file.
 */
function isWanted(name: string): boolean {
  return (
    /^[\w][\w.-]*$/.test(name) &&
    /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|vocab)\.json$|^merges\.txt$|^chat_template\.jinja$|\.safetensors(\.index\.json)?$/.test(
      name,
    )
  );
}

/**
 * The commit that a revision names now, and the files of it that make a model folder.
 *
 * @throws InputError when there is no such model, it is gated, or it has no config.json
 */
export async function listHubFiles(
  name: HubName,
  options: HubOptions = {},
): Promise<{ commit: string; files: HubFile[] }> {
  const { repository, revision } = name;
  const url = `${base(options)}/api/models/${repository}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const response = await request(name, url, {}, options);
  const answer = await readListing(response, hubText(name));
  const fail = (what: string): never => {
    throw new InputError(`${hubText(name)}: ${what} in the hub's answer`);
  };
  if (!isObject(answer)) return fail("no description of the model");
  const { sha: commit, siblings } = answer;
  if (typeof commit !== "string" || !/^[0-9a-f]{7,64}$/.test(commit)) return fail("no commit");
  if (!Array.isArray(siblings)) return fail("no files");
  const files: HubFile[] = [];
  for (const sibling of siblings) {
    if (!isObject(sibling)) return fail("no name of a file");
    const { rfilename, size, lfs } = sibling;
    if (typeof rfilename !== "string" || !isWanted(rfilename)) continue;
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0)
      return fail(`no size of ${rfilename}`);
    const hash = isObject(lfs) ? lfs.sha256 : undefined;
    files.push({ name: rfilename, size, sha256: typeof hash === "string" ? hash.toLowerCase() : null });
  }
  if (files.length > MOST_FILES)
    throw new InputError(`${hubText(name)}: has ${files.length} files, a model has at most ${MOST_FILES}`);
  if (!files.some((file) => file.name === "config.json"))
    throw new InputError(`${hubText(name)}: has no config.json; expected a model of transformers' format`);
  if (!files.some((file) => file.name.endsWith(".safetensors")))
    throw new InputError(`${hubText(name)}: has no .safetensors weights`);
  return { commit, files };
}

/** The JSON of an answer; null where it is none. `InputError`, and the rest is not read, above `LARGEST_LISTING`. */
async function readListing(response: Response, where: string): Promise<unknown> {
  if (response.body === null) return null;
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  for await (const chunk of byteChunks(response.body)) {
    bytes += chunk.length;
    if (bytes > LARGEST_LISTING)
      throw new InputError(
        `${where}: the hub's answer is larger than ${shownBytes(LARGEST_LISTING)}, the most that a listing may have`,
      );
    text += decoder.decode(chunk, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** A file's bytes from `start` on. The answer may begin earlier than asked: `from` says where it begins. */
export async function openHubFile(
  name: HubName,
  commit: string,
  file: string,
  start: number,
  options: HubOptions,
): Promise<{ from: number; body: ReadableStream<Uint8Array> }> {
  const url = `${base(options)}/${name.repository}/resolve/${commit}/${encodeURIComponent(file)}`;
  const headers: Record<string, string> = start > 0 ? { range: `bytes=${start}-` } : {};
  const response = await request(name, url, headers, options);
  if (response.body === null) throw new InputError(`${hubText(name)}: ${file} came without content`);
  return { from: response.status === 206 ? start : 0, body: response.body };
}

/** The name as a command line takes it: `hub:OWNER/NAME`, with `@REVISION` unless that is `main`. */
export function hubText({ repository, revision }: HubName): string {
  return `${PREFIX}${repository}${revision === "main" ? "" : `@${revision}`}`;
}

function base({ endpoint = DEFAULT_ENDPOINT }: HubOptions): string {
  return endpoint.replace(/\/+$/, "");
}

async function request(
  name: HubName,
  url: string,
  headers: Record<string, string>,
  options: HubOptions,
): Promise<Response> {
  const { token, signal, fetch: get = fetch, accessHint = "needs a token in HF_TOKEN" } = options;
  const all = token ? { ...headers, authorization: `Bearer ${token}` } : headers;
  const response = await get(url, { headers: all, signal });
  if (response.ok) return response;
  await response.body?.cancel();
  const where = hubText(name);
  if (response.status === 401 || response.status === 403)
    throw new InputError(
      `${where}: the hub refuses access (${response.status}): it does not exist, or is gated or private and ${accessHint}`,
    );
  if (response.status === 404)
    throw new InputError(`${where}: the hub has no such model, revision or file (404)`);
  throw new HubUnavailable(`${where}: the hub answers ${response.status}`, response.status);
}

/** The hub answered, but not with what was asked for; trying again may help for 429 and 5xx. */
export class HubUnavailable extends InputError {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}
