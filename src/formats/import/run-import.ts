/** One import from detection to the report: what the command and the page call. */
import { environmentRules } from "../../core/environment/environment.ts";
import { InputError } from "../../core/errors.ts";
import type { Episode, EpisodeDecision, Source, SourceDecision, State } from "../../core/record/schema.ts";
import {
  hasUnknownOutcome,
  isTrusted,
  isTrustedFailure,
  isTrustedSuccess,
} from "../../core/record/standing.ts";
import { checkRecord } from "../read.ts";
import { type ImportFiles, label } from "./files.ts";
import { looseSources } from "./graph-catalog/loose-sources.ts";
import type { Detection, ImportContext, ImportedRecord, Importer } from "./importer.ts";
import { IMPORTERS } from "./importers.ts";
import { nothingToImport } from "./own-records.ts";
import { emptyReport, type ImportReport } from "./report.ts";
import { environmentName } from "./single-file/environment-of.ts";

/** Every importer that takes these files for its own, the surest first. */
export async function detectImporters(
  files: ImportFiles,
  importers: readonly Importer[] = IMPORTERS,
): Promise<(Detection & { importer: Importer })[]> {
  const found: (Detection & { importer: Importer })[] = [];
  for (const importer of importers) {
    const detection = await importer.detect(files);
    if (detection !== undefined) found.push({ ...detection, importer });
  }
  return found.sort((a, b) => b.confidence - a.confidence);
}

/**
 * The importer for these files: by name, or the one that is surest of them. `InputError` when the name is unknown,
 * none knows the files, or two are equally sure.
 */
export async function chooseImporter(
  files: ImportFiles,
  format?: string,
  importers: readonly Importer[] = IMPORTERS,
): Promise<Importer> {
  const names = importers.map(({ name }) => name).join(", ");
  if (format !== undefined) {
    const named = importers.find(({ name }) => name === format);
    if (named === undefined) throw new InputError(`no format ${JSON.stringify(format)}; known are ${names}`);
    return named;
  }
  const all = await files.list();
  if (all.length === 0) throw new InputError("holds no files", { file: label(files, "") });
  const [best, second] = await detectImporters(files, importers);
  if (best === undefined) {
    const loose = await looseSources(files);
    if (loose !== undefined) throw new InputError(loose);
    const only = all.length === 1 ? all[0]!.path : undefined;
    const reason = only === undefined ? undefined : await nothingToImport(files, only);
    throw new InputError(reason ?? `not in any format that can be imported; known are ${names}`, {
      file: label(files, only ?? ""),
    });
  }
  if (second !== undefined && second.confidence === best.confidence) {
    throw new InputError(
      `could be ${best.what} (${best.importer.name}) or ${second.what} (${second.importer.name}); name the format`,
      { file: label(files, "") },
    );
  }
  return best.importer;
}

export interface Import {
  importer: Importer;
  /**
   * The records, checked, one task or file in memory at a time. Can be read once. The first fault of the content ends
   * it with an `InputError`: whoever writes the records must then leave nothing behind.
   */
  records: AsyncGenerator<ImportedRecord>;
  /** Filled while `records` is read; whole when it has ended. */
  report: ImportReport;
}

/** Starts an import. `InputError` as in `chooseImporter`. */
export async function runImport(
  files: ImportFiles,
  options: {
    format?: string;
    /** For formats that do not say it; a recording that says or shows another one is an `InputError`. */
    environment?: string;
    signal?: AbortSignal;
    importers?: readonly Importer[];
  } = {},
): Promise<Import> {
  const environment = givenEnvironment(options.environment);
  const importer = await chooseImporter(files, options.format, options.importers);
  const report = emptyReport(importer.name);
  return { importer, report, records: checked(files, importer, report, environment, options.signal) };
}

