/**
 * Reads TextWorld's grammar files (twl2): how each action is typed and answered, and the rules from which answers are
 * made. Rules hold queries over the facts that are shown.
 */
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import { parseJsonText } from "../../core/json.ts";
import { describeIssue } from "../../core/record/describe-issue.ts";
import type { Where } from "./expression.ts";
import { LIMITS } from "./limits.ts";

/** `name: type`, bound to one object by the action or by a query. */
export interface Placeholder {
  name: string;
  type: string;
}

/** One condition of a query. `negated` looks for a recorded negation (`not_…`), not for a fact's absence. */
export interface QueryPart {
  predicate: string;
  negated: boolean;
  arguments: Placeholder[];
}

export const ATTRIBUTES = ["name", "id", "type", "definite", "indefinite"] as const;
export type Attribute = (typeof ATTRIBUTES)[number];

/** Text, or the first attribute of some variables that is not empty. */
export type Term = string | { variable: string; attribute: Attribute }[];

export type GrammarSymbol =
  | { kind: "text"; text: string }
  | { kind: "rule"; rule: string }
  | { kind: "value"; terms: Term[] }
  /** The body for each match of a query; as a list it is joined by `list_separator`, empty it is `list_empty`. */
  | { kind: "each"; body: GrammarSymbol; query: QueryPart[]; list: boolean };

export interface Rule {
  condition: QueryPart[] | null;
  symbols: GrammarSymbol[];
}

export interface Grammar {
  /** Alternatives of a rule: the first whose condition matches is used. Read on demand. */
  rule(name: string): Rule[] | undefined;
  /** By the action's name in lower case. */
  actions: ReadonlyMap<string, { template: GrammarSymbol[]; feedback: GrammarSymbol[] }>;
}

const ruleSchema = z.record(
  z.string(),
  z.array(z.looseObject({ rhs: z.string(), condition: z.string().optional() })).min(1),
);

/** @throws InputError for what is not understood; a rule is read when it is asked for, so unused ones may be faulty */
export function readGrammar(text: string, where: Where): Grammar {
  if (text.length > LIMITS.text)
    throw new InputError(`has ${text.length} characters; at most ${LIMITS.text} are read`, where);
  const raw = new Map<string, z.infer<typeof ruleSchema>[string]>();
  const readRules = (block: string, place: string) => {
    const at = { ...where, key: `${where.key}, ${place}` };
    const lines = block.split("\n").filter((line) => !line.trimStart().startsWith("#"));
    const value = parseJsonText(lines.join("\n"), at, LIMITS.depth);
    const checked = ruleSchema.safeParse(value);
    if (!checked.success) {
      const { key, message } = describeIssue(checked.error.issues[0]!, value);
      throw new InputError(`${key}: ${message}`, at);
    }
    for (const [name, alternatives] of Object.entries(checked.data)) raw.set(name, alternatives);
  };
  const actions = new Map<string, { template: GrammarSymbol[]; feedback: GrammarSymbol[] }>();
  const source = new Source(text, where);
  while (!source.atEnd()) {
    if (source.take("grammar")) {
      source.expect("::");
      readRules(source.block(), "grammar");
      source.expect(";");
      continue;
    }
    source.expect("action");
    const name = source.name();
    const parts = new Map<string, string>();
    source.expect("{");
    while (!source.take("}")) {
      const key = source.name();
      source.expect("::");
      if (key === "grammar") readRules(source.block(), `action ${name}`);
      else if (key === "pddl") source.block();
      else if (key === "template" || key === "feedback") parts.set(key, source.string());
      else
        throw new InputError(
          `action ${name}: unknown key ${key}; expected template, feedback or grammar`,
          where,
        );
      source.expect(";");
    }
    const read = (key: string) => {
      const part = parts.get(key);
      if (part === undefined) throw new InputError(`action ${name}: has no ${key}`, where);
      return readSymbols(part, `action ${name}, ${key}`, where);
    };
    actions.set(name.toLowerCase(), { template: read("template"), feedback: read("feedback") });
  }
  const rules = new Map<string, Rule[]>();
  return {
    actions,
    rule(name) {
      const known = rules.get(name);
      if (known !== undefined) return known;
      const read = raw.get(name)?.map(({ rhs, condition }) => ({
        condition: condition ? readQuery(condition, `rule ${name}`, where) : null,
        symbols: readSymbols(rhs, `rule ${name}`, where),
      }));
      if (read !== undefined) rules.set(name, read);
      return read;
    },
  };
}

/** Reads the outer form of a grammar file, token by token; `#` begins a comment. */
class Source {
  #at = 0;
  constructor(
    private readonly text: string,
    private readonly where: Where,
  ) {}

