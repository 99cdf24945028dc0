/** Makes texts from a grammar's rules and the facts that are shown. */
import { InputError } from "../../core/errors.ts";
import type { Where } from "./expression.ts";
import type { Attribute, Grammar, GrammarSymbol, Placeholder, QueryPart } from "./grammar.ts";
import type { GroundTask } from "./ground.ts";
import { LIMITS } from "./limits.ts";
import type { Action } from "./pddl.ts";
import { compareArguments } from "./predicate.ts";

/** What is shown of each atom: a bit each for the fact and for its recorded negation. */
export const SHOWN = 1;
export const SHOWN_NEGATED = 2;

interface Fact {
  atom: number;
  arguments: Int32Array;
}

/** Atoms of one predicate in the order of their arguments, and those with an object in one place. */
interface FactIndex {
  all: Fact[];
  by: Map<number, Fact[]>[];
}

/** A query's condition with everything looked up. `slots` are placeholders, `variables` their names. */
interface LinkedPart {
  index: FactIndex;
  bit: number;
  slots: number[];
  variables: number[];
  members: Uint8Array[];
}

type LinkedTerm = string | { variable: number; texts: string[] }[];

type Linked =
  | { kind: "text"; text: string }
  | { kind: "rule"; rule: LinkedRule }
  | { kind: "value"; terms: LinkedTerm[] }
  | { kind: "each"; body: Linked; query: LinkedPart[]; list: ListRules | null };

interface LinkedRule {
  name: string;
  alternatives: { condition: LinkedPart[] | null; symbols: Linked[] }[];
}

interface ListRules {
  empty: LinkedRule;
  separator: LinkedRule;
  last: LinkedRule;
}

/** A text with everything that it names looked up, and the places of the objects that an action gives it. */
export interface LinkedText {
  symbols: Linked[];
  slots: number[];
  variables: number[];
}

const FREE = -1;
const NO_FACTS: Fact[] = [];

export class Narrator {
  readonly #indexes = new Map<string, FactIndex>();
  /** `name: type` and `name` → their places. Two types of one name are two placeholders of one variable. */
  readonly #slots = new Map<string, number>();
  readonly #variables = new Map<string, number>();
  readonly #rules = new Map<string, LinkedRule>();
  readonly #texts = new Map<Attribute, string[]>();
  #bound = new Int32Array(0);
  #values = new Int32Array(0);
  readonly #taken: Uint8Array;
  #shown: Uint8Array = new Uint8Array(0);
  #work = 0;

  /** @param names display name of each object */
  constructor(
    private readonly task: GroundTask,
    private readonly grammar: Grammar,
    names: readonly string[],
    private readonly where: Where,
  ) {
    this.#taken = new Uint8Array(task.objects.length);
    this.#texts.set("name", [...names]);
    this.#texts.set("id", task.objects);
    this.#texts.set("type", task.types);
    this.#texts.set("definite", new Array(names.length).fill("the"));
    this.#texts.set("indefinite", new Array(names.length).fill("a"));
    const facts = task.atoms.map(({ predicate, arguments: list }, atom) => ({
      predicate,
      atom,
      arguments: list,
    }));
    facts.sort((a, b) => compareArguments(a.arguments, b.arguments));
    for (const { predicate, atom, arguments: list } of facts) {
      const index = this.#index(predicate.name);
      const fact = { atom, arguments: list };
      index.all.push(fact);
      list.forEach((object, place) => {
        index.by[place] ??= new Map();
        const same = index.by[place].get(object);
        if (same === undefined) index.by[place].set(object, [fact]);
        else same.push(fact);
      });
    }
  }

