/** The actions of the watched decisions, before, during and after a run: a curve of each, and a table. */

import { LineChart, type Series } from "../../../base/chart/line-chart.tsx";
import { nats } from "../../../base/format.ts";
import { Name } from "../../../base/text/name.tsx";
import { shownName } from "../../../base/text/shown-text.ts";
import type { Figures, Run } from "../../runs/run.ts";
import { MOST_CURVES } from "../series.ts";

const SHAPES: readonly Series["shape"][] = ["circle", "square", "triangle"];

export function RunHeldOut({ run: { figures } }: { run: Run }) {
  const { heldOut } = figures;
  const first = heldOut[0];
  const last = heldOut.at(-1);
  if (first === undefined || last === undefined) return null;
  const series = first.decisions.slice(0, MOST_CURVES).map(
    (_, n): Series => ({
      name: `decision ${n + 1}`,
      className: `run-series run-${n}`,
      shape: SHAPES[n % SHAPES.length]!,
      points: heldOut.flatMap(({ step, decisions }) => {
        const y = decisions[n]?.logprob ?? null;
        return y === null ? [] : [{ x: step, y }];
      }),
    }),
  );
  return (
    <section className="held-out" aria-labelledby="held-out-title" data-testid="held-out">
      <h3 id="held-out-title">Before and after</h3>
      <LineChart title="log p of the recorded action" xLabel="step" series={series} wholeX />
      <div className="run-table-scroll">
        <table className="run-table">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">decision</th>
              <th scope="col">recorded action</th>
              <th scope="col" className="number">
                log p before
              </th>
              <th scope="col" className="number">
                after step {last.step}
              </th>
              <th scope="col" className="number">
                change
              </th>
            </tr>
          </thead>
          <tbody>
            {last.decisions.map((decision, n) => (
              <Row
                key={`${labelOf(decision)} ${decision.action}`}
                n={n}
                decision={decision}
                before={first.decisions[n]?.logprob ?? null}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type Watched = Figures["heldOut"][number]["decisions"][number];

const labelOf = ({ label, episode, decision }: Watched): string =>
  label ?? `${episode ?? "?"}, decision ${decision ?? "?"}`;

function Row({ n, decision, before }: { n: number; decision: Watched; before: number | null }) {
  const { action, trained, taskTrained, whole, logprob } = decision;
  const text = (value: number | null): string => (value === null ? "–" : nats(value));
  return (
    <tr>
      <td>{n + 1}</td>
      <th scope="row">
        <Name>{shownName(labelOf(decision), 120)}</Name>
        {(trained || taskTrained) && (
          <div className="note">
            {trained ? "the run trains on its episode" : "the run trains on its task"}
          </div>
        )}
      </th>
      <td>
        <code>{shownName(action ?? "no action: the whole response", 200)}</code>
        {action !== null && whole && (
          <div className="note">not found in the response: log p of the whole response</div>
        )}
      </td>
      <td className="number">{text(before)}</td>
      <td className="number">{text(logprob)}</td>
      <td className="number">{before === null || logprob === null ? "–" : nats(logprob - before, true)}</td>
    </tr>
  );
}
