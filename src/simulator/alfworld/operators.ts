/** Ground operators, and what Fast Downward's translator keeps of them. */
import { InputError } from "../../core/errors.ts";
import { type Condition, isTrue, literal } from "./condition.ts";
import type { Where } from "./expression.ts";
import { LIMITS } from "./limits.ts";
import type { Action } from "./pddl.ts";

export interface GroundEffect {
  atom: number;
  negative: boolean;
  when: Condition;
}

export interface Operator {
  action: Action;
  /** Object for each parameter of the action. */
  arguments: Int32Array;
  precondition: Condition;
  /** Additions first, then deletions. */
  effects: GroundEffect[];
}

/**
 * What the translator keeps of an operator's effects: an addition beats a deletion of the same atom, and what the
 * precondition already makes so is not an effect.
 */
export function tidy(effects: readonly GroundEffect[], precondition: Condition): GroundEffect[] {
  const added = new Set(
    effects.filter(({ negative, when }) => !negative && isTrue(when)).map(({ atom }) => atom),
  );
  const required = new Set<Condition>(
    typeof precondition === "object" && precondition.every ? precondition.parts : [precondition],
  );
  const kept = effects.filter(
    ({ atom, negative }) => !(negative && added.has(atom)) && !required.has(literal(atom, negative)),
  );
  return [...kept.filter((effect) => !effect.negative), ...kept.filter((effect) => effect.negative)];
}

/**
 * Operators that can be applied in some state, if deletions are ignored: unreachable ones go, and so do effects whose
 * condition never holds, deletions of atoms that are never true, and operators that are left without effects.
 */
export function reachable(
  operators: readonly Operator[],
  init: readonly number[],
  atoms: number,
  where: Where,
): Operator[] {
  const reached = new Uint8Array(atoms);
  for (const atom of init) reached[atom] = 1;
  let work = 0;
  const possible = (condition: Condition): boolean => {
    if (++work > LIMITS.reachability)
      throw new InputError("finding the operators that can be applied takes too long", where);
    if (typeof condition === "number") return (condition & 1) === 1 || reached[condition >> 1] === 1;
    return condition.every ? condition.parts.every(possible) : condition.parts.some(possible);
  };
  let open = [...operators];
  for (let more = true; more; ) {
    more = false;
    open = open.filter((operator) => {
      if (!possible(operator.precondition)) return true;
      let waiting = false;
      for (const { atom, negative, when } of operator.effects) {
        if (negative || reached[atom] === 1) continue;
        if (possible(when)) {
          reached[atom] = 1;
          more = true;
        } else waiting = true;
      }
      return waiting;
    });
  }
  return operators
    .filter((operator) => possible(operator.precondition))
    .map((operator) => ({
      ...operator,
      effects: operator.effects.filter(
        ({ atom, negative, when }) => possible(when) && (!negative || reached[atom] === 1),
      ),
    }))
    .filter((operator) => operator.effects.length > 0);
}
