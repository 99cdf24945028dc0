/** The table as comma-separated values: RFC 4180, UTF-8, `\n` between rows, a header first. */
import Papa from "papaparse";
import { InputError } from "../../core/errors.ts";
import { shownBytes } from "../../core/shown-bytes.ts";
import { type ByteSource, byteChunks } from "../bytes.ts";
import { maybeGunzip } from "../gunzip.ts";
import { LONGEST_LINE } from "../lines.ts";
import { type Cell, COLUMNS, isTable, type TableRow } from "./columns.ts";
import type { RowLocation } from "./to-rows.ts";

const NAMES = COLUMNS.map(({ name }) => name);
const TYPES = new Map<string, string>(COLUMNS.map(({ name, type }) => [name, type]));
/** Rows turned to text at once. */
const BATCH = 512;

/** Text that a spreadsheet would take for a formula (OWASP, CSV injection), or that would read as such text's cell. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;

/** Figures are none: a score may begin with its minus sign. */
function shown(cell: Cell | undefined): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell !== "string") return JSON.stringify(cell);
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** The text that `shown` made a cell of. */
function unshown(text: string): string {
  return text.startsWith("'") && FORMULA.test(text) ? text.slice(1) : text;
}

function textOf(rows: readonly TableRow[]): string {
  const cells = rows.map((row) => NAMES.map((name) => shown(row[name])));
  return `${Papa.unparse(cells, { newline: "\n" })}\n`;
}

/** Rows as CSV text, the header first. */
export async function* csvOf(rows: AsyncIterable<TableRow>): AsyncGenerator<string> {
  yield `${NAMES.join(",")}\n`;
  let batch: TableRow[] = [];
  for await (const row of rows) {
    batch.push(row);
    if (batch.length < BATCH) continue;
    yield textOf(batch);
    batch = [];
  }
  if (batch.length > 0) yield textOf(batch);
}

/** The columns of a text that begins as such a table; undefined for any other text. */
export function firstRecordColumns(head: string): string[] | undefined {
  const line = head.slice(0, head.search(/\r?\n|$/));
  const names = line
    .replace(/^\ufeff/, "")
    .split(",")
    .map((name) => name.replace(/^"(.*)"$/, "$1"));
  return isTable(names) ? names : undefined;
}

function cellOf(name: string, text: string, place: RowLocation): Cell {
  if (text === "") return null;
  switch (TYPES.get(name)) {
    case "boolean":
      if (/^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
      throw new InputError(`expected true or false, received ${JSON.stringify(text.slice(0, 40))}`, {
        ...place,
        key: name,
      });
    case "integer":
    case "number": {
      const number = Number(text);
      if (/^\s*$/.test(text) || !Number.isFinite(number)) {
        throw new InputError(`expected a number, received ${JSON.stringify(text.slice(0, 40))}`, {
          ...place,
          key: name,
        });
      }
      return number;
    }
    default:
      return unshown(text);
  }
}

/** Text in parts that each end where a row ends: an even number of quotation marks lies before. */
async function* wholeRows(bytes: ByteSource, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let scanned = 0;
  let quoted = false;
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch {
      throw new InputError("not valid UTF-8", { file });
    }
  };
  for await (const chunk of maybeGunzip(byteChunks(bytes), file)) {
    text += decode(chunk);
    let end = -1;
    for (; scanned < text.length; scanned++) {
      const character = text.charCodeAt(scanned);
      if (character === 0x22) quoted = !quoted;
      else if (character === 0x0a && !quoted) end = scanned;
    }
    if (end < 0) {
      if (text.length > LONGEST_LINE)
        throw new InputError(`a row longer than ${shownBytes(LONGEST_LINE)}, the most that one may have`, {
          file,
        });
      continue;
    }
    yield text.slice(0, end + 1);
    text = text.slice(end + 1);
    scanned = text.length;
  }
  text += decode();
  if (text !== "") yield text;
}

/** Rows of a CSV table, in order. `line` is the row's number, the header being 1. */
export async function* readCsvRows(
  bytes: ByteSource,
  file: string,
): AsyncGenerator<{ row: TableRow; place: RowLocation }> {
  let header: string[] | undefined;
  let line = 0;
  for await (const part of wholeRows(bytes, file)) {
    const { data, errors } = Papa.parse<string[]>(part, {
      delimiter: ",",
      newline: part.endsWith("\r\n") && header === undefined ? "\r\n" : "\n",
      skipEmptyLines: false,
    });
    const fault = errors[0];
    if (fault !== undefined) {
      throw new InputError(`not CSV: ${fault.message}`, { file, line: line + 1 + (fault.row ?? 0) });
    }
    // The text ends with a line feed, after which the parser sees one more, empty row.
    if (part.endsWith("\n")) data.pop();
    for (const cells of data) {
      line++;
      if (header === undefined) {
        header = cells;
        if (!isTable(header))
          throw new InputError("expected the header of an exported table", { file, line });
        continue;
      }
      const place = { file, line };
      if (cells.length !== header.length) {
        throw new InputError(`expected ${header.length} cells, received ${cells.length}`, place);
      }
      const row: TableRow = {};
      for (const [n, name] of header.entries())
        if (TYPES.has(name)) row[name] = cellOf(name, cells[n]!, place);
      yield { row, place };
    }
  }
  if (header === undefined)
    throw new InputError("is empty; expected the header of an exported table", { file });
}
