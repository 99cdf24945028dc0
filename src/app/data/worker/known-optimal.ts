/** Reads the decisions whose optimal actions are known. */

import { InputError } from "../../../core/errors.ts";
import { checkOptimal } from "../../../core/gate/index.ts";
import { byteChunks } from "../../../formats/bytes.ts";
import { readRecords } from "../../../formats/read.ts";
import type { KnownOptimal, OptimalDecision } from "../model.ts";
import type { RecordLibrary } from "./record-library.ts";

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
