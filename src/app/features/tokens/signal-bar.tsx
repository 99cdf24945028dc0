/** Which signal colours the strip: one choice of six. */
import { navigate } from "../../data/navigate.ts";
import { SIGNALS, type Signal } from "../../url/place.ts";
import { SIGNAL_TITLES } from "./signal.ts";

const MEANINGS: Record<Signal, string> = {
  delta: "log p of the compared side − log p of the base",
  p: "probability under the compared side",
  logp: "log-probability under the compared side",
  rank: "place in the compared side’s distribution",
  entropy: "entropy of the compared side’s distribution",
  gap: "log p of the student − log p of the compared side",
};

export function SignalBar({ signal }: { signal: Signal }) {
  return (
    <fieldset className="signals">
      <legend className="hidden-visually">Signal</legend>
      {SIGNALS.map((each) => (
        <label key={each} title={MEANINGS[each]} className={each === signal ? "chosen" : ""}>
          <input
            type="radio"
            name="signal"
            value={each}
            checked={each === signal}
            onChange={() => navigate({ signal: each })}
          />
          {SIGNAL_TITLES[each]}
        </label>
      ))}
    </fieldset>
  );
}
