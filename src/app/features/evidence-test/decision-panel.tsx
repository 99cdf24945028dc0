/** One scored decision: what each context made the teacher say, action by action. */
import type { GateDecision } from "../../../core/gate/index.ts";
import { probability } from "../../base/format.ts";
import { Scroller } from "../../base/scroller.tsx";
import { LongText } from "../../base/text/long-text.tsx";
import { Name } from "../../base/text/name.tsx";
import { shownName } from "../../base/text/shown-text.ts";
import { useUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { formatPlace } from "../../url/link.ts";
import { CONTEXT_TITLES, change, share } from "./gate-words.ts";
import { decisionLocation, gain, goToScoredFurther, ORDERS, type Order, useOrder } from "./step-decisions.ts";

const ORDER_TITLES: Record<Order, string> = {
  scored: "as they were scored",
  helped: "most helped by evidence first",
  hurt: "most hurt by evidence first",
};

export function DecisionPanel({ list, at }: { list: readonly GateDecision[]; at: number }) {
  const order = useOrder((state) => state.order);
  const shown = list[at]!;
  return (
    <section
      className="panel gate-decision"
      aria-labelledby="gate-decision-title"
      data-testid="gate-decision"
    >
      <div className="panel-head">
        <h2 id="gate-decision-title">One decision at a time</h2>
        <span className="gate-steps">
          <button type="button" disabled={at === 0} onClick={() => goToScoredFurther(-1)}>
            Previous <span className="key">k</span>
          </button>
          <button type="button" disabled={at === list.length - 1} onClick={() => goToScoredFurther(1)}>
            Next <span className="key">j</span>
          </button>
          <span className="note">
            {at + 1} of {list.length}
          </span>
        </span>
        <label>
          <span className="hidden-visually">Order</span>
          <select
            value={order}
            onChange={({ target }) => {
              const next = ORDERS.find((each) => each === target.value) ?? "scored";
              useOrder.setState({ order: next });
            }}
          >
            {ORDERS.map((each) => (
              <option key={each} value={each}>
                {ORDER_TITLES[each]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <div className="gate-body">
        <What shown={shown} />
        <Actions shown={shown} />
      </div>
    </section>
  );
}

/** Which decision it is, what the student saw, and where it leads to. */
function What({ shown }: { shown: GateDecision }) {
  const place = useUi((ui) => ui.place);
  const decision = useUi((ui) => ui.decision);
  const there = { ...place, ...decisionLocation(shown), view: "task" } as const;
  const loaded =
    decision?.episode === shown.episode && decision.decision === shown.decision ? decision : null;
  return (
    <div className="gate-what">
      <p>
        <a
          href={formatPlace(there)}
          onClick={(event) => {
            if (event.metaKey || event.ctrlKey || event.shiftKey) return;
            event.preventDefault();
            navigate(there, "push");
          }}
        >
          Decision {shown.decision} of <Name>{shownName(shown.episode, 80)}</Name>
        </a>
        , task <Name>{shownName(shown.task, 80)}</Name>
      </p>
      {loaded !== null && (
        <>
          <LongText text={loaded.observation} />
          <p className="note">{loaded.retrieval.explanation.sentence}</p>
        </>
      )}
    </div>
  );
}

function Actions({ shown }: { shown: GateDecision }) {
  const { actions, readings } = shown;
  return (
    <Scroller className="gate-actions" label="Probability of each action">
      <table>
        <caption className="hidden-visually">The teacher’s probability of each action, by context</caption>
        <thead>
          <tr>
            <th scope="col">Evidence</th>
            <th scope="col" className="number">
              an optimal action
            </th>
            {actions.map(({ action, optimal, taken }) => (
              <th key={action} scope="col" className="number">
                <bdi>{shownName(action, 60)}</bdi>
                <span className={`gate-tag ${optimal ? "gate-optimal" : ""}`}>
                  {[optimal ? "optimal" : "not optimal", ...(taken ? ["the student’s"] : [])].join(", ")}
                </span>
              </th>
            ))}
            <th scope="col" className="number">
              context tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {readings.map(({ context, optimal, logprobs, promptTokens }) => (
            <tr key={context} className={`control-${context}`}>
              <th scope="row">{CONTEXT_TITLES[context]}</th>
              <td className="number gate-total">
                <span className="gate-bar" style={{ inlineSize: `${100 * Math.min(1, optimal)}%` }} />
                <span>{share(optimal)}</span>
              </td>
              {logprobs.map((logprob, n) => (
                <td key={actions[n]!.action} className="number">
                  {probability(logprob)}
                </td>
              ))}
              <td className="number">{promptTokens.toLocaleString("en")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="note">
        From {CONTEXT_TITLES[readings[0]!.context]} to {CONTEXT_TITLES[readings.at(-1)!.context]}:{" "}
        {change(gain(shown))}. The rest of the probability goes to other actions.
      </p>
    </Scroller>
  );
}
