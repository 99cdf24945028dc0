/** What a job's folder tells of the job itself, so that a list of jobs that is lost can be filled again. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeWholeSync } from "../../node/whole-file.ts";
import { Job } from "../../protocol/job.ts";

export const JOB_FILE = "job.json";

/** A job as it was when it was queued, when it last ended, or when it was renamed. */
export const JobRecord = Job.omit({ command: true, last_event: true }).extend({
  /** Automatic attempts in a row that ended before they printed any progress. */
  fruitless: z.int().min(0),
});
export type JobRecord = z.infer<typeof JobRecord>;

/** Writes a job into its folder, whole or not at all. @throws InputError for faults of the disk */
export function writeJobRecord(folder: string, job: JobRecord): void {
  mkdirSync(folder, { recursive: true });
  writeWholeSync(join(folder, JOB_FILE), `${JSON.stringify(JobRecord.parse(job))}\n`, { mode: 0o600 });
}

/** The job of a folder; null where there is none. @throws where it cannot be read, or is not a job */
export function readJobRecord(folder: string): JobRecord | null {
  let text: string;
  try {
    text = readFileSync(join(folder, JOB_FILE), "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
  return JobRecord.parse(JSON.parse(text));
}
