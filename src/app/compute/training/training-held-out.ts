/** Decisions that a run's student is looked at before and after: chosen by the user, and never part of an update. */
import { create } from "zustand";
import { libraryWorker } from "../../data/library-client.ts";
import type { DecisionModel } from "../../data/model.ts";
import { getUi } from "../store.ts";
import type { HeldOut, HeldOutDecision } from "../worker/training-run.ts";

export type HeldOutChoice = Pick<
  DecisionModel,
  "library" | "environment" | "task" | "episode" | "decision" | "action"
>;

/** Steps between two looks where none are typed. */
export const HELD_OUT_EVERY = 5;

export const useHeldOut = create<{ decisions: readonly HeldOutChoice[]; every: string }>(() => ({
  decisions: [],
  every: "",
}));

const keyOf = ({ library, environment, task, episode, decision }: HeldOutChoice): string =>
  JSON.stringify([library, environment, task, episode, decision]);

export const isHeldOut = (choice: HeldOutChoice): boolean =>
  useHeldOut.getState().decisions.some((each) => keyOf(each) === keyOf(choice));

export function holdOut(choice: HeldOutChoice): void {
  const { library, environment, task, episode, decision, action } = choice;
  if (!isHeldOut(choice))
    useHeldOut.setState(({ decisions }) => ({
      decisions: [...decisions, { library, environment, task, episode, decision, action }],
    }));
}

export function letGo(choice: HeldOutChoice): void {
  useHeldOut.setState(({ decisions }) => ({
    decisions: decisions.filter((each) => keyOf(each) !== keyOf(choice)),
  }));
}

/** The steps that were typed; null where they are none. */
export function heldOutEvery(text: string): number | null {
  if (text.trim() === "") return HELD_OUT_EVERY;
  const every = Number(text);
  return Number.isInteger(every) && every >= 1 ? every : null;
}

/**
 * The tokens of a response that its action stands in, the last time it is named there; all of them where it is not found
 * word for word.
 */
export function actionSpan(pieces: readonly string[], action: string | null): [from: number, to: number] {
  const at = action === null || action === "" ? -1 : pieces.join("").lastIndexOf(action);
  if (action === null || at < 0) return [0, pieces.length];
  let [start, from, to] = [0, pieces.length, 0];
  for (const [n, piece] of pieces.entries()) {
    const end = start + piece.length;
    if (end > at && start < at + action.length) {
      from = Math.min(from, n);
      to = n + 1;
    }
    start = end;
  }
  return [from, to];
}

/** What a run reads of the chosen decisions that are still open; absent where there is none. */
export async function heldOutPlan(
  trainedOn: readonly { environment: string; task: string; episode: string }[],
  endOfTurn: boolean,
): Promise<{ heldOut?: HeldOut }> {
  const { decisions, every } = useHeldOut.getState();
  const { libraries } = getUi();
  const open = decisions.filter(({ library }) => libraries.some(({ summary }) => summary.id === library));
  if (open.length === 0) return {};
  const read: HeldOutDecision[] = [];
  for (const [n, choice] of open.entries()) {
    const { episode, decision, action } = choice;
    const options = { by: "student", endOfTurn } as const;
    const { pieces, vanillaIds, responseIds } = await libraryWorker().pair(
      choice,
      episode,
      decision,
      {},
      options,
    );
    read.push({
      label: `${episode}, decision ${decision}`,
      action,
      trained: trainedOn.some(
        (each) =>
          each.environment === choice.environment && each.task === choice.task && each.episode === episode,
      ),
      request: { id: `held-out ${n}`, promptIds: vanillaIds, responseIds },
      span: actionSpan(pieces, action),
    });
  }
  return { heldOut: { every: heldOutEvery(every) ?? HELD_OUT_EVERY, decisions: read } };
}
