/** "Verify by playing": each record of the task, and all of them. */
import { useEffect, useState } from "react";
import { countOf } from "../../../../core/plural.ts";
import { describeFault } from "../../../base/faults.ts";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { useGames } from "../../../compute/games/games.ts";
import { OpenGames } from "../../../compute/games/make-games.tsx";
import { missingGame, type RecordRef, unplayable } from "../../../compute/games/play-record.ts";
import { useSimulatorProblem } from "../../../compute/games/simulator.ts";
import { recordKey, recordsOf, useVerdicts, type Verdict, verifier } from "../../../compute/games/verify.ts";
import type { TaskModel, TaskRef } from "../../../data/model.ts";

/** Drawing more lines than this takes long; every record is verified all the same. */
const MOST_LINES = 200;

export function VerifySection({ task }: { task: TaskModel }) {
  const [open, setOpen] = useState(false);
  return (
    <section className="part">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Verify by playing</summary>
        {open && <Records task={task} />}
      </details>
    </section>
  );
}

const isOf = (task: TaskModel, other: TaskRef): boolean =>
  task.library === other.library && task.environment === other.environment && task.task === other.task;

function Records({ task }: { task: TaskModel }) {
  // The worker may report later whether it plays ScienceWorld.
  useSimulatorProblem();
  const never = unplayable(task);
  useGames(({ tasks }) => tasks);
  const { verdicts, all } = useVerdicts();
  const [read, setRead] = useState<readonly RecordRef[] | string | null>(null);
  useEffect(() => {
    let current = true;
    if (never === null)
      recordsOf(task).then(
        (found) => current && setRead(found),
        (error) => current && setRead(describeFault(error)),
      );
    return () => {
      current = false;
    };
  }, [task, never]);
  if (never !== null) return <p className="note">{never}</p>;
  if (read === null) return <p className="note">Reading the records…</p>;
  if (typeof read === "string") return <p role="alert">{read}</p>;
  const missing = missingGame(task);
  const found = read.flatMap((record) => verdicts[recordKey(record)] ?? []);
  const of = (kind: Verdict["kind"]): number => found.filter((verdict) => verdict.kind === kind).length;
  return (
    <>
      <p className="note">
        Each record is replayed{task.environment === "scienceworld" ? " on the worker" : " in the page"}.
        Every text, score, state and ending must come out the same.
      </p>
      {missing !== null && (
        <div className="what-if-row" data-testid="missing-game">
          {missing} <OpenGames />
        </div>
      )}
      <div className="what-if-row">
        <button
          type="button"
          disabled={missing !== null || all !== null}
          onClick={() => void verifier.all(task, read)}
        >
          Verify all {countOf(read.length, "record")}
        </button>
        {all !== null && (
          <>
            <progress aria-label="Records verified" value={all.done} max={all.total} />
            <button type="button" onClick={() => verifier.stop()}>
              Cancel
            </button>
          </>
        )}
      </div>
      <p className="note" role="status" data-testid="verified">
        {all !== null
          ? `${isOf(task, all.task) ? "" : `Records of ${shownName(all.task.task, 80)}: `}${all.done} of ${all.total}${all.left === null ? "" : `, ${all.left} left`}`
          : found.length > 0 &&
            `${of("verified")} verified, ${of("differs")} ${of("differs") === 1 ? "differs" : "differ"}, ${of("missing")} not played`}
      </p>
      <ul className="verify-list">
        {read.slice(0, MOST_LINES).map((record) => (
          <Line
            key={recordKey(record)}
            record={record}
            verdict={verdicts[recordKey(record)] ?? null}
            blocked={missing !== null || all !== null}
          />
        ))}
      </ul>
      {read.length > MOST_LINES && (
        <p className="note">The first {MOST_LINES} are listed; all of them are verified together.</p>
      )}
    </>
  );
}

function Line({
  record,
  verdict,
  blocked,
}: {
  record: RecordRef;
  verdict: Verdict | null;
  blocked: boolean;
}) {
  const name = shownName(record.id, 80);
  return (
    <li data-record={record.id}>
      <span>
        <Name>{name}</Name> <span className="note">{record.kind === "source" ? "execution" : "episode"}</span>
      </span>
      <button
        type="button"
        disabled={blocked || verdict?.kind === "playing"}
        aria-label={`Verify ${name} by playing`}
        onClick={() => void verifier.verify(record)}
      >
        Verify
      </button>
      {verdict !== null && <span className={`verdict ${verdict.kind}`}>{verdict.text}</span>}
    </li>
  );
}
