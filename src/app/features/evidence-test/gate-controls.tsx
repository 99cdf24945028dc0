/** The start and stop of the evidence test, and what it is asked for: how many decisions, which sources, which contexts. */
import { useEffect, useMemo, useState } from "react";
import { GATE_CONTEXTS } from "../../../core/gate/index.ts";
import { countOf } from "../../../core/plural.ts";
import { SOURCE_BUDGETS, type SourceSelection } from "../../../core/retrieval/selection.ts";
import { formatRange } from "../../base/eta.ts";
import { faultNotice } from "../../base/faults.ts";
import { isDeviceBusy } from "../../compute/computing.ts";
import {
  GATE_LIMITS,
  type Gate,
  SUBSET_SHARES,
  type SubsetShare,
  useGate,
} from "../../compute/gate/gate-store.ts";
import { gateSelection, scoreGate } from "../../compute/gate/run-gate.ts";
import { ModelPicker } from "../../compute/models/model-picker.tsx";
import { scoringRuns } from "../../compute/scoring/score.ts";
import { type ScoringState, setUi, useUi } from "../../compute/store.ts";
import { libraryWorker } from "../../data/library-client.ts";
import { navigate } from "../../data/navigate.ts";
import { shippedLibrary, shippedLink } from "../../url/library-link.ts";
import { parseBudget, partOfLibrary } from "../../url/what-if.ts";
import { CONTEXT_TITLES } from "./gate-words.ts";

const number = (value: number): string => value.toLocaleString("en");

const SUBSET_FIELDS: { key: SubsetShare; label: string; title: string }[] = [
  { key: "successTasks", label: "Covered tasks", title: "Of the tasks with a success, how many keep theirs" },
  { key: "failures", label: "Failed records", title: "How many of the failed executions take part" },
];

/** The shipped libraries of the miniature's tasks, by the commands in them that were random, in %. */
const NOISE = [
  { name: "miniature-30", random: 30 },
  { name: "miniature", random: 57 },
  { name: "miniature-75", random: 75 },
] as const;

/** Chooses how noisy the library is: other executions of the same tasks; the student's decisions stay. */
function NoiseControl({ disabled }: { disabled: boolean }) {
  const shipped = useUi(({ place }) => shippedLibrary(place));
  if (!NOISE.some(({ name }) => name === shipped)) return null;
  return (
    <label title="How many commands of the recorded executions were random">
      Random commands{" "}
      <select
        value={shipped ?? ""}
        disabled={disabled}
        onChange={({ target }) => {
          const chosen = NOISE.find(({ name }) => name === target.value);
          if (chosen !== undefined) navigate(shippedLink(chosen.name), "push");
        }}
      >
        {NOISE.map(({ name, random }) => (
          <option key={name} value={name}>
            {random} %
          </option>
        ))}
      </select>
    </label>
  );
}

const shareText = (share: number): string =>
  share === 1 ? "all" : share === 0 ? "none" : `${100 * share} %`;

/** The shares on offer, from all to none; that of a link, too. */
const sharesWith = (share: number): number[] => [...new Set([...SUBSET_SHARES, share])].sort((a, b) => b - a);

/** How many tasks have a success among the sources of the test; null before they are counted. */
function useCovered(library: string, selection: SourceSelection): string | null {
  const [counted, setCounted] = useState<{ of: SourceSelection; text: string } | null>(null);
  useEffect(() => {
    // Counting reads the whole library: only for who asks for a part of it.
    if (selection.subset === undefined) return;
    let here = true;
    libraryWorker()
      .coverage(library, [selection])
      .then(
        ({ tasks, covered: [covered] }) =>
          here && setCounted({ of: selection, text: `${covered} of ${countOf(tasks, "task")} covered` }),
        (error: unknown) => here && setUi({ notice: faultNotice(error) }),
      );
    return () => {
      here = false;
    };
  }, [library, selection]);
  return counted?.of === selection ? counted.text : null;
}

const isRunning = (scoring: ScoringState): boolean => scoring.status === "running" && scoring.job === "gate";

