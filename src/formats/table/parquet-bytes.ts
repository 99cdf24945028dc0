/** The table as Parquet (snappy): typed columns, null for an empty cell, a row group at a time. */
import {
  ByteWriter,
  type ColumnSource,
  ParquetWriter,
  schemaFromColumnData,
} from "hyparquet-writer/src/index.js";
import { type Cell, type CellType, COLUMNS, type TableRow } from "./columns.ts";

/** Rows of a row group, and the text it may hold: what is in memory at once. */
const GROUP_ROWS = 8192;
const GROUP_TEXT = 1 << 25;

const TYPES = {
  text: "STRING",
  json: "STRING",
  integer: "INT64",
  number: "DOUBLE",
  boolean: "BOOLEAN",
} as const satisfies Record<CellType, ColumnSource["type"]>;

/** Hands on what was written and starts again at the beginning of its buffer, the offset in the file kept. */
class PartWriter extends ByteWriter {
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.getBytes().slice();
    this.index = 0;
    return bytes;
  }
}

function value(type: CellType, cell: Cell | undefined): unknown {
  if (cell === null || cell === undefined) return null;
  return type === "integer" ? BigInt(cell as number) : cell;
}

function columnsOf(rows: readonly TableRow[]): ColumnSource[] {
  return COLUMNS.map(({ name, type }) => ({
    name,
    type: TYPES[type],
    nullable: true,
    data: rows.map((row) => value(type, row[name])),
  }));
}

function lengthOf(row: TableRow): number {
  let length = 0;
  for (const cell of Object.values(row)) length += typeof cell === "string" ? cell.length : 8;
  return length;
}

/** Rows as the bytes of a Parquet file. */
export async function* parquetOf(rows: AsyncIterable<TableRow>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const writer = new PartWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: schemaFromColumnData({ columnData: columnsOf([]) }),
    createdBy: "gcopd",
  });
  let group: TableRow[] = [];
  let length = 0;
  const flush = async () => {
    await parquet.write({ columnData: columnsOf(group), rowGroupSize: group.length });
    group = [];
    length = 0;
    return writer.take();
  };
  for await (const row of rows) {
    group.push(row);
    length += lengthOf(row);
    if (group.length >= GROUP_ROWS || length >= GROUP_TEXT) yield await flush();
  }
  if (group.length > 0) yield await flush();
  await parquet.finish();
  yield writer.take();
}
