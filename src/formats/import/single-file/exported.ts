/** Tables that `gcopd export` wrote, back to records: CSV and Parquet. */
import { checkRecord } from "../../read.ts";
import { COLUMNS, isTable, type TableRow } from "../../table/columns.ts";
import { readCsvRows } from "../../table/csv-text.ts";
import { type RowLocation, recordsOf } from "../../table/to-rows.ts";
import { label } from "../files.ts";
import type { Importer } from "../importer.ts";
import { cachedPeek, candidates, firstCandidates, lookAt } from "./file-importer.ts";
import type { Peek } from "./peek.ts";
import { readRows } from "./rows.ts";

const NAMES = new Set(COLUMNS.map(({ name }) => name));

function isExported(found: Peek | undefined): found is Peek {
  if (found?.container === "csv") return true;
  return found?.container === "parquet" && isTable(Object.keys(found.first ?? {}));
}

async function* tableRows(
  rows: ReturnType<typeof readRows>,
): AsyncGenerator<{ row: TableRow; place: RowLocation }> {
  for await (const { value, where } of rows) {
    yield {
      row: Object.fromEntries(Object.entries(value).filter(([name]) => NAMES.has(name))) as TableRow,
      place: where,
    };
  }
}

export const exportedTables: Importer = {
  name: "table",
  description: "tables that `gcopd export` wrote (CSV, Parquet), back to records",
  async detect(files) {
    const some = await firstCandidates(files);
    let fitting = 0;
    for (const file of some) if (isExported(await cachedPeek(files, file))) fitting++;
    return fitting === 0 ? undefined : { confidence: fitting / some.length, what: "an exported table" };
  },
  async *records(files, context) {
    for (const file of await candidates(files)) {
      const found = await lookAt(files, file);
      if (!isExported(found)) continue;
      context.used(file.path);
      const name = label(files, file.path);
      const rows =
        found.container === "csv"
          ? readCsvRows(files.open(file.path), name)
          : tableRows(readRows(files, found));
      for await (const { record, place } of recordsOf(rows, name)) {
        const line = place.line === undefined ? {} : { line: place.line };
        if (record.format === "gcopd.source.v1") {
          yield { kind: "source", file: file.path, ...line, record: checkRecord("source", record, place) };
        } else {
          yield { kind: "episode", file: file.path, ...line, record: checkRecord("episode", record, place) };
        }
      }
    }
  },
};
