/** Gives every side of a decision the exact probability of what any other side lists. */
import { describeFault, isAbort, isDeviceFault } from "../../../base/faults.ts";
import type { Side } from "../../side.ts";
import { type AskHead, furtherLogprobs, unknownListed, usedRows } from "../known-distribution.ts";

/** A side that a model of this page computed. */
export type ComputedSide = Side & { model: NonNullable<Side["model"]> };

/**
 * The same sides, each with the log-probabilities of what the others of the same response list. They come from kept
 * rows, without another pass. A side with nothing to add, or whose model cannot be asked, stays the object that it was.
 *
 * @param headOf opens a side's model, where it is not open; null where it cannot be asked
 */
export async function withUnion(
  sides: readonly Side[],
  headOf: (side: ComputedSide) => Promise<AskHead | null>,
): Promise<Side[]> {
  const complete: Side[] = [];
  for (const side of sides) {
    const told = sides.flatMap((each) => (haveSameIds(side, each) ? (each.distribution ?? []) : []));
    complete.push(await completed(side, told, headOf));
  }
  return complete;
}

async function completed(
  side: Side,
  told: readonly NonNullable<Side["distribution"]>[],
  headOf: (side: ComputedSide) => Promise<AskHead | null>,
): Promise<Side> {
  const { distribution, model } = side;
  if (distribution?.rows === undefined || model === null) return side;
  const { hidden } = usedRows(distribution.rows);
  if (hidden === null) return side;
  // Another model's vocabulary may be larger: those tokens this one never writes.
  const vocabulary = side.provenance.engine?.vocabulary || Number.POSITIVE_INFINITY;
  const missing = unknownListed(distribution, told).filter(({ id }) => id < vocabulary);
  if (missing.length === 0) return side;
  try {
    const ask = await headOf({ ...side, model });
    if (ask === null) return side;
    const asked = await furtherLogprobs(distribution, missing, hidden, ask);
    const further = new Map([...(distribution.further ?? []), ...asked]);
    return { ...side, distribution: { ...distribution, further } };
  } catch (error) {
    // Its own passes stay valid: what it does not know stays bounded.
    if (isAbort(error) || isDeviceFault(error)) throw error;
    describeFault(error);
    return side;
  }
}

const haveSameIds = (a: Side, b: Side): boolean =>
  a.ids !== null && a.ids.length === b.ids?.length && a.ids.every((id, i) => id === b.ids![i]);
