/** The report in lines for people. */
import type { ImportReport } from "./report.ts";

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** So many lines of the same words are shown before the rest is counted. */
const SAME = 8;

/** Lines that differ in their file only, the rest of many counted. */
function grouped(entries: readonly { file: string; text: string }[], kind: string, full: boolean): string[] {
  const shown = new Map<string, number>();
  const lines: string[] = [];
  for (const { file, text } of entries) {
    const number = (shown.get(text) ?? 0) + 1;
    shown.set(text, number);
    if (full || number <= SAME) lines.push(`${kind}: ${file}: ${text}`);
  }
  if (full) return lines;
  for (const [text, number] of shown) {
    if (number > SAME) lines.push(`${kind}: ${number - SAME} more: ${text} (--report names each)`);
  }
  return lines;
}

/**
 * The report in lines: what came in, how it stands, what is unaligned, each file left out, each warning. Where more
 * than a few have the same words the rest is counted, unless `full`.
 */
export function describeReport(report: ImportReport, options: { full?: boolean } = {}): string[] {
  const full = options.full === true;
  const parts: string[] = [];
  if (report.sources > 0) parts.push(count(report.sources, "source"));
  if (report.episodes > 0) parts.push(count(report.episodes, "episode"));
  if (report.sources + report.episodes > 0) {
    parts.push(`${count(report.decisions, "decision")} of ${count(report.tasks, "task")}`);
  }
  if (report.scores > 0) parts.push(count(report.scores, "scored decision"));
  const place = report.environments.length === 0 ? "" : ` (${report.environments.join(", ")})`;
  const lines = [`${report.format}: ${parts.join(", ")}${place}`];
  const { standing, states, unaligned, malformed } = report;
  if (report.sources > 0) {
    const standings: [number, string][] = [
      [standing.trusted_success, "verified successes"],
      [standing.trusted_failure, "verified failures"],
      [standing.unconfirmed, "claimed successes that replay did not confirm"],
      [standing.unverified, "unverified"],
    ];
    lines.push(
      `sources: ${standings
        .filter(([number]) => number > 0)
        .map(([number, words]) => `${number} ${words}`)
        .join(", ")}`,
    );
  }
  if (states.absent > 0)
    lines.push(`states: ${states.absent} of ${states.visits} visits have no usable state`);
  if (malformed.first !== null) {
    lines.push(
      `malformed: ${malformed.decisions} of ${count(report.decisions, "reply", "replies")}, with action null; ` +
        `the first: ${malformed.first.file}, ${malformed.first.key}: ${malformed.first.message}`,
    );
  }
  if (report.outcome_unknown > 0) {
    lines.push(
      `outcome unknown: ${count(report.outcome_unknown, "record")}; use as success or failure only once someone says which`,
    );
  }
  if (unaligned.sources + unaligned.episodes > 0) {
    const records: string[] = [];
    if (unaligned.sources > 0) records.push(count(unaligned.sources, "source"));
    if (unaligned.episodes > 0) records.push(count(unaligned.episodes, "episode"));
    const why = unaligned.reasons.length === 0 ? "no state keys recorded" : unaligned.reasons.join("; ");
    lines.push(`unaligned: ${records.join(" and ")} (${count(unaligned.decisions, "decision")}): ${why}`);
  }
  lines.push(`files: ${report.files.used} of ${report.files.found} used`);
  lines.push(
    ...grouped(
      report.skipped.map(({ file, reason }) => ({ file, text: reason })),
      "not used",
      full,
    ),
    ...grouped(
      report.warnings.map(({ file, key, message }) => ({
        file: key === undefined ? file : `${file}, ${key}`,
        text: message,
      })),
      "warning",
      full,
    ),
  );
  return lines;
}
