/** What is kept of a launched run: beside its files here, and in its own folder on the target. */
import { z } from "zod";
import { there } from "../../protocol/target.ts";
import { RUN_STATES } from "./launcher.ts";
import { targetSchema } from "./target.ts";

export const ID = /^[\w][\w.-]*$/;

/** Name of a run, for people. */
export const titleSchema = z.string().trim().min(1).max(200);

/** What a run's own folder says of it, for whoever imports it. */
export const runSchema = z.object({
  format: z.literal("gcopd.run.v1"),
  id: z.string().regex(ID),
  created_at: z.iso.datetime(),
  /** Version of the package that launched it. */
  version: z.string(),
  /** On the target. */
  folder: there,
  command: z.string(),
  config_sha256: z.string(),
  title: titleSchema.optional(),
});

export const recordSchema = z.object({
  run: runSchema,
  /** Its name, and what it said then: a target that is changed later does not lose its runs. */
  target: z.object({ name: z.string(), is: targetSchema }),
  attempt: z.int().min(1),
  /** The target still has the command of the attempts before. */
  rewrite: z.boolean().default(false),
  /** Null until the target has taken the attempt. */
  submitted_at: z.iso.datetime().nullable(),
  /** Why the target did not get it when that was tried last; absent once it has. */
  problem: z.string().optional(),
  /** What the target said last. */
  last: z
    .object({
      state: z.enum(RUN_STATES),
      code: z.int().nullable(),
      at: z.iso.datetime(),
      // Records of an earlier version have none of these.
      asked: z.enum(["stop", "cancel"]).nullable().default(null),
      began: z.number().nullable().default(null),
      seconds: z.number().nullable().default(null),
    })
    .nullable(),
});

export type RunRecord = z.infer<typeof recordSchema>;
