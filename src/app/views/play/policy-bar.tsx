/** A model decides: which one, how its responses are drawn, once or to the end. */
import { isOneOf } from "../../../core/one-of.ts";
import { POLICIES, type Policy, setPlay, usePlay } from "../../session/play.ts";
import { playPolicy, policyProblem, stopPolicy } from "../../session/play-policy.ts";
import { isModelAtWork } from "../../state/computing.ts";
import { useUi } from "../../state/store.ts";

const TITLES: Record<Policy, string> = {
  student: "Student",
  teacher: "Teacher",
  evidence: "Teacher under evidence",
};

export function PolicyBar({
  over,
  temperature,
  limit,
}: {
  over: boolean;
  temperature: number;
  limit: number;
}) {
  const { policy, repetition, maxTokens, game, busy } = usePlay();
  const playing = useUi((ui) => ui.playing);
  const computing = useUi(isModelAtWork);
  // Another one may have the task.
  useUi((ui) => ui.libraries);
  const problem = policyProblem(policy, game);
  const blocked = over || busy || problem !== null || computing;
  return (
    <div className="policy-bar">
      <label className="form-field">
        <span className="caption">Or a model decides</span>
        <select
          value={policy}
          disabled={playing !== null}
          data-testid="policy"
          onChange={({ target }) => isOneOf(POLICIES, target.value) && setPlay({ policy: target.value })}
        >
          {POLICIES.map((each) => (
            <option key={each} value={each} disabled={policyProblem(each, game) !== null}>
              {TITLES[each]}
            </option>
          ))}
        </select>
      </label>
      <label className="form-field">
        <span className="caption">Repetition</span>
        <input
          type="number"
          className="number"
          min={0}
          max={999_999}
          step={1}
          value={repetition}
          disabled={playing !== null}
          title="Part of the seeds of its responses, from the next episode on"
          onChange={({ target }) => {
            if (target.validity.valid && target.value !== "") setPlay({ repetition: Number(target.value) });
          }}
        />
      </label>
      <label className="form-field">
        <span className="caption">Longest response</span>
        <input
          type="number"
          className="number"
          min={1}
          max={limit}
          step={1}
          value={maxTokens ?? limit}
          disabled={playing !== null}
          onChange={({ target }) => {
            if (target.validity.valid && target.value !== "") setPlay({ maxTokens: Number(target.value) });
          }}
        />
      </label>
      <div className="open-buttons">
        <button type="button" disabled={blocked} onClick={() => void playPolicy(policy, false)}>
          One step
        </button>
        <button type="button" disabled={blocked} onClick={() => void playPolicy(policy, true)}>
          Play on
        </button>
        <button
          type="button"
          disabled={playing === null || playing.stopping}
          onClick={() => void stopPolicy()}
        >
          Stop
        </button>
      </div>
      <p className="note" role="status" data-testid="playing">
        {playing !== null
          ? playing.stopping
            ? "Stopping…"
            : `${playing.label}…`
          : (problem ?? `T ${temperature}, as in an evaluation`)}
      </p>
    </div>
  );
}
