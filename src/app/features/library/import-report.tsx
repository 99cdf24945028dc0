/** What an import gave, and everything that it left out or could not align: nothing is dropped in silence. */
import { groups } from "d3";
import { useState } from "react";
import { environmentNames } from "../../../core/environment/environment.ts";
import { countOf } from "../../../core/plural.ts";
import type { ImportReport as Report } from "../../../formats/import/index.ts";
import { UNKNOWN_ENVIRONMENT } from "../../../formats/import/single-file/environment-of.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { importAgain } from "../../compute/open/open.ts";
import { useUi } from "../../compute/store.ts";
import { libraryOf } from "../../data/open-libraries.ts";

export function ImportReport({ library, report }: { library: string; report: Report }) {
  const { standing, states, unaligned, files, scores, malformed } = report;
  const left = report.skipped.length + report.warnings.length;
  return (
    <details className="panel import-report" open>
      <summary>
        <strong>Imported from {report.format}</strong>: {countOf(report.sources, "execution")},{" "}
        {countOf(report.episodes, "student episode")}, {countOf(report.decisions, "decision")} of{" "}
        {countOf(report.tasks, "task")} (<bdi>{shownName(report.environments.join(", "))}</bdi>); {files.used}{" "}
        of {countOf(files.found, "file")} used{left > 0 && `; ${countOf(left, "remark")}`}
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
        {malformed.first !== null && (
          <li>
            {malformed.decisions} of {countOf(report.decisions, "decision")} have a malformed reply and no
            action. The first: <code>{shownName(malformed.first.file)}</code>,{" "}
            <bdi>{shownName(`${malformed.first.key}: ${malformed.first.message}`, 1000)}</bdi>.
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
            {countOf(scores, "decision")} with the recorded teacher’s log-probabilities: shown in Tokens
            beside the student’s, as recorded.
          </li>
        )}
      </ul>
      {report.environments.includes(UNKNOWN_ENVIRONMENT) && <OtherEnvironment library={library} />}
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

/** What to do where the recordings do not name their environment: name it, and import them again. */
function OtherEnvironment({ library }: { library: string }) {
  const known = useUi((ui) => libraryOf(ui.libraries, library)?.imported ?? null);
  const busy = useUi((ui) => ui.opening !== null);
  const [name, setName] = useState(environmentNames()[0]!);
  if (known === null) return null;
  return (
    <form
      className="say-environment"
      onSubmit={(event) => {
        event.preventDefault();
        void importAgain(library, name);
      }}
    >
      <label>
        The format does not say the environment, and nothing in it shows one. Import as{" "}
        <input
          list="environments"
          value={name}
          data-testid="environment"
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <datalist id="environments">
        {environmentNames().map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <button type="submit" disabled={busy || name.trim() === ""}>
        Import again
      </button>
    </form>
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
                <code>{shownName(members[0]!.file)}</code>: <bdi>{shownName(text, 1000)}</bdi>
              </>
            ) : (
              <details>
                <summary>
                  {countOf(members.length, "file")}: <bdi>{shownName(text, 1000)}</bdi>
                </summary>
                <p className="file-list">
                  {members.map(({ file }, i) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a file may be named twice, and the list stays
                    <code key={i}>{shownName(file)}</code>
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