/** `known`: decisions with optimal actions. `here`: the results of this setting, as far as there are any. */
export function GateStart({ known, here }: { known: number; here: Gate | null }) {
  const limit = useGate((state) => state.limit);
  const busy = useUi(isDeviceBusy);
  const scoring = useUi((ui) => ui.scoring);
  const wanted = Math.min(limit ?? known, known);
  const looked = (here?.decisions.length ?? 0) + (here?.leftOut.length ?? 0);
  return (
    <div className="gate-controls">
      {isRunning(scoring) ? (
        <button type="button" onClick={() => void scoringRuns.cancel()}>
          Stop
        </button>
      ) : (
        <button
          type="button"
          className="primary"
          disabled={busy || looked >= wanted}
          onClick={() => void scoreGate()}
        >
          {looked === 0 ? "Score decisions" : looked >= wanted ? "All scored" : "Continue"}
        </button>
      )}
      <span className="gate-progress">
        {scoring.status === "running" &&
          scoring.job === "gate" &&
          `${scoring.label}${scoring.total > 0 ? `, ${scoring.done} of ${scoring.total}` : ""}${scoring.eta === null ? "" : `, ${formatRange(scoring.eta)} left`}`}
        {scoring.status === "cancelling" && scoring.job === "gate" && "Stopping…"}
      </span>
    </div>
  );
}

export function GateSettings({ library, known }: { library: string; known: number }) {
  const { limit, contexts } = useGate();
  const sourcesPerTask = useUi((ui) => ui.place.sourcesPerTask);
  const subset = useUi((ui) => ui.place.subset);
  const augmentation = useUi((ui) => ui.place.augmentation);
  const selection = useMemo(
    () => gateSelection({ sourcesPerTask, augmentation, subset }),
    [sourcesPerTask, augmentation, subset],
  );
  const covered = useCovered(library, selection);
  const running = useUi(({ scoring }) => isRunning(scoring));
  const toggle = (context: (typeof GATE_CONTEXTS)[number]): void => {
    useGate.setState({
      contexts: GATE_CONTEXTS.filter((each) => contexts.includes(each) !== (each === context)),
    });
  };
  return (
    <>
      <h3>Model</h3>
      <ModelPicker of="teacher" />
      <h3>Test</h3>
      <label>
        Decisions{" "}
        <select
          // More than there are is all of them.
          value={limit === null || limit >= known ? "all" : limit}
          disabled={running}
          onChange={({ target }) =>
            useGate.setState({ limit: GATE_LIMITS.find((each) => String(each) === target.value) ?? null })
          }
        >
          {GATE_LIMITS.filter((each) => each === null || each < known).map((each) => (
            <option key={each ?? "all"} value={each ?? "all"}>
              {each === null ? `all ${number(known)}` : number(each)}
            </option>
          ))}
        </select>
      </label>
      <label>
        Sources per task{" "}
        <select
          value={sourcesPerTask ?? "all"}
          disabled={running}
          onChange={({ target }) => navigate({ sourcesPerTask: parseBudget(target.value) })}
        >
          <option value="all">all</option>
          {SOURCE_BUDGETS.map((k) => (
            <option key={k} value={k}>
              K = {k}
            </option>
          ))}
        </select>
      </label>
      <NoiseControl disabled={running} />
      {SUBSET_FIELDS.map(({ key, label, title }) => (
        <label key={key} title={title}>
          {label}{" "}
          <select
            value={subset[key] ?? 1}
            disabled={running}
            onChange={({ target }) =>
              navigate({ subset: partOfLibrary({ ...subset, [key]: Number(target.value) }) })
            }
          >
            {sharesWith(subset[key] ?? 1).map((share) => (
              <option key={share} value={share}>
                {shareText(share)}
              </option>
            ))}
          </select>
        </label>
      ))}
      {subset.seed !== undefined && <span className="note">drawn with seed {subset.seed}</span>}
      {covered !== null && (
        <span className="note" data-testid="gate-covered">
          {covered}
        </span>
      )}
      <label>
        <input
          type="checkbox"
          checked={augmentation}
          disabled={running}
          onChange={({ target }) => navigate({ augmentation: target.checked })}
        />{" "}
        planner and oracle records
      </label>
      <details className="gate-contexts">
        <summary>
          {contexts.length} of {GATE_CONTEXTS.length} contexts
        </summary>
        <fieldset disabled={running}>
          <legend className="hidden-visually">Contexts</legend>
          {GATE_CONTEXTS.map((context) => {
            const checked = contexts.includes(context);
            const needed = checked && contexts.length === 2;
            return (
              <label key={context} title={needed ? "A comparison needs two contexts" : undefined}>
                <input type="checkbox" checked={checked} disabled={needed} onChange={() => toggle(context)} />{" "}
                {CONTEXT_TITLES[context]}
              </label>
            );
          })}
        </fieldset>
      </details>
    </>
  );
}