async function* checked(
  files: ImportFiles,
  importer: Importer,
  report: ImportReport,
  environment: string | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<ImportedRecord> {
  const all = await files.list();
  report.files.found = all.length;
  const used = new Set<string>();
  const skipped = new Set<string>();
  const context: ImportContext = {
    ...(signal === undefined ? {} : { signal }),
    ...(environment === undefined ? {} : { environment }),
    used: (path) => void used.add(path),
    skip(path, reason) {
      skipped.add(path);
      report.skipped.push({ file: label(files, path), reason });
    },
    warn(path, message, key) {
      report.warnings.push({ file: label(files, path), message, ...(key === undefined ? {} : { key }) });
    },
    unaligned(reason) {
      if (!report.unaligned.reasons.includes(reason)) report.unaligned.reasons.push(reason);
    },
  };
  const tally = new Tally(report);
  for await (const imported of importer.records(files, context)) {
    signal?.throwIfAborted();
    if (environment !== undefined && imported.kind !== "score") refuseOther(imported, environment, files);
    tally.add(imported, label(files, imported.file));
    yield imported;
  }
  for (const { path } of all) {
    if (!used.has(path) && !skipped.has(path)) {
      report.skipped.push({ file: label(files, path), reason: `no part of ${importer.name}` });
    }
  }
  report.files.used = used.size;
  if (report.sources + report.episodes + report.scores === 0) {
    throw new InputError(
      report.skipped.length === 0
        ? "holds no records"
        : `gives no records: ${report.skipped[0]!.file}: ${report.skipped[0]!.reason}`,
      { file: label(files, "") },
    );
  }
}

/** The name as records write it. `InputError` for none. */
function givenEnvironment(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const name = environmentName(given.trim());
  if (name === "") throw new InputError("expected the name of an environment", { key: "--environment" });
  return name;
}

/** What a recording says of itself, or shows by an environment's own phrases, is not overruled. */
function refuseOther(
  { record, file, line }: Exclude<ImportedRecord, { kind: "score" }>,
  environment: string,
  files: ImportFiles,
): void {
  if (record.environment === environment) return;
  throw new InputError(
    `is a recording of ${JSON.stringify(record.environment)}, not of ${JSON.stringify(environment)} as given`,
    { file: label(files, file), ...(line === undefined ? {} : { line }), key: "environment" },
  );
}

/** Checks every record against library format 1, finds repeated ids, and counts. */
class Tally {
  readonly #report: ImportReport;
  readonly #ids = new Map<string, string>();
  readonly #tasks = new Set<string>();

  constructor(report: ImportReport) {
    this.#report = report;
  }

  add(imported: ImportedRecord, file: string): void {
    const where = { file, ...(imported.line === undefined ? {} : { line: imported.line }) };
    const report = this.#report;
    if (imported.kind === "score") {
      checkRecord("score-output", imported.record, where);
      this.#unique(["score", imported.record.id], `scores of ${JSON.stringify(imported.record.id)}`, where);
      report.scores++;
      return;
    }
    const { kind, record } = imported;
    checkRecord(kind, record, where);
    if (!report.environments.includes(record.environment)) report.environments.push(record.environment);
    this.#tasks.add(JSON.stringify([record.environment, record.task]));
    report.tasks = this.#tasks.size;
    report.decisions += record.decisions.length;
    if (hasUnknownOutcome(record)) report.outcome_unknown++;
    const words =
      kind === "source"
        ? `source ${JSON.stringify(record.source)} of task ${JSON.stringify(record.task)}`
        : `episode ${JSON.stringify(record.episode)}`;
    this.#malformed(imported, words, file);
    if (kind === "source") {
      this.#unique(["source", record.environment, record.task, record.source], words, where);
      report.sources++;
      report.standing[standingOf(record)]++;
    } else {
      this.#unique(["episode", record.episode], words, where);
      report.episodes++;
    }
    const visits: (State | null)[] = record.decisions.map(({ state }) => state);
    visits.push(record.final_state);
    const absent = visits.filter((state) => state === null).length;
    if (absent === visits.length) {
      report.unaligned[kind === "source" ? "sources" : "episodes"]++;
      report.unaligned.decisions += record.decisions.length;
    } else {
      report.states.visits += visits.length;
      report.states.absent += absent;
    }
  }

  #malformed(
    { record, line }: Exclude<ImportedRecord, { kind: "score" }>,
    words: string,
    file: string,
  ): void {
    const { malformed } = this.#report;
    for (const [n, decision] of record.decisions.entries()) {
      if (decision.status !== "malformed") continue;
      malformed.decisions++;
      const row = line === undefined ? "" : `line ${line}, `;
      const message = problemOf(decision, record.environment);
      malformed.first ??= { file, key: `${row}${words}, decisions[${n}]`, message };
    }
  }

  #unique(id: string[], words: string, where: { file: string }): void {
    const key = JSON.stringify(id);
    const earlier = this.#ids.get(key);
    if (earlier !== undefined) {
      throw new InputError(`${words} came already from ${earlier}; ids must be unique`, where);
    }
    this.#ids.set(key, where.file);
  }
}

/** What the environment's parser finds wrong with the reply; sources keep none. */
function problemOf(decision: SourceDecision | EpisodeDecision, environment: string): string {
  const { response, prompt } = decision as EpisodeDecision;
  const problem =
    response === undefined
      ? null
      : environmentRules(environment).parseResponse(response, prompt ?? decision.observation).problem;
  return problem ?? "the reply holds no action, or several";
}

function standingOf(source: Source): keyof ImportReport["standing"] {
  if (isTrustedSuccess(source)) return "trusted_success";
  if (isTrustedFailure(source)) return "trusted_failure";
  return isTrusted(source) ? "unconfirmed" : "unverified";
}

/** Only the sources of an import. */
export async function* sourcesOf(records: AsyncIterable<ImportedRecord>): AsyncGenerator<Source> {
  for await (const imported of records) if (imported.kind === "source") yield imported.record;
}

/** Only the episodes of an import. */
export async function* episodesOf(records: AsyncIterable<ImportedRecord>): AsyncGenerator<Episode> {
  for await (const imported of records) if (imported.kind === "episode") yield imported.record;
}
