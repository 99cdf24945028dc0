/**
 * What the library worker hands to the drawing thread: plain data, already counted and laid out. Every count says in
 * its name whether it counts visits (a source passing through a state, several times if it returns) or executions
 * (distinct sources).
 */
import type { StateDifference } from "../../core/environment/state-difference.ts";
import type { Evidence, EvidencePart } from "../../core/evidence/types.ts";
import type { WhatIf } from "../../core/evidence/what-if.ts";
import type { Relation, Status } from "../../core/record/schema.ts";
import type { SourceSelection } from "../../core/retrieval/selection.ts";
import type { Retrieval } from "../../core/retrieval/types.ts";
import type { ImportReport } from "../../formats/import/index.ts";
import type { LibraryLink } from "../url/library-link.ts";
import type { EvidenceDiff } from "./library/evidence-diff.ts";
import type { TextDifference } from "./library/text-difference.ts";

/** What a task is called within its library. */
export interface TaskName {
  environment: string;
  task: string;
}

/** One task of one of the open libraries: two libraries may have tasks of the same name, and they stay two. */
export interface TaskRef extends TaskName {
  /** `LibrarySummary.id`. */
  library: string;
}

/** What the index knows about a task: a row of the library table. */
export interface TaskSummary extends TaskName {
  /** Place in `LibrarySummary.tasks`, and in the columns of `TaskColumns`. */
  place: number;
  description: string;
  /** Recorded executions. */
  sources: number;
  /** Those that the environment's rules admit to retrieval: fewer only where it takes trusted records alone. */
  admitted: number;
  /** Recorded executions with `outcome.success`. */
  successes: number;
  /** Those that did not succeed. */
  failures: number;
  /** All others: nobody recorded how they ended. */
  unknown: number;
  episodes: number;
  episodesWon: number;
  /** Decisions of all episodes. */
  decisions: number;
}

/**
 * The columns that need the records themselves, by place of the task: they are counted while the table is on the
 * screen. -1: not counted yet; -2: the task has a record that cannot be read.
 */
export interface TaskColumns {
  /** Tasks counted so far. */
  counted: number;
  /** Distinct locators, over all executions. */
  states: Int32Array;
  /** Those visited by at least two distinct executions. */
  sharedStates: Int32Array;
  /** Student decisions with at least one matched visit: I_x(z_t) is not empty. */
  matched: Int32Array;
  /** Student decisions whose successful reference is a fallback: a whole record, not found through a shared state. */
  fallback: Int32Array;
  /** Student decisions that were recorded with their prompt: a teacher can read only these. */
  prompted: Int32Array;
  /** The first record that could not be read. */
  problem: string | null;
  /** Why records could not be fetched, where counting broke off for that; null while it goes on. */
  brokeOff: string | null;
}

/** Newly counted tasks. */
export interface ColumnBatch {
  places: Uint32Array;
  /** [places × 5] states, shared states, matched decisions, decisions with a fallback, decisions with a prompt of each. */
  counts: Int32Array;
  problem: string | null;
  brokeOff: string | null;
}

export interface FileSummary {
  name: string;
  kind: "sources" | "episodes";
  records: number;
  bytes: number;
}

export interface LibrarySummary {
  /** Id of this opening. Never used again, so that what was kept for one library is never taken for another's. */
  id: string;
  /** How an address names it. */
  link: LibraryLink;
  title: string;
  /** `sample`: shipped with the page. */
  origin: "sample" | "own";
  files: FileSummary[];
  tasks: readonly TaskSummary[];
  /** As far as they were counted on opening: all of a small library. */
  columns: TaskColumns;
  /** Tasks are read over the network: columns are counted for what is in sight unless all are asked for. */
  remote: boolean;
  /** Bytes of all records, unpacked. */
  bytes: number;
  /** Where the index of each file is from, and whether a newly built one is worth keeping beside it. */
  indices: { file: string; from: "kept" | "built"; keep: boolean }[];
  /** What a person should know about how the files were opened, a sentence each. */
  notes: string[];
  /** Decisions with the log-probabilities of a recorded teacher. */
  recordedScores: number;
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
  /** Null where it is not known. */
  success: boolean | null;
  complete: boolean;
  verified: boolean;
  /** Why the record cannot be taken at its word; null where it can. */
  reservation: string | null;
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
  /** Its end leads back to its beginning: a self-loop, or an edge of a longer cycle. */
  cycle: boolean;
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
  selection: WhatIf;
  /** Whether the end-of-turn token was asked for after a response that was recorded as text. */
  endOfTurn: boolean;
  retrieval: Retrieval;
  observation: string;
  action: string | null;
  status: Status;
  feedback: string;
  /** h_t: the student's public context, as text; null where the record carries token ids only. */
  prompt: string | null;
  /** Whether a prompt was recorded, as text or as token ids: without one nothing can be scored. */
  prompted: boolean;
  response: string | null;
  evidence: Evidence;
  /** Counts in tokens, when a tokenizer is loaded. */
  counts: TokenCounts | null;
  /** Why there are no token counts, in one line. */
  countsProblem: string | null;
  /** What to know about them, in one line; null where there is nothing. */
  countsNote: string | null;
  /** What was recorded of the response's tokens; null where nothing was. */
  recorded: RecordedTokens | null;
  /** The same decision under the full method, where something is changed; null where nothing is. */
  full: FullMethod | null;
}

