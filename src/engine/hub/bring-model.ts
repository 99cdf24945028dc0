/** A model of the hub, whole in a cache: from there alone when it already exists, downloaded otherwise. */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { type DownloadOptions, downloadFiles, type HubStore } from "./download.ts";
import {
  DEFAULT_ENDPOINT,
  type HubFile,
  type HubName,
  HubUnavailable,
  hubText,
  listHubFiles,
} from "./hub-client.ts";

/** Models by repository, each commit with its files, and a note beside them of what is there. */
export interface HubCache {
  store(repository: string, commit: string): Promise<HubStore>;
  /** Does some work on a repository while nobody else does. */
  alone<T>(repository: string, work: () => Promise<T>, options: BringOptions): Promise<T>;
  /** The text of a repository's note; null where there is none. */
  readNote(repository: string): Promise<string | null>;
  writeNote(repository: string, text: string): Promise<void>;
}

export interface BringOptions extends DownloadOptions {
  /** Ask nobody: what is not in the cache is refused. */
  offline?: boolean;
  /** One line for a person: the hub does not answer and the cache stands in, or somebody else downloads the same. */
  onNote?: (note: string) => void;
}

const noteSchema = z.object({
  /** Commit of each branch or tag when it was last asked for. */
  revisions: z.record(z.string(), z.string()),
  /** Files of the commits that are whole, or were to be. */
  commits: z.record(
    z.string(),
    z.array(z.object({ name: z.string(), size: z.int().min(0), sha256: z.string().nullable() })),
  ),
});
/** What a cache knows of one repository. */
export type Note = z.infer<typeof noteSchema>;

export interface BroughtModel {
  commit: string;
  files: readonly HubFile[];
}

/**
 * The files of a model, in the cache when this resolves. A commit that is there whole is opened without asking anyone; a
 * branch or tag is asked for, since it may have moved, and taken as it was last known where the hub does not answer.
 *
 * @throws InputError when the hub is needed and cannot be reached, or a file is not what it announces
 */
export async function bringModel(
  name: HubName,
  cache: HubCache,
  options: BringOptions = {},
): Promise<BroughtModel> {
  const { repository, revision } = name;
  const note = await readNote(cache, repository);
  const known = await cached(cache, repository, note, note.revisions[revision] ?? revision);
  if (known !== null && (known.commit === revision || options.offline)) return known;
  if (options.offline)
    throw new InputError(`${hubText(name)}: not in the cache whole, and nothing is to be downloaded`);
  let listed: BroughtModel;
  try {
    listed = await listHubFiles(name, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    const answered = error instanceof InputError;
    if (known !== null && (!answered || error instanceof HubUnavailable)) {
      options.onNote?.(
        `${answered ? error.message : unreachable(name, options, error)}; taken from the cache as it was last known (${known.commit.slice(0, 12)})`,
      );
      return known;
    }
    throw answered ? error : new InputError(unreachable(name, options, error));
  }
  await fetchModel(name, listed, cache, options);
  return listed;
}

/**
 * Brings the files of a commit that were listed before into the cache. The note names them from the beginning, so that a
 * download that broke can be gone on with; a branch or tag leads to the commit only when it is whole.
 *
 * @throws InputError when the hub cannot be reached, or a file is not what the hub announces
 */
export async function fetchModel(
  name: HubName,
  { commit, files }: BroughtModel,
  cache: HubCache,
  options: BringOptions,
): Promise<void> {
  const { repository, revision } = name;
  // Nothing needs to be written, and the cache may be read-only.
  const note = await readNote(cache, repository);
  const isNamed = revision === commit || note.revisions[revision] === commit;
  if (isNamed && (await cached(cache, repository, note, commit)) !== null) return;
  const change = async (changed: (note: Note) => Note) => {
    const before = await readNote(cache, repository);
    const after = changed(before);
    if (JSON.stringify(after) !== JSON.stringify(before))
      await cache.writeNote(repository, `${JSON.stringify(after, null, 2)}\n`);
  };
  const bring = async () => {
    const store = await cache.store(repository, commit);
    await change((note) => ({ ...note, commits: { ...note.commits, [commit]: [...files] } }));
    await downloadFiles(name, commit, files, store, options);
    if (revision === commit) return;
    await change((note) => ({ ...note, revisions: { ...note.revisions, [revision]: commit } }));
  };
  await cache.alone(repository, bring, options);
}

/** The commit with its files, if every one of them is there with its size. */
async function cached(
  cache: HubCache,
  repository: string,
  note: Note,
  commit: string,
): Promise<BroughtModel | null> {
  const files = note.commits[commit];
  if (files === undefined) return null;
  const store = await cache.store(repository, commit);
  for (const file of files) if (!(await store.has(file))) return null;
  return { commit, files };
}

/** A note that cannot be read is as good as none: the hub is asked. */
export async function readNote(cache: Pick<HubCache, "readNote">, repository: string): Promise<Note> {
  const none: Note = { revisions: {}, commits: {} };
  const text = await cache.readNote(repository);
  if (text === null) return none;
  try {
    return noteSchema.safeParse(JSON.parse(text)).data ?? none;
  } catch {
    return none;
  }
}

function unreachable(name: HubName, { endpoint = DEFAULT_ENDPOINT }: BringOptions, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
  return `${hubText(name)}: the hub at ${endpoint} cannot be reached: ${cause}`;
}
