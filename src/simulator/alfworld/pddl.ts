/**
 * Reads PDDL domains and problems: typing, ADL conditions, conditional and universal effects. Action costs are read over:
 * no plan is searched here.
 */
import { InputError } from "../../core/errors.ts";
import { type Expression, quote, readExpression, type Where } from "./expression.ts";
import { LIMITS } from "./limits.ts";

export interface Typed {
  name: string;
  type: string;
}

export type Formula =
  | { kind: "and" | "or"; parts: Formula[] }
  | { kind: "not"; part: Formula }
  | { kind: "exists" | "forall"; variables: Typed[]; part: Formula }
  | Atom;

/** A predicate applied to terms: variables begin with `?`, anything else is an object. `=` compares two terms. */
export interface Atom {
  kind: "atom";
  predicate: string;
  terms: string[];
}

/** One literal that an action makes true or false, for all `variables`, where `condition` held before. */
export interface Effect {
  variables: Typed[];
  condition: Formula;
  atom: Atom;
  negative: boolean;
}

export interface Action {
  name: string;
  parameters: Typed[];
  precondition: Formula;
  effects: Effect[];
}

export interface Domain {
  /** Type → its supertype. `object` is above all. */
  types: ReadonlyMap<string, string>;
  constants: Typed[];
  /** Predicate → number of its arguments. */
  predicates: ReadonlyMap<string, number>;
  actions: Action[];
}

export interface Problem {
  objects: Typed[];
  /** Facts that hold at the start; anything else is false. */
  init: Atom[];
  goal: Formula;
}

export const ROOT_TYPE = "object";

const REQUIREMENTS = new Set([
  ":strips",
  ":typing",
  ":equality",
  ":adl",
  ":negative-preconditions",
  ":disjunctive-preconditions",
  ":existential-preconditions",
  ":universal-preconditions",
  ":quantified-preconditions",
  ":conditional-effects",
  ":action-costs",
]);

/** @throws InputError for anything that is not understood, with the action in which it stands */
export function readDomain(text: string, where: Where): Domain {
  const [define, name, ...sections] = readExpression(text, where);
  if (define !== "define" || !isList(name) || name[0] !== "domain")
    throw new InputError(`expected (define (domain …) …), found ${quote(name)}`, where);
  const types = new Map<string, string>();
  const constants: Typed[] = [];
  const predicates = new Map<string, number>();
  const actions: Expression[][] = [];
  for (const section of sections) {
    const [kind, ...rest] = isList(section) ? section : [section];
    switch (kind) {
      case ":requirements":
        for (const requirement of rest)
          if (isList(requirement) || !REQUIREMENTS.has(requirement))
            throw new InputError(
              `unknown requirement ${quote(requirement)}; expected ${[...REQUIREMENTS].join(", ")}`,
              where,
            );
        break;
      case ":types":
        for (const { name, type } of readTyped(rest, where)) if (name !== ROOT_TYPE) types.set(name, type);
        break;
      case ":constants":
        constants.push(...readTyped(rest, where));
        break;
      case ":predicates":
        for (const declared of rest) {
          if (!isList(declared) || isList(declared[0]) || declared[0] === undefined)
            throw new InputError(`expected a predicate, found ${quote(declared)}`, where);
          predicates.set(declared[0], readTyped(declared.slice(1), where).length);
        }
        break;
      case ":functions":
        break;
      case ":action":
        actions.push(rest);
        break;
      default:
        throw new InputError(`unknown section ${quote(kind)} of a domain`, where);
    }
  }
  checkTypes(types, where);
  const reader = new FormulaReader(predicates, types, where);
  return { types, constants, predicates, actions: actions.map((action) => reader.action(action)) };
}

