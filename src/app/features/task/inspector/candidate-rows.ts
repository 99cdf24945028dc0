/** The rows of the table of matched visits, in its order, and the words that find them. */
import { REASON_TEXT, TIE_WORD } from "../../../../core/retrieval/index.ts";
import type { Explanation, MatchedVisit, Retrieval } from "../../../../core/retrieval/types.ts";
import type { DecisionModel } from "../../../data/model.ts";

export interface CandidateRow {
  visit: MatchedVisit;
  /** False for a visit of an execution that is switched off, which would match. */
  takesPart: boolean;
  won: boolean;
}

/** The eligible visits by rank, then the others, then those of executions that are switched off. */
export function candidateRows({
  retrieval,
  full,
  selection,
}: Pick<DecisionModel, "selection"> & {
  retrieval: Retrieval;
  full: Pick<NonNullable<DecisionModel["full"]>, "retrieval"> | null;
}): CandidateRow[] {
  const { matched } = retrieval.explanation;
  const { winner } = retrieval.record;
  const off = new Set(selection.without);
  const visitsOff = full?.retrieval.explanation.matched.filter(({ source }) => off.has(source)) ?? [];
  const won = ({ source, position }: MatchedVisit): boolean =>
    winner?.kind === "source" && winner.source === source && winner.position === position;
  return [
    ...matched
      .toSorted((a, b) => (a.rank ?? Number.MAX_SAFE_INTEGER) - (b.rank ?? Number.MAX_SAFE_INTEGER))
      .map((visit) => ({ visit, takesPart: true, won: won(visit) })),
    ...visitsOff.map((visit) => ({ visit, takesPart: false, won: false })),
  ];
}

/** Why a visit that takes part is not eligible: each reason a line of its own, with the words that lead to it. */
export function reasonLines({ visit, takesPart }: CandidateRow): string[] {
  if (!takesPart || visit.eligible) return [];
  return visit.reasons.map(
    (reason, i) =>
      `${i === 0 ? "not eligible: " : ""}${REASON_TEXT[reason]}${i + 1 < visit.reasons.length ? "; " : ""}`,
  );
}

/** What became of a visit, in words. */
export function outcome(row: CandidateRow): string {
  if (!row.takesPart) return "switched off";
  if (row.won) return "★ winner";
  return row.visit.eligible ? "eligible" : reasonLines(row).join("");
}

/**
 * Rows that are alike, in the order of their first ones: eligible visits that tie at one cost, visits that are rejected
 * for the same reasons, and those of executions that are switched off.
 */
export function alikeRows(rows: readonly CandidateRow[]): CandidateRow[][] {
  const groups = new Map<string, CandidateRow[]>();
  for (const row of rows) {
    const { eligible, cost, reasons } = row.visit;
    const key = !row.takesPart ? "off" : eligible ? `cost ${cost}` : reasons.join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

/** What rows that are alike have in common, with their number. */
export function alikeText([first, ...rest]: readonly CandidateRow[], tie: Explanation["tie"]): string {
  const count = rest.length + 1;
  if (first === undefined || !first.takesPart) return `${count} switched off`;
  if (!first.visit.eligible) return `${count} rejected for this`;
  return first.won && tie !== null ? `${count} tied, broken by ${TIE_WORD[tie]}` : `${count} tied`;
}

/** The rows that have all of these words: of the execution's name, “visit 5”, or what became of it. */
export function foundRows(rows: readonly CandidateRow[], filter: string): readonly CandidateRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const text = `${row.visit.source} visit ${row.visit.position} ${outcome(row)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
