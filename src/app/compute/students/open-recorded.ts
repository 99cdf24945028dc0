/** Recorded results of `gcopd experiment` that are dropped or picked: drawn behind the students of the page. */
import { RESULTS_FORMAT } from "../../../core/loop/index.ts";
import type { PathFile } from "../../base/dropped-files.ts";
import { readRecorded } from "./recorded-results.ts";
import { useStudents } from "./students-store.ts";

/** Whether a file begins as the results of an experiment do. */
export async function isRecordedResults({ path, file }: PathFile): Promise<boolean> {
  if (!/\.json$/i.test(path)) return false;
  const start = await file.slice(0, 200).text();
  return start.replaceAll(/\s/g, "").startsWith(`{"format":"${RESULTS_FORMAT}"`);
}

/** @throws InputError for a file that is none */
export async function openRecorded({ path, file }: PathFile): Promise<void> {
  useStudents.setState({ recorded: readRecorded(await file.text(), path) });
}
