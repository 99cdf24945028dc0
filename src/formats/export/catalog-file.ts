/** One file of a written catalog, and what its parts have in common. */
import { InputError } from "../../core/errors.ts";
import type { Source, SourceDecision } from "../../core/record/schema.ts";
import { sha256Bytes } from "../../core/seeded.ts";
import { endedFromReason, originKind } from "../import/decision-fields.ts";
import { gzip } from "../write.ts";

export interface CatalogFile {
  /** Inside the catalog, with slashes. */
  path: string;
  bytes: Uint8Array;
  sha256: string;
}

/** A JSON file, compressed where its name ends in `.gz`. */
export async function jsonFile(path: string, value: unknown): Promise<CatalogFile & { jsonBytes: number }> {
  const text = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  const bytes = path.endsWith(".gz") ? await gathered(gzip(once(text))) : text;
  return { path, bytes, sha256: await sha256Bytes(bytes), jsonBytes: text.length };
}

async function* once(bytes: Uint8Array<ArrayBuffer>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield bytes;
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of all) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/**
 * What the authors' files call the maker of a source; undefined where its repetition says it.
 *
 * @throws InputError for a source that the layout cannot name
 */
export function sourceKindOf({ task, source, repetition, origin }: Source): string | undefined {
  const plain = { planner: "planner", oracle: "privileged_oracle", teacher: undefined };
  const { kind, source_kind: recorded } = origin;
  if (kind !== "planner" && kind !== "oracle" && kind !== "teacher")
    throw new InputError(
      `${source} of ${task} was made by ${JSON.stringify(kind)}; a catalog has teachers, planners and oracles`,
      { key: "origin.kind" },
    );
  const written = typeof recorded === "string" ? recorded : plain[kind];
  const named = `${originKind(repetition, written)}:${repetition}`;
  if (source !== named || !named.startsWith(`${kind}:`))
    throw new InputError(
      `${source} of ${task} comes back as ${named} from a catalog, by its repetition; expected that name in the library too`,
      { key: "source" },
    );
  return written;
}

/** What the recorder claimed: in an unverified record that is whole, the outcome itself. */
export function claimOf({ outcome }: Source): boolean {
  const { verified, complete, success, reported_success: reported } = outcome;
  return !verified && complete ? success : (reported ?? success);
}

/** Why an execution ended: the recorder's own reason where it is there. */
export function endReason({ outcome }: Source): string {
  const { ended, success, end_reason: recordedReason } = outcome;
  if (typeof recordedReason === "string" && endedFromReason(recordedReason) === ended) return recordedReason;
  if (ended === "environment") return success ? "success" : "environment_done";
  return ended === "horizon" ? "horizon" : "technical";
}

/** The marks of a decision that are the same in every catalog. */
export function stepOf({
  observation,
  action,
  binding,
  feedback,
  status,
  gap_before: gap,
}: SourceDecision): object {
  return {
    observation_before: observation,
    action,
    semantic_action: binding ?? action,
    executed_action: status === "malformed" ? null : action,
    feedback,
    format_error: status === "malformed" ? "no action could be read" : null,
    rolled_back_attempt: status === "rolled_back",
    decision_cost: 1,
    ...(gap
      ? { recording_gap_before: true, continuous_from_previous: false }
      : { continuous_from_previous: true }),
  };
}