/** @throws InputError for anything that is not understood or names what the domain does not have */
export function readProblem(text: string, domain: Domain, where: Where): Problem {
  const [define, name, ...sections] = readExpression(text, where);
  if (define !== "define" || !isList(name) || name[0] !== "problem")
    throw new InputError(`expected (define (problem …) …), found ${quote(name)}`, where);
  const objects: Typed[] = [];
  const init: Atom[] = [];
  let goal: Formula | undefined;
  for (const section of sections) {
    const [kind, ...rest] = isList(section) ? section : [section];
    switch (kind) {
      case ":domain":
      case ":metric":
      case ":requirements":
        break;
      case ":objects":
        objects.push(...readTyped(rest, where));
        break;
      case ":init":
        for (const fact of rest) {
          const [predicate, ...terms] = isList(fact) ? fact : [fact];
          if (predicate === "=") continue; // costs
          if (!isName(predicate) || predicate === "not" || !terms.every(isName))
            throw new InputError(`:init: expected a fact, found ${quote(fact)}`, where);
          const arity = domain.predicates.get(predicate);
          if (arity !== undefined && arity !== terms.length)
            throw new InputError(`:init: ${quote(fact)}: expected ${arity} arguments`, where);
          init.push({ kind: "atom", predicate, terms });
        }
        break;
      case ":goal":
        goal = new FormulaReader(domain.predicates, domain.types, where).formula(rest[0] ?? [], [], ":goal");
        break;
      default:
        throw new InputError(`unknown section ${quote(kind)} of a problem`, where);
    }
  }
  if (goal === undefined) throw new InputError("has no (:goal …)", where);
  return { objects, init, goal };
}

const isList = (expression: Expression | undefined): expression is Expression[] => Array.isArray(expression);
const isName = (expression: Expression | undefined): expression is string => typeof expression === "string";

function checkTypes(types: ReadonlyMap<string, string>, where: Where): void {
  for (const [name, above] of types) {
    if (above !== ROOT_TYPE && !types.has(above))
      throw new InputError(`:types: ${name} is a kind of ${above}, which is not a type`, where);
    const seen = new Set([name]);
    for (let type = above; type !== ROOT_TYPE; type = types.get(type)!) {
      if (seen.has(type)) throw new InputError(`:types: ${name} is a kind of itself`, where);
      seen.add(type);
    }
  }
}

/**
 * `a b - t c` as `a: t, b: t, c: object`. A comma belongs to the name before it, as in TextWorld's reader: ALFWorld's
 * `exists (?l - location, ?r - receptacle)` asks for the type `location,`, which no object has.
 */
function readTyped(list: readonly Expression[], where: Where): Typed[] {
  // Each name may bring a type and a dash.
  if (list.length > 3 * LIMITS.objects)
    throw new InputError(`a list has ${list.length} words; at most ${3 * LIMITS.objects} are read`, where);
  const typed: Typed[] = [];
  let pending: string[] = [];
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    if (!isName(item)) throw new InputError(`expected a name, found ${quote(item)}`, where);
    if (item !== "-") {
      pending.push(item);
      continue;
    }
    const type = list[++i];
    if (!isName(type))
      throw new InputError(`expected a type after "${pending.join(" ")} -", found ${quote(type)}`, where);
    typed.push(...pending.map((name) => ({ name, type })));
    pending = [];
  }
  typed.push(...pending.map((name) => ({ name, type: ROOT_TYPE })));
  return typed;
}

/** Reads formulas and effects, and checks that predicates and variables in them exist. */
class FormulaReader {
  constructor(
    private readonly predicates: ReadonlyMap<string, number>,
    private readonly types: ReadonlyMap<string, string>,
    private readonly where: Where,
  ) {}

  action([name, ...rest]: readonly Expression[]): Action {
    if (!isName(name)) throw new InputError(`expected an action's name, found ${quote(name)}`, this.where);
    const parts = new Map<string, Expression>();
    for (let i = 0; i < rest.length; i += 2) {
      const [key, value] = [rest[i], rest[i + 1]];
      if (!isName(key) || ![":parameters", ":precondition", ":effect"].includes(key) || value === undefined)
        throw this.fault(name, `expected :parameters, :precondition or :effect, found ${quote(key)}`);
      parts.set(key, value);
    }
    const list = parts.get(":parameters") ?? [];
    if (!isList(list)) throw this.fault(name, `expected parameters in brackets, found ${quote(list)}`);
    const parameters = readTyped(list, this.where);
    for (const { name: variable, type } of parameters)
      if (type !== ROOT_TYPE && !this.types.has(type))
        throw this.fault(name, `${variable} has the unknown type ${type}`);
    const scope = parameters.map((parameter) => parameter.name);
    if (new Set(scope).size < scope.length) throw this.fault(name, "a parameter is listed twice");
    const effects: Effect[] = [];
    const always: Formula = { kind: "and", parts: [] };
    this.effect(parts.get(":effect") ?? [], [], always, scope, name, effects);
    return {
      name,
      parameters,
      precondition: this.formula(parts.get(":precondition") ?? [], scope, name),
      effects,
    };
  }

