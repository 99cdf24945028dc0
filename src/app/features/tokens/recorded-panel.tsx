/** What came with the record: the recorded teacher's log-probabilities beside the student's, token by token. */

import { nats, shortToken } from "../../base/format.ts";
import { shownName } from "../../base/text/shown-text.ts";
import type { RecordedTokens } from "../../data/model.ts";
import { deltaLimit, themedDelta } from "./delta-colour.ts";
import { TokenCells, TokenGrid, TokenHeads } from "./token-cells.tsx";

const NONE = "–";

export function RecordedPanel({ recorded, pinned }: { recorded: RecordedTokens; pinned: number | null }) {
  const { pieces, piecesProblem, teacher, teacherSource, student, problem } = recorded;
  const advantages =
    teacher === null || student === null
      ? null
      : Float32Array.from(teacher, (value, i) => value - student[i]!);
  const colour = advantages === null ? null : themedDelta(deltaLimit(advantages));
  // Another tokenizer may have made more tokens of the response than were recorded.
  const reached = pinned !== null && pinned < pieces.length ? pinned : 0;
  const sum = (values: ArrayLike<number>): number =>
    Array.from(values).reduce((total, value) => total + value, 0);
  return (
    <section className="panel recorded" aria-labelledby="recorded-title" data-testid="recorded">
      <div className="panel-head">
        <h2 id="recorded-title">Recorded with the episode</h2>
        <span className="note">measured when it was recorded, not by the models that are open here</span>
      </div>
      <dl className="provenance">
        <div>
          <dt>teacher</dt>
          <dd>
            {teacherSource === null ? (
              "no scores were recorded"
            ) : (
              <>
                recorded, from <code>{shownName(teacherSource)}</code>
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>student</dt>
          <dd>{student === null ? "none were recorded" : "log p of the rollout, from the episode"}</dd>
        </div>
        <div>
          <dt>response</dt>
          <dd>
            {pieces.length} tokens
            {teacher && ` · teacher ${nats(sum(teacher))}`}
            {student && ` · student ${nats(sum(student))}`}
            {advantages && ` · A = ${nats(sum(advantages), true)}`}
          </dd>
        </div>
      </dl>
      {problem !== null && (
        <p className="fault" role="alert">
          {shownName(problem, 500)}
        </p>
      )}
      {piecesProblem !== null && <p className="note">Tokens: {piecesProblem}.</p>}
      <TokenGrid className="recorded-table" label="Recorded tokens in figures">
        <thead>
          <tr>
            <TokenHeads />
            <th scope="col" className="number">
              log p teacher (recorded)
            </th>
            <th scope="col" className="number">
              log p student (recorded)
            </th>
            <th
              scope="col"
              className="number"
              title="log p of the recorded teacher minus the recorded student’s"
            >
              A = teacher − student
            </th>
          </tr>
        </thead>
        <tbody>
          {pieces.map((piece, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
            <tr key={i} className={pinned === i ? "pinned" : ""} aria-selected={pinned === i}>
              <TokenCells at={i} text={shortToken(piece)} reached={i === reached} />
              <td className="number">{teacher === null ? NONE : nats(teacher[i]!)}</td>
              <td className="number">{student === null ? NONE : nats(student[i]!)}</td>
              <td className="number">
                {advantages === null ? (
                  NONE
                ) : (
                  <span className="swatch" style={{ backgroundColor: colour!(advantages[i]!) }}>
                    {nats(advantages[i]!, true)}
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </TokenGrid>
    </section>
  );
}
