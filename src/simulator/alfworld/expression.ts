/** S-expressions, the notation of PDDL. */
import { InputError } from "../../core/errors.ts";
import { LIMITS } from "./limits.ts";

export type Expression = string | Expression[];

/** Where a text came from, for messages: the file and the key inside it. */
export interface Where {
  file: string;
  key: string;
}

/**
 * The one expression of a text, in lower case. Comments run from `;` to the end of the line.
 *
 * @throws InputError for missing or extra brackets, and beyond `LIMITS.text` and `LIMITS.depth`
 */
export function readExpression(text: string, where: Where): Expression[] {
  if (text.length > LIMITS.text)
    throw new InputError(`has ${text.length} characters; at most ${LIMITS.text} are read`, where);
  const top: Expression[] = [];
  const open: Expression[][] = [];
  let list = top;
  for (const match of text.toLowerCase().matchAll(/;[^\n]*|[()]|[^\s();]+/g)) {
    const [token] = match;
    if (token.startsWith(";")) continue;
    if (token === "(") {
      if (open.length === LIMITS.depth)
        throw new InputError(`${line(text, match.index)}: nests deeper than ${LIMITS.depth}`, where);
      const inner: Expression[] = [];
      list.push(inner);
      open.push(list);
      list = inner;
    } else if (token === ")") {
      const outer = open.pop();
      if (outer === undefined) throw new InputError(`${line(text, match.index)}: ")" closes nothing`, where);
      list = outer;
    } else list.push(token);
  }
  if (open.length > 0)
    throw new InputError(`ends inside ${open.length} open brackets; is it truncated?`, where);
  const [first, ...rest] = top;
  if (!Array.isArray(first) || rest.length > 0)
    throw new InputError("expected one expression in brackets", where);
  return first;
}

function line(text: string, index: number): string {
  return `line ${text.slice(0, index).split("\n").length}`;
}

/** How an expression is quoted in a message. */
export function quote(expression: Expression | undefined): string {
  const text = (of: Expression | undefined): string =>
    Array.isArray(of) ? `(${of.map(text).join(" ")})` : (of ?? "nothing");
  const whole = text(expression);
  return whole.length > 80 ? `${whole.slice(0, 77)}...` : whole;
}
