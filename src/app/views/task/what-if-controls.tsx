/** The controls of the paper's ablations, for everything that is shown and done from here on. */
import { CONTROLS, SOURCE_BUDGETS } from "../../../core/retrieval/selection.ts";
import { navigate } from "../../place/navigate.ts";
import { CONTROL_TITLES } from "../../place/what-if.ts";
import { countOf } from "../../shell/plural.ts";
import { useUi } from "../../state/store.ts";

/** `leftOut`: recorded executions of the task that do not take part. */
export function WhatIfControls({ leftOut }: { leftOut: number }) {
  const { control, budget, augmentation, terminalNote } = useUi((ui) => ui.place);
  return (
    <fieldset className="what-if-controls">
      <legend className="hidden-visually">What if</legend>
      <label>
        <span className="caption">Evidence</span>
        <select
          value={control}
          onChange={(event) =>
            navigate({ control: CONTROLS.find((name) => name === event.target.value) ?? "graph" })
          }
        >
          {CONTROLS.map((name) => (
            <option key={name} value={name}>
              {CONTROL_TITLES[name]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="caption">Sources per task (K)</span>
        <select
          value={budget ?? "all"}
          onChange={(event) =>
            navigate({ budget: SOURCE_BUDGETS.find((k) => String(k) === event.target.value) ?? null })
          }
        >
          <option value="all">all</option>
          {SOURCE_BUDGETS.map((k) => (
            <option key={k} value={k}>
              {k}
            </option>
          ))}
        </select>
      </label>
      <label title="Planner and oracle records take part">
        <input
          type="checkbox"
          checked={augmentation}
          onChange={(event) => navigate({ augmentation: event.target.checked })}
        />
        Augmentation
      </label>
      <label title="The last decision of an episode that ended by itself with a negative score says so">
        <input
          type="checkbox"
          checked={terminalNote}
          onChange={(event) => navigate({ terminalNote: event.target.checked })}
        />
        Terminal-failure note
      </label>
      {leftOut > 0 && (
        <span className="note" data-testid="left-out">
          {countOf(leftOut, "recorded execution")} not taking part
        </span>
      )}
    </fieldset>
  );
}
