/** Parts that were left out, the largest effect first, each linked to its place in the evidence. */
import type { EvidencePart } from "../../../../core/evidence/index.ts";
import { nats } from "../../../base/format.ts";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import { withEvidence } from "../../../compute/side.ts";
import type { TokenScores } from "../../../compute/store.ts";
import type { DecisionModel, TaskModel } from "../../../data/model.ts";
import { navigate } from "../../../data/navigate.ts";
import { partName, samePart } from "../../../url/part-name.ts";
import { TokenGrid, useTabStop } from "../token-cells.tsx";
import { rangeName, sumOf, type TokenRange } from "../units.ts";
import { effectOn, type LeftOutRow } from "./left-out-rows.ts";

/** "the successful record teacher:0", "event 2 of …: go to kitchen". */
function describePart(part: EvidencePart, task: TaskModel, { retrieval, episode }: DecisionModel): string {
  const { record, event } = part;
  const id = record === "success" || record === "failure" ? (retrieval.record[record]?.source ?? null) : null;
  const execution =
    record === "student"
      ? task.episodes.find((each) => each.id === episode)
      : task.sources.find((each) => each.id === id);
  const action = event === null ? null : (execution?.cells[event]?.action ?? null);
  return `${partName(part)}${id === null ? "" : ` ${shownName(id, 80)}`}${action === null ? "" : `: ${shownName(action)}`}`;
}

/** The heads of what the teacher says with all of the evidence and without a part. `of`: which tokens, where not the row's. */
export function EffectHeads({ of = "" }: { of?: string }) {
  return (
    <>
      <th scope="col" className="number">
        log p {of}with all
      </th>
      <th scope="col" className="number">
        without it
      </th>
      <th scope="col" className="number">
        with − without
      </th>
    </>
  );
}

export function LeftOutTable({
  label,
  rows,
  task,
  decision,
  scores,
  range,
  chosen,
  onChoose,
}: {
  label: string;
  rows: readonly LeftOutRow[];
  task: TaskModel;
  decision: DecisionModel;
  scores: TokenScores;
  /** The selected tokens; null: the whole response only. */
  range: TokenRange | null;
  chosen: EvidencePart | null;
  onChoose: (part: EvidencePart | null) => void;
}) {
  const tabStop = useTabStop(0, 2 * rows.length);
  return (
    <TokenGrid className="left-out-table" label={label} leads>
      <thead>
        <tr>
          <th scope="col">without</th>
          <th scope="col" className="number">
            evidence left, tokens
          </th>
          {range !== null && <EffectHeads of={`of ${rangeName(range)} `} />}
          <th scope="col" className="number">
            whole response, with − without
          </th>
          <th scope="col">each token</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, i) => {
          const { part, logprobs, evidenceTokens } = row.result;
          const pressed = chosen !== null && samePart(part, chosen);
          return (
            <tr key={`${part.record}@${part.event}`} className={pressed ? "pinned" : ""}>
              <th scope="row">
                <button
                  type="button"
                  {...tabStop(2 * i)}
                  className="plain link"
                  title="Show it in the evidence"
                  onClick={() => navigate({ view: "task", part }, "push")}
                >
                  <Name>{describePart(part, task, decision)}</Name>
                </button>
              </th>
              <td className="number">{evidenceTokens.toLocaleString("en")}</td>
              {range !== null && (
                <>
                  <td className="number">{nats(sumOf(withEvidence(scores).logprobs, range))}</td>
                  <td className="number">{nats(sumOf(logprobs, range))}</td>
                  <td className="number">{nats(effectOn(row, range), true)}</td>
                </>
              )}
              <td className="number">{nats(row.sum, true)}</td>
              <td>
                <button
                  type="button"
                  {...tabStop(2 * i + 1)}
                  aria-pressed={pressed}
                  aria-label={`Effect of ${partName(part)} on each token`}
                  onClick={() => onChoose(pressed ? null : part)}
                >
                  effects
                </button>
              </td>
            </tr>
          );
        })}
      </tbody>
    </TokenGrid>
  );
}
