/** ALFWorld catalogs: `MANIFEST.json`, `READY.json` and one JSON file per task, with or without planners' sources. */
import { z } from "zod";
import { InputError } from "../../../core/errors.ts";
import type { Source, SourceDecision } from "../../../core/record/schema.ts";
import { CatalogFiles, contextIn, foldersWith } from "../catalog-files.ts";
import {
  bindingOf,
  endedFromReason,
  gapBefore,
  HORIZON,
  keyState,
  originKind,
  statusOf,
} from "../decision-fields.ts";
import { type ImportFiles, label, subfolder } from "../files.ts";
import { checkForeign, headText, parseJson, readForeign } from "../foreign-json.ts";
import type { ImportContext, ImportedRecord, Importer } from "../importer.ts";

const MANIFEST = "MANIFEST.json";

const manifestSchema = z.looseObject({
  tasks: z.array(z.looseObject({ gamefile: z.string(), catalog: z.string(), sha256: z.string().nullish() })),
});

const stepSchema = z.looseObject({
  observation_before: z.string(),
  action: z.string().nullable(),
  semantic_action: z.string().nullish(),
  feedback: z.string().nullable(),
  key_before: z.string().nullable(),
  key_after: z.string().nullable(),
  format_error: z.unknown().optional(),
  rejection: z.unknown().optional(),
  env_rejection: z.unknown().optional(),
  rolled_back_attempt: z.boolean().nullish(),
  recording_gap_before: z.boolean().nullish(),
  continuous_from_previous: z.boolean().nullish(),
});

const sourceSchema = z.looseObject({
  rep: z.int(),
  won: z.boolean(),
  trusted_complete: z.boolean(),
  trusted_success: z.boolean().nullish(),
  source_won: z.boolean().nullish(),
  source_kind: z.string().nullish(),
  model: z.string().nullish(),
  end_reason: z.string().nullish(),
  source_attempt_summary: z.looseObject({ accepted_decisions: z.int().nullish() }).nullish(),
  initial_key: z.string().nullish(),
  steps: z.array(stepSchema),
});

const taskSchema = z.looseObject({
  gamefile: z.string(),
  /** Only in catalogs that this program wrote, as are a source's `model` and `end_reason`. */
  task_description: z.string().nullish(),
  sources: z.array(sourceSchema),
  planner_attempt_record: z.string().nullish(),
  planner_excluded_reason: z.string().nullish(),
});

type CatalogSource = z.infer<typeof sourceSchema>;

async function catalogFolders(files: ImportFiles): Promise<string[]> {
  const found: string[] = [];
  for (const folder of await foldersWith(files, MANIFEST)) {
    const place = subfolder(files, folder);
    const head = await headText(place, MANIFEST);
    const taskFiles = (await place.list()).some(({ path }) => /^[0-9a-f]{64}\.json$/.test(path));
    if (head.includes('"source_files"')) continue;
    if (head.includes('"catalog"') || head.includes('"alf_pddl') || taskFiles) found.push(folder);
  }
  return found;
}

export const alfworldCatalog: Importer = {
  name: "alfworld-catalog",
  description: "ALFWorld catalog: MANIFEST.json and one JSON file per task",
  async detect(files) {
    const [folder] = await catalogFolders(files);
    if (folder === undefined) return undefined;
    return { confidence: 1, what: `an ALFWorld catalog (${label(subfolder(files, folder), MANIFEST)})` };
  },
  async *records(files, context) {
    const folders = await catalogFolders(files);
    if (folders.length === 0) {
      throw new InputError(`has no ${MANIFEST} of an ALFWorld catalog`, { file: label(files, "") });
    }
    for (const folder of folders) {
      for await (const record of catalogRecords(subfolder(files, folder), contextIn(context, folder))) {
        yield folder === "" ? record : { ...record, file: `${folder}/${record.file}` };
      }
    }
  },
};

