/** A further side of a scored response: the teacher under other evidence, or another model. */
import { useEffect, useRef, useState } from "react";
import { CONTROLS, SOURCE_BUDGETS } from "../../../core/retrieval/selection.ts";
import { addEvidenceSide } from "../../compute/scoring/sides.ts";
import { useUi } from "../../compute/store.ts";
import { MOST_SIDES } from "../../url/place.ts";
import { evidenceSideKey } from "../../url/sides.ts";
import { CONTROL_TITLES, type Controls, NO_CONTROLS, parseBudget } from "../../url/what-if.ts";
import { FurtherModel } from "./further-model.tsx";
import { usePickedModel } from "./other-model.ts";

export function AddSide({ taken, busy }: { taken: readonly string[]; busy: boolean }) {
  const subset = useUi(({ place }) => place.subset);
  const [chosen, setAsked] = useState<Controls>({ ...NO_CONTROLS, control: "hindsight-only" });
  // Of the part of the library that the view shows.
  const asked = { ...chosen, subset };
  const known = taken.includes(evidenceSideKey(asked));
  const full = taken.length >= MOST_SIDES;
  const details = useRef<HTMLDetailsElement>(null);
  // What a model will need is said in here, also where it was chosen from elsewhere.
  const told = usePickedModel(({ picked, reading }) => reading || picked !== null);
  useEffect(() => {
    if (told && details.current !== null) details.current.open = true;
  }, [told]);
  return (
    <details className="add-side" ref={details}>
      <summary>Add a side</summary>
      <div className="add-side-form">
        <label>
          the teacher with{" "}
          <select
            value={asked.control}
            onChange={(event) =>
              setAsked({
                ...asked,
                control: CONTROLS.find((name) => name === event.target.value) ?? "graph",
              })
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
          sources per task (K){" "}
          <select
            value={asked.sourcesPerTask ?? "all"}
            onChange={(event) => setAsked({ ...asked, sourcesPerTask: parseBudget(event.target.value) })}
          >
            <option value="all">all</option>
            {SOURCE_BUDGETS.map((k) => (
              <option key={k} value={k}>
                {k}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={asked.augmentation}
            onChange={(event) => setAsked({ ...asked, augmentation: event.target.checked })}
          />
          augmentation
        </label>
        <label>
          <input
            type="checkbox"
            checked={asked.terminalFailureNote}
            onChange={(event) => setAsked({ ...asked, terminalFailureNote: event.target.checked })}
          />
          terminal-failure note
        </label>
        <button type="button" disabled={busy || known || full} onClick={() => void addEvidenceSide(asked)}>
          Score this side
        </button>
        <span className="note">
          {known
            ? "This side already exists."
            : full
              ? `No more than ${MOST_SIDES} further sides: take one away first.`
              : "One more pass of the teacher over the same response."}
        </span>
      </div>
      <FurtherModel busy={busy} />
    </details>
  );
}
