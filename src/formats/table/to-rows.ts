/** Records to table rows and back. What the cells cannot say exactly goes into `rest`: every record comes back equal. */
import { InputError } from "../../core/errors.ts";
import { jsonType } from "../../core/record/describe-issue.ts";
import type { Episode, Source } from "../../core/record/schema.ts";
import { jsonText } from "../write.ts";
import { type Cell, DECISION_COLUMNS, type TableRow } from "./columns.ts";
import { sameValue } from "./same-value.ts";

type Keys = Record<string, unknown>;

export interface RowLocation {
  file: string;
  line?: number;
  key?: string;
}

/** Text that UTF-8 cannot hold (half a surrogate pair) or that ends as something else in a cell stays out of cells. */
function textCell(value: unknown): Cell {
  return typeof value === "string" && !/\p{Surrogate}/u.test(value) ? value : null;
}

function jsonCell(value: unknown): Cell {
  return Array.isArray(value) && value.length > 0 ? jsonText(value) : null;
}

function cellOf(type: string, value: unknown): Cell {
  if (type === "json") return jsonCell(value);
  if (type === "number" || type === "integer") return typeof value === "number" ? value : null;
  if (type === "boolean") return typeof value === "boolean" ? value : null;
  return textCell(value);
}

function parsedCell(cell: Cell | undefined, name: string, place: RowLocation): unknown {
  if (typeof cell !== "string")
    throw new InputError(`expected JSON text, received ${jsonType(cell)}`, { ...place, key: name });
  try {
    return JSON.parse(cell);
  } catch {
    throw new InputError("expected JSON text", { ...place, key: name });
  }
}

function isEmpty(cell: Cell | undefined): cell is null | undefined | "" {
  return cell === null || cell === undefined || cell === "";
}

/** What `final_state` or `state` the cells say. */
function stateOfCells(row: TableRow, place: RowLocation): unknown {
  if (isEmpty(row.state_key) && isEmpty(row.state_mode)) return null;
  return {
    key: row.state_key ?? "",
    mode: row.state_mode ?? "",
    options: isEmpty(row.state_options) ? {} : parsedCell(row.state_options, "state_options", place),
  };
}

/** Keys of a decision that every decision has, and what an empty cell of theirs means. */
const DEFAULTS: Keys = {
  observation: "",
  action: null,
  binding: null,
  status: "executed",
  feedback: "",
  score: null,
  gap_before: false,
};

/** What the cells of a decision's row say. */
function decisionOfCells(row: TableRow, isSource: boolean, place: RowLocation): Keys {
  const decision: Keys = {};
  for (const { name, type } of DECISION_COLUMNS) {
    const cell = row[name];
    if (name === "action") decision.state = stateOfCells(row, place);
    if (!isEmpty(cell)) decision[name] = type === "json" ? parsedCell(cell, name, place) : cell;
    else if (Object.hasOwn(DEFAULTS, name)) decision[name] = DEFAULTS[name];
    else if (name === "attempts" && isSource) decision.attempts = [];
  }
  return decision;
}

const OUTCOME = ["complete", "success", "score", "ended", "verified", "reported_success"] as const;

/** What the cells of the terminal row say about the whole record, its decisions left out. */
function recordOfCells(row: TableRow, place: RowLocation): Keys {
  const isSource = row.format === "gcopd.source.v1";
  const outcome: Keys = {};
  for (const name of OUTCOME) {
    if (!isEmpty(row[name])) outcome[name] = row[name];
    else if (name === "score") outcome.score = null;
  }
  return {
    format: row.format,
    environment: row.environment ?? "",
    task: row.task ?? "",
    ...(isSource ? { source: row.source ?? "", repetition: row.repetition } : { episode: row.episode ?? "" }),
    ...(isEmpty(row.origin_kind)
      ? {}
      : {
          origin: {
            kind: row.origin_kind,
            ...(isEmpty(row.origin_model) ? {} : { model: row.origin_model }),
          },
        }),
    task_description: row.task_description ?? "",
    initial_observation: row.initial_observation ?? "",
    final_state: stateOfCells(row, place),
    outcome,
  };
}

