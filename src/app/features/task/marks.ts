/** What the current decision's retrieval says about single visits, for the matrix and the graph. */
import type { Retrieval } from "../../../core/retrieval/types.ts";

/** Letters of a mark: e eligible, r matched but rejected, t tied at the least cost, w winner, a anchor's best, f failed reference, p pinned. */
export type MarkFlags = string;

export interface VisitMarks {
  /** By source id, then position. */
  sources: ReadonlyMap<string, ReadonlyMap<number, MarkFlags>>;
  /** By student position: c current, a anchor of the success, f anchor of the failure. */
  student: ReadonlyMap<number, MarkFlags>;
}

/** Everything that one decision's retrieval marks. */
export function visitMarks(
  retrieval: Retrieval,
  decision: number,
  pinned: { source: string; position: number } | null,
): VisitMarks {
  const sources = new Map<string, Map<number, MarkFlags>>();
  const student = new Map<number, MarkFlags>();
  const add = (source: string, position: number, flag: string): void => {
    const row = sources.get(source) ?? new Map<number, MarkFlags>();
    row.set(position, (row.get(position) ?? "") + flag);
    sources.set(source, row);
  };
  const addStudent = (position: number, flag: string): void => {
    student.set(position, (student.get(position) ?? "") + flag);
  };
  const { record, explanation } = retrieval;
  for (const visit of explanation.matched) add(visit.source, visit.position, visit.eligible ? "e" : "r");
  if (explanation.tie !== null) {
    const least = Math.min(...record.candidates.map(({ cost }) => cost));
    for (const { source, position, cost } of record.candidates)
      if (cost === least) add(source, position, "t");
  }
  if (record.winner?.kind === "source") add(record.winner.source, record.winner.position, "w");
  const { success, failure } = record;
  if (success?.relation === "historical" && success.position !== null) {
    add(success.source, success.position, "a");
    if (success.student_position !== null) addStudent(success.student_position, "a");
  }
  if (failure !== null && failure.position !== null) {
    add(failure.source, failure.position, "f");
    if (failure.student_position !== null) addStudent(failure.student_position, "f");
  }
  addStudent(decision, "c");
  if (pinned !== null) add(pinned.source, pinned.position, "p");
  return { sources, student };
}

/** The marks of one row as a short string that changes exactly when they do, so that unchanged rows are left alone. */
export function rowMarks(marks: ReadonlyMap<number, MarkFlags> | undefined): string {
  return marks === undefined ? "" : [...marks].map(([position, flags]) => `${position}${flags}`).join(" ");
}

/** The inverse of `rowMarks`. */
export function parseRowMarks(text: string): Map<number, MarkFlags> {
  const marks = new Map<number, MarkFlags>();
  for (const [, position, flags] of text.matchAll(/(\d+)([a-z]+)/g)) marks.set(Number(position), flags!);
  return marks;
}

/** The marks in words, for labels. */
export function markText(flags: MarkFlags): string {
  const words: Record<string, string> = {
    c: "current decision",
    e: "matched and eligible",
    r: "matched but not eligible",
    t: "tied at the least cost",
    w: "winner",
    a: "anchor of the successful reference",
    f: "anchor of the failed reference",
    p: "pinned",
  };
  return [...flags]
    .map((flag) => words[flag] ?? "")
    .filter(Boolean)
    .join(", ");
}
