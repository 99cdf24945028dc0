/**
 * What the library worker hands to the drawing thread: plain data, already counted and laid out. Every count says in
 * its name whether it counts visits (a source passing through a state, several times if it returns) or executions
 * (distinct sources).
 */
import type { Evidence } from "../core/evidence/types.ts";
import type { ImportReport } from "../core/record/import/index.ts";
import type { Status } from "../core/record/schema.ts";
import type { Selection, SourceSelection } from "../core/retrieval/selection.ts";
import type { Retrieval } from "../core/retrieval/types.ts";

/** What a task, an episode and a decision are called. */
export interface TaskRef {
  environment: string;
  task: string;
}

export interface TaskSummary extends TaskRef {
  description: string;
  /** Recorded executions. */
  sources: number;
  /** Of them, with `outcome.success`. */
  successes: number;
  /** Of them, without. */
  failures: number;
  /** Distinct locators, over all executions. */
  states: number;
  /** Of them, visited by at least two distinct executions. */
  sharedStates: number;
  episodes: number;
  episodesWon: number;
  /** Decisions of all episodes. */
  decisions: number;
  /** Of them, with at least one matched visit: I_x(z_t) is not empty. */
  matchedDecisions: number;
}

export interface FileSummary {
  name: string;
  kind: "sources" | "episodes";
  records: number;
  bytes: number;
}

export interface LibrarySummary {
  title: string;
  origin: "sample" | "own";
  files: FileSummary[];
  tasks: TaskSummary[];
  /** What an import of other programs' recordings gave and left out; null for files in the workbench's own format. */
  imported: ImportReport | null;
  /** One line for each environment that has no rules of its own. */
  environmentNotes: string[];
}

/** One visit (r, j) as a cell of the matrix. */
export interface Cell {
  /** Index into `TaskModel.states`; null for ⊥, and for a student's state that no source visited. */
  state: number | null;
  /** False for ⊥: the capture is unreliable and matches nothing. */
  located: boolean;
  /** Null at the terminal visit and for a malformed response. */
  action: string | null;
  status: Status | "terminal";
  gapBefore: boolean;
}

/** One execution as a row of the matrix: a source, or a student episode. */
export interface Execution {
  id: string;
  kind: "source" | "student";
  origin: string;
  success: boolean;
  complete: boolean;
  verified: boolean;
  score: number | null;
  ended: string;
  /** T decisions. */
  decisions: number;
  /** T + 1 visits. */
  cells: Cell[];
}

/** One node of G_x. */
export interface StateModel {
  /** A, B, …, Z, AA, …: given to states shared by at least two executions, in order of first visit; else empty. */
  letter: string;
  mode: string;
  options: [string, string][];
  /** |I_x(z)|: visits of sources. */
  visits: number;
  /** Distinct sources among them. */
  executions: number;
  /** Least remaining decisions to the end of a successful source, over its visits here; null if none succeeds. */
  cost: number | null;
  /** Smallest position over its visits. */
  step: number;
}

/** Where the nodes of G_x are drawn: columns from the left (what they mean depends on the axis), rows from the top. */
export interface GraphLayout {
  /** [states] column of each state. */
  column: number[];
  /** [states] row of each state, 0 ≤ row ≤ rows - 1; may be a half. */
  row: number[];
  columns: number;
  rows: number;
  /** By cost: leading columns that hold the states from which no verified success is recorded. By step: 0. */
  lead: number;
}

export interface EdgeModel {
  from: number;
  to: number;
  /** How often the transition was recorded. */
  transitions: number;
  /** Distinct sources that took it. */
  executions: number;
}

export interface TaskModel extends TaskRef {
  description: string;
  /** Which of the recorded executions take part: those of `sources`. */
  selection: SourceSelection;
  /** Recorded executions that do not, by the selection or by the environment's rules. */
  leftOut: number;
  states: StateModel[];
  edges: EdgeModel[];
  /** By step of the first visit: column = step. By cost: the last column is cost 0. */
  layouts: { step: GraphLayout; cost: GraphLayout };
  sources: Execution[];
  episodes: Execution[];
}

/** One decision of one episode with everything that was derived from it. */
export interface DecisionModel extends TaskRef {
  episode: string;
  decision: number;
  /** What retrieval and evidence were asked for; nothing for the full method. */
  selection: Selection;
  retrieval: Retrieval;
  observation: string;
  action: string | null;
  status: Status;
  feedback: string;
  /** h_t: the student's public context, as text; null where the record carries token ids only. */
  prompt: string | null;
  response: string | null;
  evidence: Evidence;
  /** Counts in tokens, when a tokenizer is loaded. */
  counts: TokenCounts | null;
  /** Why there are no token counts, in one line. */
  countsProblem: string | null;
}

export interface TokenCounts {
  /** Context of the vanilla teacher and of the student: h_t. */
  vanilla: number;
  /** Context of the graph-conditioned teacher: h_t with R_t. */
  graph: number;
  /** R_t alone. */
  evidence: number;
  response: number;
}

/** What is scored: one response under two contexts. */
export interface ScorePair {
  vanillaIds: number[];
  graphIds: number[];
  responseIds: number[];
  /** The text of each response token; bytes that are a part of a character only show as `<0xE2>`. */
  pieces: string[];
}
