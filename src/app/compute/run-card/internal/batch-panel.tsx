/** The student's tokens of a run's latest step: what pulled each one, how far, and whether it was clipped. */
import { useEffect, useState } from "react";
import { describeFault } from "../../../base/faults.ts";
import { nats, probability, shortToken, trueMinus } from "../../../base/format.ts";
import { shownName } from "../../../base/text/shown-text.ts";
import { models } from "../../models/models.ts";
import { type BatchDecision, type BatchView, parseBatch } from "../../runs/internal/batch.ts";
import type { Run } from "../../runs/run.ts";
import { worker } from "../../runs/worker-client.ts";

async function readBatch(run: Run): Promise<BatchView | null> {
  if (run.where === "page") return (await models.worker()).api.latestBatch(run.id);
  return parseBatch(await (await worker.file(run, "batch.jsonl")).text());
}

export function BatchPanel({ run }: { run: Run }) {
  const [open, setOpen] = useState(false);
  const [batch, setBatch] = useState<BatchView | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const { done } = run.figures;
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again after each step
  useEffect(() => {
    if (!open || done === 0) return;
    let current = true;
    readBatch(run).then(
      (read) => {
        if (!current) return;
        setBatch(read);
        setProblem(
          read === null
            ? "The tokens of a step are shown until the page is reloaded or another run starts."
            : null,
        );
      },
      (error) => current && setProblem(describeFault(error)),
    );
    return () => {
      current = false;
    };
  }, [open, done, run.id]);
  const decision = batch?.decisions[Math.min(at, batch.decisions.length - 1)];
  return (
    <details
      className="panel batch-panel"
      onToggle={(event) => setOpen(event.currentTarget.open)}
      data-testid="batch"
    >
      <summary>Tokens of the latest step</summary>
      {done === 0 && <p className="note">Known after the first step.</p>}
      {problem !== null && <p className="note">{problem}</p>}
      {batch !== null && decision !== undefined && (
        <>
          <label>
            Step {batch.step}, decision{" "}
            <select value={at} onChange={(event) => setAt(Number(event.target.value))}>
              {batch.decisions.map((each, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a decision may have two responses
                <option key={n} value={n}>
                  {shownName(each.episode, 80)}, {each.decision}
                  {each.bridge ? ", the teacher’s bridge" : ""}
                </option>
              ))}
            </select>{" "}
            <span className="note">
              {batch.decisions.length} decisions; weight of each of its tokens{" "}
              {trueMinus(decision.weight.toPrecision(3))}
            </span>
          </label>
          <TokenRows decision={decision} />
        </>
      )}
    </details>
  );
}

function TokenRows({ decision }: { decision: BatchDecision }) {
  const largest = Math.max(1e-6, ...Array.from(decision.advantage, Math.abs));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="batch-scroll" tabIndex={0} aria-label="Tokens of this decision">
      <table className="batch-table">
        <thead>
          <tr>
            <th scope="col">token</th>
            <th scope="col">p student</th>
            <th scope="col">p teacher</th>
            <th scope="col">advantage A</th>
            <th scope="col">ratio ρ</th>
            <th scope="col">clipped</th>
          </tr>
        </thead>
        <tbody>
          {decision.pieces.map((piece, i) => {
            const advantage = decision.advantage[i]!;
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: the index is what the token is
              <tr key={i} className={decision.clipped[i] ? "clipped" : ""}>
                <th scope="row">
                  <code>{shortToken(piece)}</code>
                </th>
                <td className="number">{probability(decision.logprobs[i]!)}</td>
                <td className="number">
                  {decision.teacherLogprobs === null ? "–" : probability(decision.teacherLogprobs[i]!)}
                </td>
                <td className="number">
                  <span className={`advantage-bar ${advantage < 0 ? "down" : "up"}`} aria-hidden="true">
                    <svg width="60" height="8" aria-hidden="true">
                      <rect
                        x={advantage < 0 ? 30 - (30 * Math.abs(advantage)) / largest : 30}
                        width={(30 * Math.abs(advantage)) / largest}
                        height="8"
                      />
                      <line x1="30" x2="30" y2="8" stroke="currentColor" />
                    </svg>
                  </span>
                  {nats(advantage, true)}
                </td>
                <td className="number">{decision.ratio[i]!.toFixed(3)}</td>
                <td>{decision.clipped[i] ? "clipped" : ""}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
