/** Which two sides are compared, and further sides: the same teacher under other evidence. */
import { useRef, useState } from "react";
import { InputError } from "../../../core/errors.ts";
import { CONTROLS, SOURCE_BUDGETS } from "../../../core/retrieval/selection.ts";
import { gibibytes } from "../../../tensor/memory-plan.ts";
import { modelFolders } from "../../library/model-folder.ts";
import { navigate } from "../../place/navigate.ts";
import { MOST_SIDES } from "../../place/place.ts";
import { evidenceSideKey, evidenceSideLabel, parseEvidenceSide } from "../../place/sides.ts";
import { CONTROL_TITLES, NO_WHAT_IF, type WhatIf } from "../../place/what-if.ts";
import { faultNotice } from "../../session/faults.ts";
import { addModelSides, forgetPickedModel, pickModel, usePickedModel } from "../../session/other-model.ts";
import { scoreKey } from "../../session/score.ts";
import { addEvidenceSide, removeSide, scoreMissingSides } from "../../session/sides.ts";
import { pickedFiles } from "../../shell/dropped-files.ts";
import { countOf } from "../../shell/plural.ts";
import { isComputing } from "../../state/computing.ts";
import type { Side } from "../../state/side.ts";
import { setUi, useUi } from "../../state/store.ts";
import { shownName } from "../../text/shown-text.ts";
import { partsText } from "../memory-note.tsx";
import { type Compared, standardOf } from "./comparison.ts";
import { nats } from "./format.ts";
import { ScoringProgress } from "./scoring-panel.tsx";

/** Sides that every scored decision has. */
const ALWAYS = ["vanilla", "full", "graph", "student", "recorded-teacher", "recorded-student"];

export function CompareBar({ compared }: { compared: Compared }) {
  const { sides, columns, base, side, refused } = compared;
  const wanted = useUi((ui) => ui.place.sides);
  const scoring = useUi((ui) => ui.scoring);
  const key = useUi((ui) => (ui.decision === null ? "" : scoreKey(ui.decision)));
  useUi((ui) => ui.training.status);
  const busy = isComputing();
  const choose = (chosen: { base: string; side: string }): void => {
    const standard = standardOf(sides);
    const isStandard = chosen.base === standard.base && chosen.side === standard.side;
    navigate({ compare: isStandard ? null : chosen });
  };
  const missing = wanted.filter((name) => !sides.some((each) => each.key === name));
  const further = sides.filter((each) => !ALWAYS.includes(each.key));
  const failed = scoring.status === "failed" && scoring.job === "side" && scoring.key === key;
  return (
    <div className="compare" data-testid="compare">
      <div className="compare-bar">
        <span className="compare-formula">
          Δ = log p of{" "}
          <SideSelect
            name="Compared side"
            sides={sides}
            value={side.key}
            onChoose={(chosen) => choose({ side: chosen, base: chosen === base.key ? side.key : base.key })}
          />{" "}
          − log p of{" "}
          <SideSelect
            name="Base side"
            sides={sides}
            value={base.key}
            onChoose={(chosen) => choose({ base: chosen, side: chosen === side.key ? base.key : side.key })}
          />
        </span>
        <button type="button" onClick={() => choose({ base: side.key, side: base.key })}>
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
      </div>
      {scoring.status !== "idle" && scoring.key === key && <ScoringProgress job="side" />}
      {failed && (
        <p className="fault" role="alert">
          {scoring.message}
        </p>
      )}
      {refused !== null && (
        <p className="fault" role="alert" data-testid="no-delta">
          No Δ: {refused}.
        </p>
      )}
    </div>
  );
}

/** What can be said of a response in another tokenization. */
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
      {sides.map(({ key, label }) => (
        <option key={key} value={key}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Says what the model that was picked will need. */
async function pick(input: HTMLInputElement): Promise<void> {
  try {
    const [folder] = await modelFolders(pickedFiles(input.files ?? []));
    if (folder === undefined)
      throw new InputError(
        "What you picked has no config.json: expected a Hugging Face model folder, or an export to ONNX with its genai_config.json",
      );
    await pickModel(folder);
  } catch (error) {
    setUi({ notice: faultNotice(error) });
  } finally {
    input.value = "";
  }
}

/** The teacher under another of the paper's controls, or with fewer sources; or another model. */
function AddSide({ taken, busy }: { taken: readonly string[]; busy: boolean }) {
  const [asked, setAsked] = useState<WhatIf>({ ...NO_WHAT_IF, control: "hindsight-only" });
  const known = taken.includes(evidenceSideKey(asked));
  const full = taken.length >= MOST_SIDES;
  const folder = useRef<HTMLInputElement>(null);
  const archive = useRef<HTMLInputElement>(null);
  return (
    <details className="add-side">
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
            value={asked.budget ?? "all"}
            onChange={(event) =>
              setAsked({
                ...asked,
                budget: SOURCE_BUDGETS.find((k) => String(k) === event.target.value) ?? null,
              })
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
            checked={asked.terminalNote}
            onChange={(event) => setAsked({ ...asked, terminalNote: event.target.checked })}
          />
          terminal-failure note
        </label>
        <button type="button" disabled={busy || known || full} onClick={() => void addEvidenceSide(asked)}>
          Score this side
        </button>
        <span className="note">
          {known
            ? "This side is there already."
            : full
              ? `No more than ${MOST_SIDES} further sides: take one away first.`
              : "One more pass of the teacher over the same response."}
        </span>
      </div>
      <div className="add-side-form">
        another model, without and with the evidence
        <button type="button" disabled={busy} onClick={() => folder.current?.click()}>
          Folder…
        </button>
        <button type="button" disabled={busy} onClick={() => archive.current?.click()}>
          .zip…
        </button>
        <span className="note">
          Opened for its two passes and closed again. Δ with it only where its tokenizer gives the same ids.
        </span>
        <Picked busy={busy} />
        <input
          ref={(input) => {
            folder.current = input;
            // React has no property for it, and without it the picker takes single files only.
            input?.setAttribute("webkitdirectory", "");
          }}
          type="file"
          hidden
          aria-label="Folder of a further model"
          data-testid="pick-other-folder"
          onChange={(event) => void pick(event.target)}
        />
        <input
          ref={archive}
          type="file"
          accept=".zip"
          hidden
          aria-label="Archive of a further model"
          data-testid="pick-other-zip"
          onChange={(event) => void pick(event.target)}
        />
      </div>
    </details>
  );
}

/** A further model before it is opened: what it will need, and the word to go on. */
function Picked({ busy }: { busy: boolean }) {
  const picked = usePickedModel((state) => state.picked);
  const key = useUi((ui) => (ui.decision === null ? "" : scoreKey(ui.decision)));
  if (picked === null || picked.key !== key) return null;
  const { folder, tokens, plan } = picked;
  return (
    <div className="picked-model" data-testid="picked-model">
      <p>
        <strong>{folder.name}</strong>: two passes over at most {countOf(tokens, "token")}. With teacher and
        student it will need about <strong>{gibibytes(plan.plan.total)}</strong> (
        {partsText(plan.plan, "score")}).
      </p>
      {plan.uncounted.map((sentence) => (
        <p key={sentence} className="note">
          {sentence}
        </p>
      ))}
      {plan.problem !== null && (
        <p className="fault" role="alert">
          {plan.problem}
        </p>
      )}
      <button
        type="button"
        disabled={busy || plan.problem !== null}
        onClick={() => void addModelSides(folder)}
      >
        Score with it
      </button>
      <button type="button" onClick={forgetPickedModel}>
        Not this one
      </button>
    </div>
  );
}
