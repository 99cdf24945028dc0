/** Records as tables, for spreadsheets and data frames, and back. */
export { type Cell, COLUMNS, type Column, isTable, type TableRow } from "./columns.ts";
export { csvOf, readCsvRows } from "./csv-text.ts";
export { parquetOf } from "./parquet-bytes.ts";
export { recordsOf, rowsOf } from "./to-rows.ts";
