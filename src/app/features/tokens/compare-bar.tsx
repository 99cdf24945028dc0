/** Which two sides are compared, and further sides. */

import { countOf } from "../../../core/plural.ts";
import { nats } from "../../base/format.ts";
import { shownName } from "../../base/text/shown-text.ts";
import { isDeviceBusy } from "../../compute/computing.ts";
import { scoreKey } from "../../compute/scoring/score.ts";
import { removeSide, scoreMissingSides } from "../../compute/scoring/sides.ts";
import type { Side } from "../../compute/side.ts";
import { useUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import { evidenceSideLabel, parseEvidenceSide } from "../../url/sides.ts";
import { AddSide } from "./add-side.tsx";
import { type Compared, standardOf } from "./comparison.ts";
import { SharedModelDialog } from "./further-model.tsx";
import { JobProgress } from "./job-progress.tsx";

/** Sides that every scored decision has. */
const ALWAYS = ["vanilla", "full", "graph", "student", "recorded-teacher", "recorded-student"];

export function CompareBar({ compared }: { compared: Compared }) {
  const { sides, columns } = compared;
  const wanted = useUi((ui) => ui.place.sides);
  // As it is asked for, also where one of them is not there.
  const { base, side } = useUi((ui) => ui.place.compare) ?? standardOf(sides);
  const key = useUi((ui) => (ui.decision === null ? "" : scoreKey(ui.decision)));
  const busy = useUi(isDeviceBusy);
  const choose = (chosen: { base: string; side: string }): void => {
    const standard = standardOf(sides);
    const isStandard = chosen.base === standard.base && chosen.side === standard.side;
    navigate({ compare: isStandard ? null : chosen });
  };
  const missing = wanted.filter((name) => !sides.some((each) => each.key === name));
  const further = sides.filter((each) => !ALWAYS.includes(each.key));
  return (
    <div className="compare" data-testid="compare">
      <div className="compare-bar">
        <span className="compare-formula">
          Δ = log p of{" "}
          <SideSelect
            name="Compared side"
            sides={sides}
            value={side}
            onChoose={(chosen) => choose({ side: chosen, base: chosen === base ? side : base })}
          />{" "}
          − log p of{" "}
          <SideSelect
            name="Base side"
            sides={sides}
            value={base}
            onChoose={(chosen) => choose({ base: chosen, side: chosen === side ? base : side })}
          />
        </span>
        <button type="button" onClick={() => choose({ base: side, side: base })}>
          Swap
        </button>
        {further.map((each) => (
          <span key={each.key} className="side-chip">
            {each.label}
            {!columns.includes(each) && `: ${tokensOfItsOwn(each)}`}
            <button
              type="button"
              className="plain"
              aria-label={`Take away ${each.label}`}
              disabled={busy}
              onClick={() => removeSide(each.key)}
            >
              ×
            </button>
          </span>
        ))}
        {missing.map((name) => (
          <span key={name} className="side-chip missing">
            {labelOf(name)}: not scored yet
            <button
              type="button"
              className="plain"
              aria-label={`Take away ${labelOf(name)}`}
              disabled={busy}
              onClick={() => removeSide(name)}
            >
              ×
            </button>
          </span>
        ))}
        {missing.length > 0 && !busy && (
          <button type="button" onClick={() => void scoreMissingSides()}>
            Score {missing.length === 1 ? "it" : `these ${missing.length}`}
          </button>
        )}
        <AddSide taken={[...wanted, ...further.map((each) => each.key)]} busy={busy} />
        <SharedModelDialog />
      </div>
      <JobProgress job="side" at={key} />
    </div>
  );
}

/** Figures that compare across tokenizations. */
function tokensOfItsOwn({ logprobs }: Side): string {
  const sum = Array.from(logprobs).reduce((total, value) => total + value, 0);
  return `${countOf(logprobs.length, "token")} of its own, log p ${nats(sum)} together`;
}

function labelOf(key: string): string {
  const asked = parseEvidenceSide(key);
  return asked === null ? shownName(key) : evidenceSideLabel(asked);
}

function SideSelect({
  name,
  sides,
  value,
  onChoose,
}: {
  name: string;
  sides: readonly Side[];
  value: string;
  onChoose: (key: string) => void;
}) {
  return (
    <select aria-label={name} value={value} onChange={(event) => onChoose(event.target.value)}>
      {!sides.some(({ key }) => key === value) && <option value={value}>{labelOf(value)} (missing)</option>}
      {sides.map(({ key, label }) => (
        <option key={key} value={key}>
          {label}
        </option>
      ))}
    </select>
  );
}
