/** The scored decisions one after the other: in which order, which one is shown, and the steps between them. */
import { create } from "zustand";
import type { GateDecision } from "../../../core/gate/index.ts";
import type { Blocked } from "../../compute/action.ts";
import { useGate } from "../../compute/gate/gate-store.ts";
import { gateSelection, gateSetting, presentGate } from "../../compute/gate/run-gate.ts";
import { useOptimal } from "../../compute/open/optimal.ts";
import { getUi } from "../../compute/store.ts";
import { navigate } from "../../data/navigate.ts";
import type { Place } from "../../url/place.ts";

export const ORDERS = ["scored", "helped", "hurt"] as const;
export type Order = (typeof ORDERS)[number];

export const useOrder = create<{ order: Order }>(() => ({ order: "scored" }));

/** What the last context adds to the first one. */
export const gain = ({ readings }: GateDecision): number =>
  (readings.at(-1)?.optimal ?? 0) - (readings[0]?.optimal ?? 0);

export function ordered(decisions: readonly GateDecision[], order: Order): readonly GateDecision[] {
  if (order === "scored") return decisions;
  const sign = order === "helped" ? -1 : 1;
  return [...decisions].sort((a, b) => sign * (gain(a) - gain(b)));
}

const sameDecision = (
  of: GateDecision,
  { task, environment, episode, decision }: Pick<Place, "task" | "environment" | "episode" | "decision">,
): boolean =>
  of.task === task &&
  (environment === null || of.environment === environment) &&
  of.episode === episode &&
  of.decision === decision;

/** Place in the list of the decision that the address names; -1 where it is none of them. */
export const shownAt = (list: readonly GateDecision[], place: Place): number =>
  list.findIndex((each) => sameDecision(each, place));

/** The place of a decision, in whichever view. */
export const decisionLocation = ({ task, environment, episode, decision }: GateDecision) => ({
  ...{ task, environment, episode, decision },
  ...{ token: null, visit: null, part: null },
});

/** Those that are shown. */
function present(): readonly GateDecision[] {
  const { library, place } = getUi();
  const { gate, contexts } = useGate.getState();
  const known = library === null ? null : useOptimal.getState()[library.id];
  if (library === null || known == null) return [];
  const here = presentGate(gate, gateSetting(library.id, known, gateSelection(place), contexts));
  return ordered(here?.decisions ?? [], useOrder.getState().order);
}

/** There is a scored decision `by` further on. */
export function aScoredFurther(by: 1 | -1): Blocked {
  return ({ place }) => {
    const list = present();
    if (list.length === 0) return "no decision is scored yet";
    const next = shownAt(list, place) + by;
    if (next < 0) return "this is the first decision";
    return next >= list.length ? "this is the last decision" : null;
  };
}

export function goToScoredFurther(by: 1 | -1): void {
  const list = present();
  const next = list[shownAt(list, getUi().place) + by];
  if (next !== undefined) navigate(decisionLocation(next), "rest");
}