  #index(predicate: string): FactIndex {
    let index = this.#indexes.get(predicate);
    if (index === undefined) {
      index = { all: [], by: [] };
      this.#indexes.set(predicate, index);
    }
    return index;
  }

  /**
   * Looks up everything that a text reaches.
   *
   * @param action whose objects the text may name; null for the opening text
   * @throws InputError for an unknown rule, predicate, type or variable, and for a rule that reaches itself
   */
  link(symbols: readonly GrammarSymbol[], action: Action | null, place: string): LinkedText {
    const parameters = (action?.parameters ?? []).map(({ name, type }) => ({
      name: name.replaceAll("?", ""),
      type,
    }));
    const known = new Set(parameters.map(({ name }) => name));
    this.#checkVariables(symbols, known, place, []);
    const text = {
      symbols: symbols.map((symbol) => this.#link(symbol, place)),
      slots: parameters.map((parameter) => this.#slot(parameter)),
      variables: parameters.map(({ name }) => this.#variable(name)),
    };
    this.#bound = new Int32Array(this.#slots.size).fill(FREE);
    this.#values = new Int32Array(this.#variables.size).fill(FREE);
    return text;
  }

  /**
   * The text, with the action's objects, over the facts shown.
   *
   * @throws InputError beyond `LIMITS.textWork`
   */
  tell(text: LinkedText, objects: ArrayLike<number>, shown: Uint8Array): string {
    this.#shown = shown;
    this.#work = 0;
    text.slots.forEach((slot, i) => {
      this.#bound[slot] = objects[i]!;
      this.#values[text.variables[i]!] = objects[i]!;
      this.#taken[objects[i]!]!++;
    });
    try {
      return this.#all(text.symbols);
    } finally {
      this.#bound.fill(FREE);
      this.#values.fill(FREE);
      this.#taken.fill(0);
    }
  }

  /** Whether a linked text depends on no fact that actions change. */
  isStatic(symbols: readonly GrammarSymbol[]): boolean {
    const fixed = (query: QueryPart[] | null) =>
      (query ?? []).every(({ predicate }) => !this.task.predicates.get(predicate)?.fluent);
    return symbols.every((symbol) => {
      if (symbol.kind === "rule")
        return (this.grammar.rule(symbol.rule) ?? []).every(
          (rule) => fixed(rule.condition) && this.isStatic(rule.symbols),
        );
      return symbol.kind !== "each" || (fixed(symbol.query) && this.isStatic([symbol.body]));
    });
  }

  #fault(place: string, message: string): InputError {
    return new InputError(`${place}: ${message}`, this.where);
  }

  #slot({ name, type }: Placeholder): number {
    return numbered(this.#slots, `${name}: ${type}`);
  }

  #variable(name: string): number {
    return numbered(this.#variables, name);
  }

  /** Every variable must be bound by the action, or by a query around it, on every way to it. */
  #checkVariables(
    symbols: readonly GrammarSymbol[],
    known: ReadonlySet<string>,
    place: string,
    path: readonly string[],
  ): void {
    for (const symbol of symbols) {
      if (symbol.kind === "value") {
        for (const term of symbol.terms)
          if (typeof term !== "string")
            for (const { variable } of term)
              if (!known.has(variable)) throw this.#fault(place, `${variable} is not bound`);
      } else if (symbol.kind === "each") {
        const inner = symbol.query.flatMap((part) => part.arguments.map(({ name }) => name));
        this.#checkVariables([symbol.body], new Set([...known, ...inner]), place, path);
      } else if (symbol.kind === "rule") {
        if (path.includes(symbol.rule)) throw this.#fault(place, `the rule #${symbol.rule}# reaches itself`);
        if (path.length === LIMITS.depth) throw this.#fault(place, `rules nest deeper than ${LIMITS.depth}`);
        for (const rule of this.#rule(symbol.rule, place)) {
          if (++this.#work > LIMITS.textWork) throw this.#fault(place, "its rules reach too many others");
          this.#checkVariables(rule.symbols, known, `rule ${symbol.rule}`, [...path, symbol.rule]);
        }
      }
    }
  }

  #rule(name: string, place: string) {
    const rule = this.grammar.rule(name);
    if (rule === undefined) throw this.#fault(place, `unknown symbol #${name}#`);
    return rule;
  }

  #linkRule(name: string, place: string): LinkedRule {
    const known = this.#rules.get(name);
    if (known !== undefined) return known;
    const linked: LinkedRule = { name, alternatives: [] };
    this.#rules.set(name, linked);
    linked.alternatives = this.#rule(name, place).map(({ condition, symbols }) => ({
      condition: condition === null ? null : this.#linkQuery(condition, `rule ${name}`),
      symbols: symbols.map((symbol) => this.#link(symbol, `rule ${name}`)),
    }));
    return linked;
  }

  #link(symbol: GrammarSymbol, place: string): Linked {
    switch (symbol.kind) {
      case "text":
        return symbol;
      case "rule":
        return { kind: "rule", rule: this.#linkRule(symbol.rule, place) };
      case "value":
        return {
          kind: "value",
          terms: symbol.terms.map((term) =>
            typeof term === "string"
              ? term
              : term.map(({ variable, attribute }) => ({
                  variable: this.#variable(variable),
                  texts: this.#texts.get(attribute)!,
                })),
          ),
        };
      case "each":
        return {
          kind: "each",
          body: this.#link(symbol.body, place),
          query: this.#linkQuery(symbol.query, place),
          list: symbol.list
            ? {
                empty: this.#linkRule("list_empty", place),
                separator: this.#linkRule("list_separator", place),
                last: this.#linkRule("list_last_separator", place),
              }
            : null,
        };
    }
  }

  #linkQuery(query: readonly QueryPart[], place: string): LinkedPart[] {
    return query.map(({ predicate, negated, arguments: list }) => {
      const known = this.task.predicates.get(predicate);
      if (known === undefined) throw this.#fault(place, `unknown predicate ${predicate}`);
      if (known.arity !== list.length)
        throw this.#fault(place, `${predicate} has ${known.arity} arguments, not ${list.length}`);
      return {
        index: this.#index(predicate),
        bit: negated ? SHOWN_NEGATED : SHOWN,
        slots: list.map((placeholder) => this.#slot(placeholder)),
        variables: list.map(({ name }) => this.#variable(name)),
        members: list.map(({ name, type }) => {
          const members = this.task.members(type);
          if (members === undefined) throw this.#fault(place, `${name} has the unknown type ${type}`);
          return members;
        }),
      };
    });
  }

  #all(symbols: readonly Linked[]): string {
    let text = "";
    for (const symbol of symbols) text += this.#one(symbol);
    return text;
  }

  #one(symbol: Linked): string {
    this.#spend();
    switch (symbol.kind) {
      case "text":
        return symbol.text;
      case "rule":
        return this.#ruleText(symbol.rule);
      case "value": {
        let text = "";
        for (const term of symbol.terms) text += typeof term === "string" ? term : this.#attribute(term);
        return text;
      }
      case "each": {
        const items: string[] = [];
        this.#match(symbol.query, 0, () => {
          items.push(this.#one(symbol.body));
          return false;
        });
        if (symbol.list === null) return items.join("");
        if (items.length === 0) return this.#ruleText(symbol.list.empty);
        if (items.length === 1) return items[0]!;
        const last = items.pop()!;
        return items.join(this.#ruleText(symbol.list.separator)) + this.#ruleText(symbol.list.last) + last;
      }
    }
  }

  #attribute(choices: readonly { variable: number; texts: string[] }[]): string {
    for (const { variable, texts } of choices) {
      const text = texts[this.#values[variable]!]!;
      if (text !== "") return text;
    }
    return "";
  }

  #ruleText(rule: LinkedRule): string {
    for (const { condition, symbols } of rule.alternatives)
      if (condition === null || this.#match(condition, 0, yes)) return this.#all(symbols);
    throw new InputError(`rule ${rule.name}: none of its conditions holds`, this.where);
  }

  #spend(): void {
    if (++this.#work > LIMITS.textWork)
      throw new InputError(`a text takes more than ${LIMITS.textWork} steps to make`, this.where);
  }

  /**
   * Binds the query's placeholders in every way in which the shown facts allow it, in the order of the facts' arguments,
   * different placeholders to different objects. Ends, and is true, when `found` says so.
   */
  #match(query: readonly LinkedPart[], at: number, found: () => boolean): boolean {
    const part = query[at];
    if (part === undefined) return found();
    const { index, bit, slots, variables, members } = part;
    let facts = index.all;
    for (let i = 0; i < slots.length; i++) {
      const object = this.#bound[slots[i]!]!;
      if (object === FREE) continue;
      const list = index.by[i]?.get(object) ?? NO_FACTS;
      if (list.length < facts.length) facts = list;
    }
    for (const fact of facts) {
      this.#spend();
      if ((this.#shown[fact.atom]! & bit) === 0) continue;
      let placed = 0;
      // Which placeholders this fact binds, and what their variables were before.
      let fresh = 0;
      const before: number[] = [];
      for (; placed < slots.length; placed++) {
        const object = fact.arguments[placed]!;
        const slot = slots[placed]!;
        const bound = this.#bound[slot]!;
        if (members[placed]![object] === 0) break;
        if (bound === FREE) {
          if (this.#taken[object]! > 0) break;
          this.#bound[slot] = object;
          this.#taken[object] = 1;
          before.push(this.#values[variables[placed]!]!);
          this.#values[variables[placed]!] = object;
          fresh |= 1 << placed;
        } else if (bound !== object) break;
      }
      const done = placed === slots.length && this.#match(query, at + 1, found);
      for (let i = placed - 1; i >= 0; i--) {
        if ((fresh & (1 << i)) === 0) continue;
        this.#taken[this.#bound[slots[i]!]!] = 0;
        this.#bound[slots[i]!] = FREE;
        this.#values[variables[i]!] = before.pop()!;
      }
      if (done) return true;
    }
    return false;
  }
}

const yes = () => true;

function numbered(ids: Map<string, number>, key: string): number {
  let id = ids.get(key);
  if (id === undefined) {
    id = ids.size;
    ids.set(key, id);
  }
  return id;
}
