import type { Command } from "commander";
import { plainLine } from "../../core/plain-text.ts";
import { countOf } from "../../core/plural.ts";
import {
  describeReport,
  IMPORTERS,
  type ImportedRecord,
  type ImportReport,
  runImport,
} from "../../formats/import/index.ts";
import { UsageError } from "../command.ts";
import { importFolder } from "../import-folder.ts";
import { checkOut, progress, writeOut } from "../io.ts";
import { RecordSink } from "../record-sink.ts";

interface Options {
  out?: string;
  format?: string;
  environment?: string;
  episodesOut?: string;
  scoresOut?: string;
  report?: string | true;
}

export function register(program: Command): void {
  program
    .command("import")
    .description(
      "Convert what other programs recorded to records of library format 1. The format is recognised, or named. " +
        "Tells on standard error what came in, how it stands, what carries no states, and every file that was not " +
        "used, with the reason. See docs/importing.md.",
    )
    .argument("<path>", "folder or file to import")
    .option(
      "--out <library>",
      "where sources go (.gz is compressed); standard output if absent. What gives no sources (a student's run) has its episodes there",
    )
    .option("--format <name>", `instead of recognising it: ${IMPORTERS.map(({ name }) => name).join(", ")}`)
    .option(
      "--environment <name>",
      "of what the recordings are, for formats that do not say it (sharegpt, openai-chat, atif, verl); refused where they say or show another one",
    )
    .option("--episodes-out <file>", "where episodes go")
    .option("--scores-out <file>", "where teacher scores go; they are counted and left out if absent")
    .option(
      "--report [file]",
      "name every file, also where many have the same reason; with a file, write the report there as JSON",
    )
    .action(run);
}

type Kind = ImportedRecord["kind"];

const KINDS: Record<Kind, string> = { source: "sources", episode: "episodes", score: "scores" };

/** Where records of each kind go; opened when the first of its kind comes. */
class Sinks {
  readonly #named: Partial<Record<Kind, string>>;
  readonly #out: string | undefined;
  readonly #open = new Map<Kind, RecordSink>();
  /** What `--out` holds: the first kind that has no file of its own. */
  #outKind: Kind | undefined;
  /** Scores that no file was named for. */
  leftOut = 0;

  constructor(options: Options) {
    this.#out = options.out;
    this.#named = {
      ...(options.episodesOut === undefined ? {} : { episode: options.episodesOut }),
      ...(options.scoresOut === undefined ? {} : { score: options.scoresOut }),
    };
    const paths = [options.out, options.episodesOut, options.scoresOut].filter((path) => path !== undefined);
    if (new Set(paths).size < paths.length) throw new UsageError("two outputs have the same name");
  }

  async push({ kind, record }: ImportedRecord): Promise<void> {
    let sink = this.#open.get(kind);
    if (sink === undefined) {
      const named = this.#named[kind];
      if (named === undefined) {
        if (kind === "score") {
          this.leftOut++;
          return;
        }
        this.#outKind ??= kind;
        if (this.#outKind !== kind) {
          throw new UsageError(
            `the import gives ${KINDS[this.#outKind]} and ${KINDS[kind]}: name a second file with --episodes-out`,
          );
        }
      }
      sink = new RecordSink(named ?? this.#out);
      this.#open.set(kind, sink);
    }
    await sink.push(record);
  }

  /** The outputs that were named and got nothing. */
  empty(): string[] {
    const names: string[] = [];
    if (this.#out !== undefined && this.#outKind === undefined) names.push(`${this.#out} (sources)`);
    for (const kind of ["episode", "score"] as const) {
      if (this.#named[kind] !== undefined && !this.#open.has(kind)) {
        names.push(`${this.#named[kind]} (${KINDS[kind]})`);
      }
    }
    return names;
  }

  async close(): Promise<void> {
    for (const sink of this.#open.values()) await sink.flush();
    for (const sink of this.#open.values()) await sink.close();
  }

  async discard(error: unknown): Promise<void> {
    for (const sink of this.#open.values()) await sink.discard(error);
  }
}

/** Milliseconds between lines of progress. */
const PROGRESS = 5000;

async function run(path: string, options: Options): Promise<void> {
  for (const out of [options.out, options.episodesOut, options.scoresOut]) await checkOut(out, path);
  const files = await importFolder(path);
  const { records, report } = await runImport(files, {
    ...(options.format === undefined ? {} : { format: options.format }),
    ...(options.environment === undefined ? {} : { environment: options.environment }),
  });
  const sinks = new Sinks(options);
  let told = Date.now();
  try {
    for await (const record of records) {
      await sinks.push(record);
      if (Date.now() - told > PROGRESS) {
        told = Date.now();
        progress(describeCounts(report));
      }
    }
    await sinks.close();
  } catch (error) {
    await sinks.discard(error);
    throw error;
  }
  for (const line of describeReport(report, { full: options.report === true })) progress(plainLine(line));
  if (sinks.leftOut > 0) {
    progress(`not written: ${sinks.leftOut} lists of teacher scores; name a file with --scores-out`);
  }
  for (const name of sinks.empty()) progress(`not written: ${name}: the import gives none`);
  if (typeof options.report === "string")
    await writeOut(options.report, [`${JSON.stringify(report, null, 2)}\n`]);
}

function describeCounts(report: ImportReport): string {
  return `${countOf(report.sources, "source")} and ${countOf(report.episodes, "episode")} of ${countOf(report.tasks, "task")} so far`;
}