function set(target: Keys, key: string, value: unknown): void {
  // An own `__proto__`, which JSON may have, must stay a key.
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

/** The keys of `wanted` that `said` does not say, as the row's `rest`. */
function restOf(wanted: Keys, said: Keys): Cell {
  const rest: Keys = {};
  let some = false;
  for (const [key, value] of Object.entries(wanted)) {
    if (Object.hasOwn(said, key) && sameValue(said[key], value)) continue;
    set(rest, key, value);
    some = true;
  }
  return some ? jsonText(rest) : null;
}

function withRest(said: Keys, row: TableRow, place: RowLocation): Keys {
  if (isEmpty(row.rest)) return said;
  const rest = parsedCell(row.rest, "rest", place);
  if (typeof rest !== "object" || rest === null || Array.isArray(rest)) {
    throw new InputError(`expected a JSON object, received ${jsonType(rest)}`, { ...place, key: "rest" });
  }
  for (const [key, value] of Object.entries(rest)) set(said, key, value);
  return said;
}

function stateCells(state: Source["final_state"]): TableRow {
  if (state === null) return {};
  return {
    state_key: textCell(state.key),
    state_mode: textCell(state.mode),
    state_options: Object.keys(state.options).length === 0 ? null : JSON.stringify(state.options),
  };
}

const NOWHERE: RowLocation = { file: "" };

/** Rows of one record: positions 0 … T. */
export function* rowsOf(record: Source | Episode): Generator<TableRow> {
  const isSource = record.format === "gcopd.source.v1";
  const common: TableRow = {
    format: record.format,
    environment: textCell(record.environment),
    task: textCell(record.task),
    source: isSource ? textCell(record.source) : null,
    episode: isSource ? null : textCell(record.episode),
    repetition: isSource ? (record.repetition as number) : null,
  };
  for (const [position, decision] of record.decisions.entries()) {
    const row: TableRow = { ...common, position, terminal: false, ...stateCells(decision.state) };
    for (const { name, type } of DECISION_COLUMNS) row[name] = cellOf(type, (decision as Keys)[name]);
    row.rest = restOf(decision, decisionOfCells(row, isSource, NOWHERE));
    yield row;
  }
  const { decisions, ...whole } = record as Keys & { decisions: unknown[] };
  const origin = (whole.origin ?? {}) as Keys;
  const row: TableRow = {
    ...common,
    position: decisions.length,
    terminal: true,
    ...stateCells(record.final_state),
    origin_kind: textCell(origin.kind),
    origin_model: textCell(origin.model),
    task_description: textCell(whole.task_description),
    initial_observation: textCell(whole.initial_observation),
  };
  for (const name of OUTCOME) {
    const value = (record.outcome as Keys)[name];
    row[name] = typeof value === "string" ? textCell(value) : ((value ?? null) as Cell);
  }
  row.rest = restOf(whole, recordOfCells(row, NOWHERE));
  yield row;
}

/** Records of rows, in order. `InputError` when rows are missing, out of order or of another record. */
export async function* recordsOf(
  rows: AsyncIterable<{ row: TableRow; place: RowLocation }>,
  file: string,
): AsyncGenerator<{ record: Keys; place: RowLocation }> {
  let decisions: Keys[] = [];
  let first: TableRow | undefined;
  for await (const { row, place } of rows) {
    const kind = row.format;
    if (kind !== "gcopd.source.v1" && kind !== "gcopd.episode.v1") {
      throw new InputError(
        `expected "gcopd.source.v1" or "gcopd.episode.v1", received ${JSON.stringify(kind ?? null)}`,
        { ...place, key: "format" },
      );
    }
    first ??= row;
    for (const name of ["format", "environment", "task", "source", "episode"] as const) {
      if ((row[name] ?? null) !== (first[name] ?? null)) {
        throw new InputError("another record begins before the terminal row of the one before", {
          ...place,
          key: name,
        });
      }
    }
    if (row.position !== decisions.length) {
      throw new InputError(`expected ${decisions.length}, received ${JSON.stringify(row.position ?? null)}`, {
        ...place,
        key: "position",
      });
    }
    if (typeof row.terminal !== "boolean") {
      throw new InputError(`expected boolean, received ${jsonType(row.terminal ?? null)}`, {
        ...place,
        key: "terminal",
      });
    }
    if (!row.terminal) {
      decisions.push(withRest(decisionOfCells(row, kind === "gcopd.source.v1", place), row, place));
      continue;
    }
    const record = withRest(recordOfCells(row, place), row, place);
    yield { record: { ...record, decisions }, place };
    decisions = [];
    first = undefined;
  }
  if (first !== undefined) {
    throw new InputError(
      `ends within the record of task ${JSON.stringify(first.task ?? "")}: its terminal row is missing`,
      {
        file,
      },
    );
  }
}
