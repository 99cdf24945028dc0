/**
 * The paper's case study (Section "Case study": `look` from 97.69% to 26.81%) for any scored decision: what the
 * evidence does to the tokens of the student's response, the largest changes first.
 */

import { type Side, sideOf, teacherOf, withEvidence, withoutEvidence } from "../../../compute/side.ts";
import type { TokenScores } from "../../../compute/store.ts";
import type { DecisionModel } from "../../../data/model.ts";

/** How many rows: the largest changes, or the whole response in its own order. */
export type CaseSize = number | "whole";

export const CASE_SIZES: readonly CaseSize[] = [5, 10, 20, 50, "whole"];

/** Figures are natural logarithms of probabilities. */
export interface CaseRow {
  /** Place in the response, from 0. */
  position: number;
  id: number;
  /** The token's text as it is. */
  token: string;
  vanilla: number;
  graph: number;
  /** Null where no student was scored. */
  student: number | null;
  /** log p(graph) − log p(vanilla). */
  delta: number;
}

/** What the figures are of. */
export interface CaseContext {
  environment: string;
  task: string;
  episode: string;
  decision: number;
  /** The full method, or what differs from it, in words. */
  evidence: string;
  teacher: string;
  /** Arithmetic and device of the teacher. */
  computed: string;
  student: string | null;
}

export interface CaseTable {
  context: CaseContext;
  /** What the two compared columns are called. */
  headings: readonly [string, string];
  /** Keys of the two sides: `vanilla` and `graph`, or others that were chosen. */
  compared: readonly [string, string];
  rows: CaseRow[];
  /** Tokens of the response; `rows` shows all of them or the largest changes. */
  tokens: number;
  whole: boolean;
  /** Σ Δ over the whole response. */
  sum: number;
}

/** The two columns of the paper's table. */
const PAPER = ["Vanilla teacher", "Graph-conditioned teacher"] as const;

/** Two sides of the same tokens, in place of the teacher without and with the evidence. */
export interface CaseSides {
  base: Pick<Side, "key" | "label" | "logprobs">;
  side: Pick<Side, "key" | "label" | "logprobs">;
}

/** The part of `TokenScores` that the table needs. */
export type CaseScores = Pick<TokenScores, "pieces" | "ids" | "sides">;

/** Rows with the largest |Δ| first, the earlier token first among equals; the whole response in its own order. */
export function caseTable(
  decision: Pick<DecisionModel, "environment" | "task" | "episode" | "decision">,
  evidence: string,
  scores: CaseScores,
  size: CaseSize,
  sides: CaseSides | null = null,
): CaseTable {
  const { pieces, ids } = scores;
  const [teacher, student] = [teacherOf(scores), sideOf(scores, "student")];
  const { base, side } = sides ?? { base: withoutEvidence(scores), side: withEvidence(scores) };
  const [vanilla, graph] = [base.logprobs, side.logprobs];
  const all = pieces.map(
    (token, position): CaseRow => ({
      position,
      id: ids[position]!,
      token,
      vanilla: vanilla[position]!,
      graph: graph[position]!,
      student: student?.logprobs[position] ?? null,
      delta: graph[position]! - vanilla[position]!,
    }),
  );
  const whole = size === "whole" || size >= all.length;
  const rows =
    size === "whole"
      ? all
      : [...all]
          .sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta) || a.position - b.position)
          .slice(0, size);
  return {
    context: {
      environment: decision.environment,
      task: decision.task,
      episode: decision.episode,
      decision: decision.decision,
      evidence,
      teacher: teacher.model,
      computed: `${teacher.dtype}, ${teacher.device === "webgpu" ? "WebGPU" : "CPU reference"}`,
      student: student === undefined ? null : student.provenance.engine!.model,
    },
    headings: sides === null ? PAPER : [capital(base.label), capital(side.label)],
    compared: [base.key, side.key],
    rows,
    tokens: all.length,
    whole,
    sum: all.reduce((total, row) => total + row.delta, 0),
  };
}

function capital(label: string): string {
  return label.charAt(0).toUpperCase() + label.slice(1);
}

/**
 * A part of the context line: the line's own words, words that may quote a record, a recorded name (set as code), a
 * change in log-probability.
 */
export type ContextPart = string | { words: string } | { name: string } | { nats: number };

/** "Task …, episode …, decision …; teacher …": what the figures are of, in one line. */
export function contextLine({ context, rows, tokens, whole, sum }: CaseTable): ContextPart[] {
  const { environment, task, episode, decision, evidence, teacher, computed, student } = context;
  return [
    "Task ",
    { name: task },
    " (",
    { name: environment },
    "), episode ",
    { name: episode },
    `, decision ${decision}. Teacher `,
    { name: teacher },
    " (",
    { words: computed },
    ")",
    ...(student === null ? [] : [", student ", { name: student }]),
    "; evidence: ",
    { words: evidence },
    ". ",
    whole
      ? `All ${tokens} response tokens`
      : `The ${rows.length} of ${tokens} response tokens that change most`,
    "; over the whole response Δ log p is ",
    { nats: sum },
    " nats.",
  ];
}
