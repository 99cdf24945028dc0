/**
 * What differs between two states. The key alone says whether they are the same; what it was made of, where a record
 * keeps that under `state.descriptor`, says where they are not. Only what enters the key is compared.
 */
import { matchingKey } from "../graph/matching-key.ts";
import type { State } from "../record/schema.ts";
import { foldWhiteSpace } from "../white-space.ts";
import { environmentRules } from "./environment.ts";
import { entryChanges, type StateChange } from "./state-change.ts";

export interface StateDifference {
  /** Do the two match, as retrieval has it? Null where one of them was not captured reliably (⊥). */
  same: boolean | null;
  changes: StateChange[];
  /** Why `changes` may not be all that differs, in a sentence; null when they are. */
  limit: string | null;
}

/** Compares two states of one environment. */
export function stateDifference(
  environment: string,
  left: State | null,
  right: State | null,
): StateDifference {
  if (left === null || right === null) {
    const which = left === right ? "Neither state was" : "One of the two states was not";
    return { same: null, changes: [], limit: `${which} captured reliably (⊥): it matches nothing.` };
  }
  const same = matchingKey(left) === matchingKey(right);
  if (same) return { same, changes: [], limit: null };
  const changes = controlChanges(left, right);
  if (left.key === right.key) return { same, changes, limit: null };
  const { compareStates } = environmentRules(environment);
  if (compareStates === null) {
    return { same, changes, limit: "States of a custom environment are known by their keys alone." };
  }
  if (left.descriptor === undefined || right.descriptor === undefined) {
    return {
      same,
      changes,
      limit: "The records keep the keys of these states, not what they were made of (state.descriptor).",
    };
  }
  const found = compareStates(left.descriptor, right.descriptor);
  if (found === null) {
    return { same, changes, limit: `A state.descriptor is not one that ${environment} writes.` };
  }
  for (const change of found) changes.push(change);
  return {
    same,
    changes,
    limit: found.length > 0 ? null : "The keys differ, but nothing in the descriptors does.",
  };
}

/** The parser's mode and the options that it offers. */
function controlChanges(left: State, right: State): StateChange[] {
  const changes: StateChange[] = [];
  if (left.mode !== right.mode) {
    changes.push({ at: ["parser mode"], kind: "changed", left: left.mode, right: right.mode });
  }
  const options = (state: State): Record<string, string> =>
    Object.fromEntries(
      Object.entries(state.options).map(([name, text]) => [foldWhiteSpace(name), foldWhiteSpace(text)]),
    );
  return [...changes, ...entryChanges(["option"], options(left), options(right))];
}
