/** What can be changed by hand about one execution or one visit. */
import { useEffect, useState } from "react";
import type { PinKind } from "../../../../core/retrieval/pin.ts";
import type { Pin } from "../../../../core/retrieval/types.ts";
import { shownName, shownText } from "../../../base/text/shown-text.ts";
import { useUi } from "../../../compute/store.ts";
import { libraryWorker } from "../../../data/library-client.ts";
import type { DecisionModel } from "../../../data/model.ts";
import type { VisitRef } from "../../../url/place.ts";
import { CONTROL_TITLES } from "../../../url/what-if.ts";
import { chooseReference, switchSource } from "../what-if.ts";

const KIND_WORDS: Record<PinKind, string> = { success: "successful", failure: "failed" };

/** Takes an execution out of the library, and lets it take part again. */
export function SourceButton({ source, short = false }: { source: string; short?: boolean }) {
  const off = useUi((ui) => ui.place.without.includes(source));
  const words = off ? "Switch on again" : "Switch off";
  return (
    <button
      type="button"
      className="small"
      title={off ? "Lets it take part again" : "What if this execution had not been recorded?"}
      aria-label={`${words}: ${shownName(source, 80)}`}
      onClick={() => switchSource(source, off)}
    >
      {short ? (off ? "on" : "off") : words}
    </button>
  );
}

const samePin = (pin: Pin | null, visit: VisitRef): boolean =>
  pin !== null && pin.source === visit.source && pin.position === visit.position;

/** Makes a visit the reference, or returns the choice to the rules. The visit must qualify. */
export function ReferenceButton({
  decision,
  kind,
  visit,
  short = false,
}: {
  decision: DecisionModel;
  kind: PinKind;
  visit: VisitRef;
  short?: boolean;
}) {
  const chosen = useUi((ui) => samePin(kind === "success" ? ui.place.pin : ui.place.pinFailure, visit));
  const { source, position } = visit;
  const retained = decision.retrieval.record[kind];
  // The record that the rules take anyway needs no choice; some controls retain none.
  const already = !chosen && retained?.source === source && retained.position === position;
  const { control } = decision.selection;
  const none =
    control !== undefined &&
    (control === "hindsight-only" || (control === "success-only" && kind === "failure"));
  return (
    <button
      type="button"
      className="small"
      aria-pressed={chosen}
      disabled={already || (none && !chosen)}
      title={
        already
          ? `It is the ${KIND_WORDS[kind]} reference`
          : none
            ? `Under “${CONTROL_TITLES[control]}” no ${KIND_WORDS[kind]} reference is retained`
            : `What if this visit were the ${KIND_WORDS[kind]} reference?`
      }
      aria-label={`Take as ${KIND_WORDS[kind]} reference: ${shownName(source, 80)}, visit ${position}`}
      onClick={() => chooseReference(kind, chosen ? null : { source, position })}
    >
      {short ? "take" : `Take as ${KIND_WORDS[kind]} reference`}
    </button>
  );
}

/** The same for a visit that may not qualify as the reference; says why not. */
export function TakeVisit({
  decision,
  kind,
  visit,
}: {
  decision: DecisionModel;
  kind: PinKind;
  visit: VisitRef;
}) {
  const [problem, setProblem] = useState<string | null | undefined>(undefined);
  const { library, environment, task, episode, decision: at, selection } = decision;
  const { source, position } = visit;
  useEffect(() => {
    let current = true;
    setProblem(undefined);
    libraryWorker()
      .tasks.pinProblem({ library, environment, task }, episode, at, selection, kind, { source, position })
      .then(
        (found) => current && setProblem(found),
        // The inspector reports faults of the decision itself.
        () => current && setProblem(undefined),
      );
    return () => {
      current = false;
    };
  }, [library, environment, task, episode, at, selection, kind, source, position]);
  if (problem === undefined) return null;
  if (problem === null) return <ReferenceButton decision={decision} kind={kind} visit={visit} />;
  return (
    <span className="note" data-testid="pin-problem">
      {shownText(problem)}
    </span>
  );
}
