/** Decisions whose optimal actions are known, as a file says them for an open library. */

import { InputError } from "../../../core/errors.ts";
import { checkOptimal } from "../../../core/gate/index.ts";
import { byteChunks } from "../../../formats/bytes.ts";
import { readRecords } from "../../../formats/read.ts";
import type { TaskName } from "../model.ts";
import type { RecordLibrary } from "./record-library.ts";

export interface OptimalDecision extends TaskName {
  episode: string;
  decision: number;
  optimal: readonly string[];
}

export interface KnownOptimal {
  /** What they came from. */
  file: string;
  /** In the order of the file. */
  decisions: readonly OptimalDecision[];
}

/** @throws InputError for a file that is none, and for a line that names no decision of these records or repeats one */
export async function readOptimal(
  blob: Blob,
  file: string,
  records: Pick<RecordLibrary, "episodePlaces">,
): Promise<KnownOptimal> {
  const episodes = records.episodePlaces();
  const decisions: OptimalDecision[] = [];
  for await (const { record, line } of readRecords(byteChunks(blob.stream()), { file, kind: "optimal" })) {
    const found = episodes.get(record.episode);
    checkOptimal(record, found, { file, line });
    const { task, episode, decision, optimal } = record;
    decisions.push({ environment: found!.environment, task, episode, decision, optimal });
  }
  if (decisions.length === 0) throw new InputError("holds no records", { file });
  return { file, decisions };
}