async function* catalogRecords(files: ImportFiles, context: ImportContext): AsyncGenerator<ImportedRecord> {
  const named = new CatalogFiles(files, context);
  const manifest = await readForeign(files, MANIFEST, manifestSchema);
  context.used(MANIFEST);
  if (await named.has("READY.json")) context.used("READY.json");
  else context.warn("READY.json", "not there: whoever built this catalog may not have finished it");
  const seen = new Set<string>();
  for (const [index, { gamefile, catalog, sha256 }] of manifest.tasks.entries()) {
    if (seen.has(gamefile)) {
      throw new InputError(`task ${JSON.stringify(gamefile)} already exists; expected each task once`, {
        file: label(files, MANIFEST),
        key: `tasks[${index}].gamefile`,
      });
    }
    seen.add(gamefile);
    const found = await named.read(catalog);
    if (!found.found) {
      context.skip(found.path, `${found.reason}; task ${gamefile} is left out`);
      continue;
    }
    // Damage is a fault; a whole file that is another one than the manifest means is left out.
    const value = await parseJson(found.bytes, found.file);
    if (typeof sha256 !== "string") {
      context.warn(found.path, "the manifest has no SHA-256 for it: used unchecked");
    } else if (sha256.toLowerCase() !== found.sha256) {
      context.skip(found.path, `its SHA-256 differs from the manifest's; task ${gamefile} is left out`);
      continue;
    }
    const task = checkForeign(taskSchema, value, found.file);
    if (task.gamefile !== gamefile) {
      throw new InputError(
        `is of task ${JSON.stringify(task.gamefile)}; the manifest names it for ${JSON.stringify(gamefile)}`,
        { file: found.file, key: "gamefile" },
      );
    }
    context.used(found.path);
    const repetitions = new Set<number>();
    for (const [at, source] of task.sources.entries()) {
      if (repetitions.has(source.rep)) {
        throw new InputError(`repetition ${source.rep} already exists; expected each once`, {
          file: found.file,
          key: `sources[${at}].rep`,
        });
      }
      repetitions.add(source.rep);
      yield { kind: "source", record: sourceRecord(task, source), file: found.path };
    }
    const planner = task.planner_attempt_record;
    if (typeof planner === "string" && (await named.has(planner))) {
      const excluded = task.planner_excluded_reason;
      context.skip(
        planner,
        typeof excluded === "string"
          ? `the planner's own record of a run that the catalog leaves out (${excluded})`
          : "the planner's own record of a source that the catalog holds",
      );
    }
  }
}

function endedOf({ won, end_reason: reason, steps }: CatalogSource): Source["outcome"]["ended"] {
  if (won) return "environment";
  if (typeof reason === "string") return endedFromReason(reason);
  return steps.length >= HORIZON.alfworld ? "horizon" : "technical";
}

function sourceRecord(
  { gamefile, task_description: description }: z.infer<typeof taskSchema>,
  source: CatalogSource,
): Source {
  const { steps, rep } = source;
  const won = source.won;
  const trusted = source.trusted_complete;
  const complete = trusted || source.source_attempt_summary?.accepted_decisions === steps.length;
  const claim = source.source_won ?? won;
  const kind = originKind(rep, source.source_kind);
  const decisions = steps.map((step, j): SourceDecision => {
    const action = statusOf(step, step.action, null) === "malformed" ? null : step.action;
    const binding = bindingOf(action, step.semantic_action);
    return {
      observation: step.observation_before,
      state: keyState(step.key_before),
      action,
      binding,
      status: statusOf(step, action, binding),
      feedback: step.feedback ?? "",
      // The catalog has no scores; the environment pays once, for the step that wins.
      score: won && j === steps.length - 1 ? 1 : 0,
      gap_before: gapBefore(step),
      attempts: [],
    };
  });
  const last = steps.at(-1);
  return {
    format: "gcopd.source.v1",
    environment: "alfworld",
    task: gamefile,
    source: `${kind}:${rep}`,
    repetition: rep,
    origin: {
      kind,
      ...(typeof source.model === "string" ? { model: source.model } : {}),
      ...(typeof source.source_kind === "string" ? { source_kind: source.source_kind } : {}),
    },
    task_description: description ?? "",
    initial_observation: decisions[0]?.observation ?? "",
    decisions,
    final_state: keyState(last === undefined ? source.initial_key : last.key_after),
    outcome: {
      complete,
      success: trusted ? won && source.trusted_success === true : complete && claim,
      score: decisions.at(-1)?.score ?? null,
      ended: endedOf(source),
      verified: trusted,
      reported_success: claim,
    },
  };
}
