/** Formulas with slots in place of variables. */
import type { Predicate } from "./predicate.ts";

/** A formula whose variables are slots of an environment. Terms: a slot, or `-1 - object`. */
export type Compiled =
  | { kind: "and" | "or"; parts: Compiled[] }
  | { kind: "not"; part: Compiled }
  | { kind: "exists" | "forall"; slots: number[]; domains: Int32Array[]; part: Compiled }
  | { kind: "atom"; predicate: Predicate; terms: number[] }
  | { kind: "equal"; terms: [number, number] };

export type CompiledAtom = Extract<Compiled, { kind: "atom" }>;

/** The object that a term stands for. */
export const value = (term: number, environment: readonly number[]) =>
  term < 0 ? -1 - term : environment[term]!;

/** Whether no action changes its truth. */
export function isStatic(formula: Compiled): boolean {
  switch (formula.kind) {
    case "equal":
      return true;
    case "atom":
      return !formula.predicate.fluent;
    case "and":
    case "or":
      return formula.parts.every(isStatic);
    default:
      return isStatic(formula.part);
  }
}

/** Slots of parameters in a formula; those of its own quantifiers are left out. */
export function slotsOf(formula: Compiled): number[] {
  switch (formula.kind) {
    case "equal":
    case "atom":
      return formula.terms.filter((term) => term >= 0);
    case "and":
    case "or":
      return formula.parts.flatMap(slotsOf);
    case "not":
      return slotsOf(formula.part);
    default:
      return slotsOf(formula.part).filter((slot) => !formula.slots.includes(slot));
  }
}
