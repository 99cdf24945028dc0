/** Parts that were left out, the largest change first, each linked to its place in the evidence. */
import type { EvidencePart } from "../../../core/evidence/index.ts";
import type { DecisionModel, TaskModel } from "../../model.ts";
import { navigate } from "../../place/navigate.ts";
import { partName } from "../../place/part-name.ts";
import { samePart } from "../../session/leave-out.ts";
import { Scroller } from "../../shell/scroller.tsx";
import type { TokenScores } from "../../state/store.ts";
import { shownName } from "../../text/shown-text.ts";
import { nats } from "./format.ts";
import type { LeftOutRow } from "./left-out-rows.ts";

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

export function LeftOutTable({
  label,
  rows,
  task,
  decision,
  scores,
  token,
  chosen,
  onChoose,
}: {
  label: string;
  rows: readonly LeftOutRow[];
  task: TaskModel;
  decision: DecisionModel;
  scores: TokenScores;
  token: number | null;
  chosen: EvidencePart | null;
  onChoose: (part: EvidencePart | null) => void;
}) {
  return (
    <Scroller className="token-table left-out-table" label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">without</th>
            <th scope="col" className="number">
              evidence left, tokens
            </th>
            {token !== null && (
              <>
                <th scope="col" className="number">
                  log p of token {token} with all
                </th>
                <th scope="col" className="number">
                  without it
                </th>
                <th scope="col" className="number">
                  change
                </th>
              </>
            )}
            <th scope="col" className="number">
              change of the whole response
            </th>
            <th scope="col">each token</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ result, changes, sum }) => {
            const { part, logprobs, evidenceTokens } = result;
            const pressed = chosen !== null && samePart(part, chosen);
            return (
              <tr key={`${part.record}@${part.event}`} className={pressed ? "pinned" : ""}>
                <th scope="row">
                  <button
                    type="button"
                    className="plain link"
                    title="Show it in the evidence"
                    onClick={() => navigate({ view: "task", part }, "push")}
                  >
                    <bdi>{describePart(part, task, decision)}</bdi>
                  </button>
                </th>
                <td className="number">{evidenceTokens.toLocaleString("en")}</td>
                {token !== null && (
                  <>
                    <td className="number">{nats(scores.graph[token]!)}</td>
                    <td className="number">{nats(logprobs[token]!)}</td>
                    <td className="number">{nats(changes[token]!, true)}</td>
                  </>
                )}
                <td className="number">{nats(sum, true)}</td>
                <td>
                  <button
                    type="button"
                    aria-pressed={pressed}
                    aria-label={`Changes of each token without ${partName(part)}`}
                    onClick={() => onChoose(pressed ? null : part)}
                  >
                    changes
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroller>
  );
}
