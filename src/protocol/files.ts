/** Files on the worker's disk: where they lie, what a job reads and wrote, and the folder that is shared with the page. */
import { z } from "zod";

export const Files = z
  .object({
    jobs: z.string().meta({ description: "Folder with a folder for each job, by its id." }),
    shared: z
      .string()
      .nullable()
      .meta({ description: "Folder that `--files` shares with the page; null when none is." }),
    program: z.array(z.string()).meta({
      description: "What stands for `gcopd` in a shell of this machine, word by word, in any folder.",
    }),
    environment: z.record(z.string(), z.string()).meta({
      description: "Variables that jobs take over and that decide what they read and compute on. No secrets.",
    }),
    sample: z
      .object({
        library: z.string(),
        episodes: z.string(),
        teacher: z.string(),
        student: z.string(),
        tokenizer: z.string(),
      })
      .nullable()
      .meta({ description: "The sample's files on this disk; null when they are not there." }),
  })
  .meta({ id: "Files" });
export type Files = z.infer<typeof Files>;

/** A file that was sent for a job. */
export const InputFile = z.object({
  path: z.string().meta({ description: "Absolute, for the job's config." }),
  bytes: z.int(),
});

export const ResultFile = z
  .object({
    path: z.string().meta({ description: "Path below the job's output folder.", example: "scores.jsonl" }),
    bytes: z.int().min(0),
    modified_at: z.iso.datetime(),
  })
  .meta({ id: "ResultFile" });
export type ResultFile = z.infer<typeof ResultFile>;

/** What is in a job's output folder, or was fetched of a run's. */
export const Results = z.object({ folder: z.string(), files: z.array(ResultFile) });

export const SharedEntry = z
  .object({
    name: z.string(),
    kind: z.enum(["file", "folder"]),
    bytes: z.int().nullable().meta({ description: "Of a file; null of a folder." }),
    modified_at: z.iso.datetime(),
  })
  .meta({ id: "SharedEntry" });
export type SharedEntry = z.infer<typeof SharedEntry>;

export const SharedList = z.object({
  /** Below the shared folder, with `/` between folders; empty for that folder itself. */
  path: z.string(),
  entries: z.array(SharedEntry),
  /** Entries that are there and not listed. */
  more: z.int(),
});
export type SharedList = z.infer<typeof SharedList>;
