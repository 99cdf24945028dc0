import type { Command } from "commander";
import { InputError } from "../../core/errors.ts";
import { countOf } from "../../core/plural.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { readAnyRecords } from "../../formats/read.ts";
import type { TableRow } from "../../formats/table/columns.ts";
import { csvOf } from "../../formats/table/csv-text.ts";
import { parquetOf } from "../../formats/table/parquet-bytes.ts";
import { rowsOf } from "../../formats/table/to-rows.ts";
import { UsageError } from "../command.ts";
import { fileLabel, openBytes, progress, writeOut, writeRecordsOut } from "../io.ts";
import { writeCatalog } from "../write-catalog.ts";

const FORMATS = ["jsonl", "csv", "parquet"] as const;
type Format = (typeof FORMATS)[number];
/** A folder, so that no name of `--out` tells it. */
const CATALOG = "catalog";

interface Options {
  out: string;
  format?: string;
}

export function register(program: Command): void {
  program
    .command("export")
    .description(
      "Write sources or episodes as records (.jsonl, .jsonl.gz), CSV (.csv, .csv.gz) or Parquet (.parquet), or sources " +
        "as a catalog of the method's authors (--format catalog). Tables have one row a visit; `gcopd import` turns them " +
        "back into equal records. docs/importing.md names the columns.",
    )
    .argument("<library>", "source or episode records (.jsonl, .jsonl.gz, or - for standard input)")
    .requiredOption(
      "--out <file>",
      "file to write (- for standard output, with --format); for a catalog, its new folder",
    )
    .option("--format <format>", `${FORMATS.join(", ")}, ${CATALOG}; told by the name of --out when absent`)
    .action(run);
}

function formatOf({ out, format }: Options): Format {
  const named = /\.(jsonl|csv|parquet)(\.gz)?$/i.exec(out);
  const wanted = format ?? named?.[1]?.toLowerCase();
  const found = FORMATS.find((name) => name === wanted);
  if (found === undefined) {
    throw new UsageError(
      format === undefined
        ? `--out ${out}: expected a name that ends in ${FORMATS.map((name) => `.${name}`).join(", ")}, or --format`
        : `--format ${format}: expected ${FORMATS.join(", ")}, ${CATALOG}`,
    );
  }
  if (found === "parquet" && out.endsWith(".gz")) {
    throw new UsageError(`--out ${out}: Parquet is compressed inside; leave out .gz`);
  }
  return found;
}

async function run(library: string, options: Options): Promise<void> {
  if (options.format === CATALOG) {
    if (options.out === "-")
      throw new UsageError("--out -: a catalog is a folder; expected the name of a new one");
    const { tasks, files } = await writeCatalog(library, options.out);
    progress(`${options.out}: a catalog of ${countOf(tasks, "task")} in ${countOf(files, "file")}`);
    return;
  }
  const format = formatOf(options);
  const count = { records: 0, rows: 0 };
  async function* records(): AsyncGenerator<Source | Episode> {
    const file = fileLabel(library);
    for await (const { kind, record, line } of readAnyRecords(openBytes(library), { file })) {
      if (kind !== "source" && kind !== "episode") {
        throw new InputError(`expected sources or episodes, received a record of kind ${kind}`, {
          file,
          line,
        });
      }
      count.records++;
      yield record as Source | Episode;
    }
    if (count.records === 0) throw new InputError("holds no records", { file });
  }
  async function* rows(): AsyncGenerator<TableRow> {
    for await (const record of records()) {
      for (const row of rowsOf(record)) {
        count.rows++;
        yield row;
      }
    }
  }
  if (format === "jsonl") await writeRecordsOut(options.out, records());
  else await writeOut(options.out, format === "csv" ? csvOf(rows()) : parquetOf(rows()));
  const what = countOf(count.records, "record");
  progress(`${options.out}: ${what}${format === "jsonl" ? "" : ` in ${countOf(count.rows, "row")}`}`);
}