  /** @param place the action, for messages */
  formula(expression: Expression, scope: readonly string[], place: string): Formula {
    if (!isList(expression)) throw this.fault(place, `expected a condition, found ${quote(expression)}`);
    const [head, ...rest] = expression;
    const count = (expected: number) => {
      if (rest.length !== expected)
        throw this.fault(place, `expected ${expected} parts after "${quote(head)}" in ${quote(expression)}`);
    };
    switch (head) {
      case undefined:
        return { kind: "and", parts: [] };
      case "and":
      case "or":
        return { kind: head, parts: rest.map((part) => this.formula(part, scope, place)) };
      case "not":
        count(1);
        return { kind: "not", part: this.formula(rest[0]!, scope, place) };
      case "imply":
        count(2);
        return {
          kind: "or",
          parts: [
            { kind: "not", part: this.formula(rest[0]!, scope, place) },
            this.formula(rest[1]!, scope, place),
          ],
        };
      case "exists":
      case "forall": {
        count(2);
        const variables = this.variables(rest[0]!, place);
        const inner = [...scope, ...variables.map(({ name }) => name)];
        return { kind: head, variables, part: this.formula(rest[1]!, inner, place) };
      }
      default:
        return this.atom(expression, scope, place);
    }
  }

  private effect(
    expression: Expression,
    variables: Typed[],
    condition: Formula,
    scope: readonly string[],
    place: string,
    out: Effect[],
  ): void {
    if (!isList(expression)) throw this.fault(place, `expected an effect, found ${quote(expression)}`);
    const [head, first, second] = expression;
    if (head === undefined || head === "increase") return;
    if (head === "and") {
      for (const part of expression.slice(1)) this.effect(part, variables, condition, scope, place, out);
    } else if (head === "forall") {
      const more = this.variables(first ?? [], place);
      const inner = [...scope, ...more.map(({ name }) => name)];
      this.effect(second ?? [], [...variables, ...more], condition, inner, place, out);
    } else if (head === "when") {
      const when = this.formula(first ?? [], scope, place);
      const both: Formula = { kind: "and", parts: [condition, when] };
      this.effect(second ?? [], variables, both, scope, place, out);
    } else {
      const negative = head === "not";
      const literal = negative ? first : expression;
      if (!isList(literal)) throw this.fault(place, `expected an effect, found ${quote(expression)}`);
      const atom = this.atom(literal, scope, place);
      if (atom.predicate === "=") throw this.fault(place, `${quote(expression)} is not an effect`);
      out.push({ variables, condition, atom, negative });
    }
  }

  private variables(list: Expression, place: string): Typed[] {
    if (!isList(list)) throw this.fault(place, `expected variables in brackets, found ${quote(list)}`);
    const variables = readTyped(list, this.where);
    if (new Set(variables.map(({ name }) => name)).size < variables.length)
      throw this.fault(place, `a variable is listed twice in ${quote(list)}`);
    return variables;
  }

  private atom([predicate, ...terms]: readonly Expression[], scope: readonly string[], place: string): Atom {
    const shown = quote([predicate ?? [], ...terms]);
    if (!isName(predicate) || !terms.every(isName))
      throw this.fault(place, `expected a condition, found ${shown}`);
    const arity = predicate === "=" ? 2 : this.predicates.get(predicate);
    if (arity === undefined) throw this.fault(place, `unknown predicate ${predicate} in ${shown}`);
    if (arity !== terms.length) throw this.fault(place, `${shown}: expected ${arity} arguments`);
    for (const term of terms)
      if (term.startsWith("?") && !scope.includes(term))
        throw this.fault(place, `${shown}: ${term} is not bound`);
    return { kind: "atom", predicate, terms };
  }

  private fault(place: string, message: string): InputError {
    return new InputError(`${place}: ${message}`, this.where);
  }
}