/** How the references of one decision are found; null where none is retained. */
export interface RetainedRelations extends Record<"success" | "failure", Relation | null> {
  /** As an `Explanation` has it. */
  unknownOutcome: boolean;
}

/** What a what-if is compared with: the full method over the whole library. */
export interface FullMethod extends Pick<DecisionModel, "retrieval" | "evidence" | "counts"> {
  /** From its evidence to that of the what-if. */
  diff: EvidenceDiff;
}

/** Log-probabilities that came with the record: measured elsewhere, by models that are not open here. */
export interface RecordedTokens {
  /** `response_ids`; null where the record holds none. */
  ids: number[] | null;
  /** Texts of the tokens, or their ids in words where the open tokenizer does not give the recorded text. */
  pieces: string[];
  /** Why `pieces` are not texts; null when they are. */
  piecesProblem: string | null;
  /** [response tokens] of the recorded teacher, natural log; null where none were recorded. */
  teacher: number[] | null;
  /** The file that the teacher's came from. */
  teacherSource: string | null;
  /** [response tokens] log p_old of the student's rollout; null where none were recorded. */
  student: number[] | null;
  /** Why the teacher's cannot be shown though they are there. */
  problem: string | null;
}

export interface TokenCounts {
  /** Context of the vanilla teacher and of the student: h_t. */
  vanilla: number;
  /** Tokens that h_t lost at its beginning to the environment's limit. */
  cut: number;
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
  /** Why the student cannot score these ids, in one line; null when it can, and where the teacher did not write them. */
  studentProblem: string | null;
}

/** What the teacher reads under evidence before a decision that nobody has made yet. */
export interface PresentContext {
  promptIds: number[];
  /** Empty where the library has none for it. */
  evidence: string;
  /** What was retrieved and why, in words. */
  sentence: string;
}

/** The graph-conditioned context without one part of its evidence. */
export interface LeftOutContext {
  part: EvidencePart;
  promptIds: number[];
  /** Tokens of the evidence that is left. */
  evidenceTokens: number;
  /** True when what is left has repeated observations as back-references, to fit the limit. */
  backReferences: boolean;
  /** Nothing is left: the context is that of the vanilla teacher. */
  vanilla: boolean;
}

/** One of two visits that are set beside each other. */
export interface VisitSide {
  kind: "source" | "episode";
  id: string;
  position: number;
  /** Null where it is not known. */
  success: boolean | null;
  /** T decisions: visit T is the end. */
  decisions: number;
  /** What was seen; at the end, what the last decision was answered. */
  observation: string;
  action: string | null;
  binding: string | null;
  status: Status | "terminal";
  /** What the decision was answered; null at the end. */
  feedback: string | null;
  /** Noncommitted tries of a source. */
  attempts: number;
  gapBefore: boolean;
  /** Key of the locator; null for ⊥. */
  key: string | null;
}

export interface VisitComparison {
  sides: [VisitSide, VisitSide];
  observation: TextDifference;
  feedback: TextDifference;
  state: StateDifference;
}

/** How far an opening is. */
export interface OpenProgress {
  label: string;
  done: number;
  /** 0 while it is unknown. */
  total: number;
  unit: "bytes" | "records" | "tasks" | "files";
}

/** A decision whose optimal actions are known. */
export interface OptimalDecision extends TaskName {
  episode: string;
  decision: number;
  optimal: readonly string[];
}

/** Such decisions of an open library. */
export interface KnownOptimal {
  /** What they came from. */
  file: string;
  /** In the order of the file. */
  decisions: readonly OptimalDecision[];
}