  #match(pattern: RegExp): string | undefined {
    const blank = /(?:\s+|#[^\n]*)*/y;
    blank.lastIndex = this.#at;
    blank.exec(this.text);
    this.#at = blank.lastIndex;
    const sticky = new RegExp(pattern, "y");
    sticky.lastIndex = this.#at;
    const [found] = sticky.exec(this.text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #need(pattern: RegExp, what: string): string {
    const found = this.#match(pattern);
    if (found !== undefined) return found;
    const line = this.text.slice(0, this.#at).split("\n").length;
    const here = this.text.slice(this.#at, this.#at + 30);
    throw new InputError(
      `line ${line}: expected ${what}, found ${here === "" ? "the end" : JSON.stringify(here)}`,
      this.where,
    );
  }

  atEnd(): boolean {
    return this.#match(/$/) !== undefined;
  }
  take(word: string): boolean {
    return this.#match(new RegExp(/^\w/.test(word) ? `${word}\\b` : word)) !== undefined;
  }
  expect(word: string): void {
    this.#need(new RegExp(word), JSON.stringify(word));
  }
  name(): string {
    return this.#need(/[\w/-]+/, "a name");
  }
  string(): string {
    return this.#need(/"[^"]*"/, "a text in quotes").slice(1, -1);
  }
  block(): string {
    return this.#need(/"""[\s\S]*?"""/, 'a block in """').slice(3, -3);
  }
}

/** The symbols of one text. White space and comments at its very start are left out, as TextWorld's reader does. */
function readSymbols(whole: string, place: string, where: Where): GrammarSymbol[] {
  const text = whole.replace(/^(?:\/\/[^\n]*\n?|\s+)+/, "");
  const symbols: GrammarSymbol[] = [];
  let at = 0;
  const fault = (expected: string) =>
    new InputError(
      `${place}: expected ${expected}, found ${JSON.stringify(text.slice(at, at + 20))} in ${JSON.stringify(whole.slice(0, 80))}`,
      where,
    );
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return undefined;
    at += found[0].length;
    return found[1];
  };
  const inBraces = (): { body: GrammarSymbol; query: QueryPart[] | null } => {
    if (take(/(\{)/y) === undefined) throw fault('"{"');
    const rule = take(/#([^#{}]+)#/y);
    let body: GrammarSymbol;
    if (rule !== undefined) body = { kind: "rule", rule };
    else {
      const expression = take(/([^|[\]{}\n<>]+)/y);
      if (expression === undefined) throw fault("an expression");
      body = { kind: "value", terms: readTerms(expression, place, where) };
    }
    const query = take(/\s*\|\s*([^;|{}\n[\]#]+)/y);
    if (take(/(\})/y) === undefined) throw fault('"}"');
    return { body, query: query === undefined ? null : readQuery(query, place, where) };
  };
  while (at < text.length) {
    const start = text[at];
    if (start === "[") {
      at++;
      const { body, query } = inBraces();
      if (take(/(\])/y) === undefined) throw fault('"]"');
      // A list without a query has one item.
      symbols.push(query === null ? body : { kind: "each", body, query, list: true });
    } else if (start === "{") {
      const { body, query } = inBraces();
      symbols.push(query === null ? body : { kind: "each", body, query, list: false });
    } else if (start === "#") {
      const rule = take(/#([^#]+)#/y);
      if (rule === undefined) throw fault('"#rule#"');
      symbols.push({ kind: "rule", rule });
    } else {
      const plain = take(/([^;|"<>[\]#{}]+)/y) ?? take(/"([^;|"<>[\]#{}]*)"/y);
      if (plain === undefined) throw fault('text, "#rule#", "{…}" or "[{…}]"');
      symbols.push({ kind: "text", text: plain });
    }
  }
  return symbols;
}

/** `o.indefinite + ' ' + o.name`, `r.name or r.id`, `r`. */
function readTerms(expression: string, place: string, where: Where): Term[] {
  return expression.split("+").map((part): Term => {
    const text = part.trim();
    const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(text);
    if (quoted !== null) return quoted[1] ?? quoted[2] ?? "";
    return text.split(/\s+or\s+/).map((choice) => {
      const [, variable, attribute = "name"] = /^([A-Za-z_]\w*)(?:\.(\w+))?$/.exec(choice) ?? [];
      const known = ATTRIBUTES.find((name) => name === attribute);
      if (variable === undefined || known === undefined)
        throw new InputError(
          `${place}: cannot evaluate ${JSON.stringify(choice)}; expected a variable with ${ATTRIBUTES.join(", ")}`,
          where,
        );
      return { variable, attribute: known };
    });
  });
}

/** `holds(a: agent, o: object) & not_opened(r: receptacle)`. */
function readQuery(text: string, place: string, where: Where): QueryPart[] {
  const parts = text.split("&");
  if (parts.length > LIMITS.conjuncts)
    throw new InputError(
      `${place}: a query joins ${parts.length} conditions; at most ${LIMITS.conjuncts} are read`,
      where,
    );
  return parts.map((part) => {
    const [, predicate, list] = /^\s*([\w/-]+)\s*\(([^()]*)\)\s*$/.exec(part) ?? [];
    if (predicate === undefined || list === undefined)
      throw new InputError(
        `${place}: expected predicate(name: type, …), found ${JSON.stringify(part)}`,
        where,
      );
    const negated = predicate.startsWith("not_");
    return {
      predicate: negated ? predicate.slice("not_".length) : predicate,
      negated,
      arguments: list
        .split(",")
        .filter((item) => item.trim() !== "")
        .map((item) => {
          const [name = "", type = name] = item.split(":").map((side) => side.trim());
          return { name, type };
        }),
    };
  });
}
