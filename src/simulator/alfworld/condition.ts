/** Conditions on ground atoms. */

/** A condition on atoms: a literal (`2 · atom`, plus 1 if negated), or all or any of its parts. */
export type Condition = number | Gate;
export interface Gate {
  /** All parts must hold, or one must. Without parts: true or false. */
  every: boolean;
  parts: Condition[];
}
export const TRUE: Gate = { every: true, parts: [] };
export const FALSE: Gate = { every: false, parts: [] };

export const literal = (atom: number, negative: boolean) => 2 * atom + Number(negative);

export const isTrue = (condition: Condition) =>
  typeof condition === "object" && condition.every && condition.parts.length === 0;
export const isFalse = (condition: Condition) =>
  typeof condition === "object" && !condition.every && condition.parts.length === 0;

/** Puts a part into a gate; true where it decides the gate. Parts of a gate of the same kind are taken over. */
export function add(parts: Condition[], part: Condition, every: boolean): boolean {
  if (every ? isFalse(part) : isTrue(part)) return true;
  if (typeof part === "object" && part.every === every) for (const inner of part.parts) parts.push(inner);
  else if (every ? !isTrue(part) : !isFalse(part)) parts.push(part);
  return false;
}
