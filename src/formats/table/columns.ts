/**
 * Records as a table: one row a visit. A record with T decisions gives T+1 rows, positions 0 … T; the last is the
 * terminal visit and holds what belongs to the whole record. A cell that is empty stands for the column's usual value
 * (null, "" or an empty list); whatever a row's cells cannot say exactly stands in `rest`, so nothing is lost.
 */

export type CellType = "text" | "integer" | "number" | "boolean" | "json";

export type Cell = string | number | boolean | null;

export interface Column {
  name: string;
  type: CellType;
  /** What it holds, for the documentation. */
  about: string;
}

/** In every row. */
export const KEY_COLUMNS = [
  { name: "format", type: "text", about: "gcopd.source.v1 or gcopd.episode.v1" },
  { name: "environment", type: "text", about: "environment" },
  { name: "task", type: "text", about: "task id" },
  { name: "source", type: "text", about: "source id; empty for episodes" },
  { name: "episode", type: "text", about: "episode id; empty for sources" },
  { name: "repetition", type: "integer", about: "repetition of a source; empty for episodes" },
  { name: "position", type: "integer", about: "visit, from 0; T for the terminal one" },
  { name: "terminal", type: "boolean", about: "true in the last row of a record" },
] as const satisfies readonly Column[];

/** The locator of the visit: `state`, or `final_state` in the terminal row. Empty: an unreliable capture. */
export const STATE_COLUMNS = [
  { name: "state_key", type: "text", about: "locator key of the visit; empty for no usable state" },
  { name: "state_mode", type: "text", about: "the parser's control state" },
  { name: "state_options", type: "json", about: "options of an open menu; empty for none" },
] as const satisfies readonly Column[];

/** In the rows of decisions. */
export const DECISION_COLUMNS = [
  { name: "observation", type: "text", about: "what the agent saw" },
  { name: "action", type: "text", about: "parsed action; empty for a malformed reply" },
  { name: "binding", type: "text", about: "what a menu choice stood for" },
  { name: "status", type: "text", about: "executed, binding, rejected, malformed or rolled_back" },
  { name: "feedback", type: "text", about: "what the environment said" },
  {
    name: "score",
    type: "number",
    about: "score after the decision; in the terminal row that of the outcome",
  },
  { name: "gap_before", type: "boolean", about: "the recording is not continuous here; empty for false" },
  {
    name: "entry_allowed",
    type: "boolean",
    about: "false: ruled out as the entry of a successful suffix; empty for true",
  },
  { name: "attempts", type: "json", about: "noncommitted retries before the decision; empty for none" },
  { name: "prompt", type: "text", about: "the student's prompt" },
  { name: "prompt_ids", type: "json", about: "its tokens" },
  { name: "response", type: "text", about: "the student's response" },
  { name: "response_ids", type: "json", about: "its tokens" },
  { name: "rollout_logprobs", type: "json", about: "log p_old of each response token" },
] as const satisfies readonly Column[];

/** In the terminal row. */
export const RECORD_COLUMNS = [
  { name: "origin_kind", type: "text", about: "teacher, planner, oracle, human or other" },
  { name: "origin_model", type: "text", about: "model of the origin" },
  { name: "task_description", type: "text", about: "task text" },
  { name: "initial_observation", type: "text", about: "first observation" },
  { name: "complete", type: "boolean", about: "no decision is missing" },
  { name: "success", type: "boolean", about: "the environment's completed success" },
  { name: "ended", type: "text", about: "environment, horizon or technical" },
  { name: "verified", type: "boolean", about: "replay-checked" },
  {
    name: "reported_success",
    type: "boolean",
    about: "what the original claims; empty for the same as success",
  },
] as const satisfies readonly Column[];

const REST = {
  name: "rest",
  type: "json",
  about: "keys that no other cell of the row says exactly",
} as const;

/** All columns, in order. */
export const COLUMNS: readonly Column[] = [
  ...KEY_COLUMNS,
  ...STATE_COLUMNS,
  ...DECISION_COLUMNS,
  ...RECORD_COLUMNS,
  REST,
];

/** One row: cells by column name; absent means empty. */
export type TableRow = Partial<Record<string, Cell>>;

/** True when a file with these columns is such a table: the ones without which no row can be read. */
export function isTable(names: readonly string[]): boolean {
  return ["format", "environment", "task", "position", "terminal", "rest"].every((name) =>
    names.includes(name),
  );
}
