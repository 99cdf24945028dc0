/** Files of ALFWorld's collector, one execution each, before they are built into a catalog; planners' too. */
import { z } from "zod";
import { InputError } from "../../../core/errors.ts";
import type { Source, SourceDecision } from "../../../core/record/schema.ts";
import {
  alfworldState,
  bindingOf,
  foreignStateSchema,
  HORIZON,
  originKind,
  statusOf,
} from "../decision-fields.ts";
import type { ImportFiles } from "../files.ts";
import { label } from "../files.ts";
import { headText, readForeign } from "../foreign-json.ts";
import type { ImportContext, ImportedRecord, Importer } from "../importer.ts";
import { statedTask } from "./task-sentence.ts";

const stepSchema = z.looseObject({
  observation_before: z.string(),
  action: z.string().nullable(),
  feedback: z.string().nullable(),
  parse_error: z.unknown().optional(),
  format_error: z.unknown().optional(),
  rejection: z.unknown().optional(),
  env_rejection: z.unknown().optional(),
  physical_state_before: foreignStateSchema.nullish(),
  physical_state_after: foreignStateSchema.nullish(),
});

const fileSchema = z.looseObject({
  gamefile: z.string(),
  rep: z.int(),
  model: z.string().nullish(),
  source_kind: z.string().nullish(),
  won: z.boolean(),
  technical_incomplete: z.boolean().nullish(),
  reason: z.string().nullish(),
  initial_observation: z.string().nullish(),
  initial_private_state: foreignStateSchema.nullish(),
  steps: z.array(stepSchema),
});

type CollectorFile = z.infer<typeof fileSchema>;

/** What ALFWorld answers to a command that it does not take. */
const REFUSAL = "Nothing happens.";

/** By the beginning of the file: a collector's file, not a student's and not a catalog's. */
function isCollectorFile(head: string): boolean {
  return (
    /"gamefile"\s*:/.test(head) &&
    /"steps"\s*:/.test(head) &&
    /"rep"\s*:/.test(head) &&
    /"physical_state_before"\s*:/.test(head) &&
    /"alf_pddl|\.tw-pddl"/.test(head) &&
    !/"(student_step|current_obs|policy_version)"\s*:/.test(head)
  );
}

async function jsonFiles(files: ImportFiles): Promise<string[]> {
  return (await files.list()).map(({ path }) => path).filter((path) => /\.json(\.gz)?$/.test(path));
}

export const alfworldSources: Importer = {
  name: "alfworld-sources",
  description: "ALFWorld collector files, one execution each (raw: unverified)",
  async detect(files) {
    for (const path of (await jsonFiles(files)).slice(0, 8)) {
      if (isCollectorFile(await headText(files, path))) {
        return { confidence: 0.9, what: `an ALFWorld collector's file (${label(files, path)})` };
      }
    }
    return undefined;
  },
  async *records(files, context) {
    for (const path of await jsonFiles(files)) {
      if (!isCollectorFile(await headText(files, path))) continue;
      context.signal?.throwIfAborted();
      yield await fileRecord(files, path, context);
    }
  },
};

async function fileRecord(files: ImportFiles, path: string, context: ImportContext): Promise<ImportedRecord> {
  const source = await readForeign(files, path, fileSchema);
  context.used(path);
  if (source.rep < 0) {
    throw new InputError(`expected at least 0, received ${source.rep}`, {
      file: label(files, path),
      key: "rep",
    });
  }
  return { kind: "source", record: sourceRecord(source, path), file: path };
}

function sourceRecord(source: CollectorFile, path: string): Source {
  const { steps, rep, won } = source;
  const kind = originKind(rep, source.source_kind);
  const complete = source.technical_incomplete !== true;
  const decisions = steps.map((step, j): SourceDecision => {
    const marks = {
      format_error: step.format_error ?? step.parse_error,
      rejection: step.rejection ?? step.feedback?.trim() === REFUSAL,
      env_rejection: step.env_rejection,
    };
    const action = statusOf(marks, step.action, null) === "malformed" ? null : step.action;
    const binding = bindingOf(action, null);
    return {
      observation: step.observation_before,
      state: alfworldState(step.physical_state_before),
      action,
      binding,
      status: statusOf(marks, action, binding),
      feedback: step.feedback ?? "",
      score: won && j === steps.length - 1 ? 1 : 0,
      gap_before: false,
      attempts: [],
    };
  });
  const last = steps.at(-1);
  return {
    format: "gcopd.source.v1",
    environment: "alfworld",
    task: source.gamefile,
    source: `${kind}:${rep}`,
    repetition: rep,
    origin: {
      kind,
      ...(typeof source.model === "string" ? { model: source.model } : {}),
      ...(typeof source.source_kind === "string" ? { source_kind: source.source_kind } : {}),
      file: path,
    },
    task_description: statedTask(source.initial_observation ?? "") ?? "",
    initial_observation: decisions[0]?.observation ?? source.initial_observation ?? "",
    decisions,
    final_state: alfworldState(last === undefined ? source.initial_private_state : last.physical_state_after),
    outcome: {
      complete,
      success: complete && won,
      score: decisions.at(-1)?.score ?? null,
      ended: won ? "environment" : steps.length >= HORIZON.alfworld ? "horizon" : "technical",
      verified: false,
      reported_success: won,
      ...(typeof source.reason === "string" ? { end_reason: source.reason } : {}),
    },
  };
}
