/** A model decides: which one, how its responses are drawn, once or to the end. */
import { useEffect, useState } from "react";
import { isOneOf } from "../../../core/one-of.ts";
import { isModelAtWork } from "../../compute/computing.ts";
import { POLICIES, type Policy, setPlay, usePlay } from "../../compute/games/play.ts";
import { ModelPicker } from "../../compute/models/model-picker.tsx";
import { useUi } from "../../compute/store.ts";
import { playPolicy, policyProblem, ROLE_OF } from "./play-policy.ts";

const TITLES: Record<Policy, string> = {
  student: "Student",
  teacher: "Teacher",
  evidence: "Teacher under evidence",
};

/** A number that may be empty or wrong while it is typed; only a valid one is taken. */
function NumberField({
  caption,
  value,
  onValue,
  ...input
}: {
  caption: string;
  value: number;
  min: number;
  max: number;
  disabled: boolean;
  title?: string;
  onValue: (value: number) => void;
}) {
  const [text, setText] = useState(String(value));
  useEffect(() => setText(String(value)), [value]);
  return (
    <label className="form-field">
      <span className="caption">{caption}</span>
      <input
        {...input}
        type="number"
        className="number"
        step={1}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          if (target.validity.valid && target.value !== "") onValue(Number(target.value));
        }}
        onBlur={() => setText(String(value))}
      />
    </label>
  );
}

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
        <span className="caption">Or let a model decide</span>
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
      <NumberField
        caption="Repetition"
        min={0}
        max={999_999}
        value={repetition}
        disabled={playing !== null}
        title="Part of the seed of its responses, from the next episode on"
        onValue={(value) => setPlay({ repetition: value })}
      />
      <NumberField
        caption="Longest response"
        min={1}
        max={limit}
        value={Math.min(maxTokens ?? limit, limit)}
        disabled={playing !== null}
        onValue={(value) => setPlay({ maxTokens: value })}
      />
      <div className="open-buttons">
        <button type="button" disabled={blocked} onClick={() => void playPolicy.start(policy, false)}>
          One step
        </button>
        <button type="button" disabled={blocked} onClick={() => void playPolicy.start(policy, true)}>
          Play on
        </button>
        <button
          type="button"
          disabled={playing === null || playing.stopping}
          onClick={() => void playPolicy.stop()}
        >
          Stop
        </button>
      </div>
      <ModelPicker of={ROLE_OF[policy]} />
      <p className="note" role="status" data-testid="playing">
        {playing !== null
          ? playing.stopping
            ? "Stopping…"
            : `${playing.label}…`
          : (problem ?? `Temperature ${temperature}, the same as in an evaluation`)}
      </p>
    </div>
  );
}
