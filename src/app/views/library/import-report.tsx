/** What an import gave, and everything that it left out or could not align: nothing is dropped in silence. */
import { groups } from "d3";
import type { ImportReport as Report } from "../../../core/record/import/index.ts";
import { countOf } from "../../shell/plural.ts";

export function ImportReport({ report }: { report: Report }) {
  const { standing, states, unaligned, files, scores } = report;
  const left = report.skipped.length + report.warnings.length;
  return (
    <details className="panel import-report" open>
      <summary>
        <strong>Imported from {report.format}</strong>: {countOf(report.sources, "execution")},{" "}
        {countOf(report.episodes, "student episode")}, {countOf(report.decisions, "decision")} of{" "}
        {countOf(report.tasks, "task")} ({report.environments.join(", ")}); {files.used} of{" "}
        {countOf(files.found, "file")} used{left > 0 && `; ${countOf(left, "remark")}`}
      </summary>
      <ul>
        {report.sources > 0 && (
          <li>
            Executions: {standing.trusted_success} verified successes, {standing.trusted_failure} verified
            failures, {standing.unconfirmed} claimed successes that replay did not confirm,{" "}
            {standing.unverified} unverified.
          </li>
        )}
        {states.absent > 0 && (
          <li>
            {states.absent} of {countOf(states.visits, "visit")} have no usable state and match nothing.
          </li>
        )}
        {unaligned.sources + unaligned.episodes > 0 && (
          <li>
            <strong>Unaligned:</strong> {countOf(unaligned.sources, "execution")} and{" "}
            {countOf(unaligned.episodes, "student episode")} ({countOf(unaligned.decisions, "decision")}) have
            no state keys and can only be references without alignment
            {unaligned.reasons.length > 0 && `: ${unaligned.reasons.join("; ")}`}.
          </li>
        )}
        {report.outcome_unknown > 0 && (
          <li>
            {countOf(report.outcome_unknown, "record")} of unknown outcome: neither success nor failure.
          </li>
        )}
        {scores > 0 && (
          <li>
            {countOf(scores, "scored decision")} of the recorded teacher: the page scores anew and does not
            show them; <code>gcopd import</code> keeps them.
          </li>
        )}
      </ul>
      <Remarks
        title="Not used"
        entries={report.skipped.map(({ file, reason }) => ({ file, text: reason }))}
      />
      <Remarks
        title="Warnings"
        entries={report.warnings.map(({ file, key, message }) => ({
          file: key === undefined ? file : `${file}, ${key}`,
          text: message,
        }))}
      />
    </details>
  );
}

/** Remarks of the same words together, each with all its files. */
function Remarks({ title, entries }: { title: string; entries: { file: string; text: string }[] }) {
  if (entries.length === 0) return null;
  const alike = groups(entries, ({ text }) => text);
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {alike.map(([text, members]) => (
          <li key={text}>
            {members.length === 1 ? (
              <>
                <code>{members[0]!.file}</code>: {text}
              </>
            ) : (
              <details>
                <summary>
                  {countOf(members.length, "file")}: {text}
                </summary>
                <p className="file-list">
                  {members.map(({ file }, i) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a file may be named twice, and the list stays
                    <code key={i}>{file}</code>
                  ))}
                </p>
              </details>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
