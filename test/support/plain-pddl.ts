/**
 * A second, plain reading of PDDL to hold the engine to: no grounding and no ids, conditions evaluated on the expressions
 * as they stand, facts as texts in a set.
 */
import { type Expression, readExpression } from "../../src/simulator/alfworld/expression.ts";

type Bound = Readonly<Record<string, string>>;
const WHERE = { file: "plain", key: "" };

export class PlainWorld {
  readonly facts = new Set<string>();
  readonly #types = new Map<string, string>();
  readonly #objects: [name: string, type: string][];
  readonly #actions: { name: string; parameters: [string, string][]; pre: Expression; effect: Expression }[];
  readonly #goal: Expression;

  constructor(domain: string, problem: string) {
    const world = sections(domain);
    for (const [name, above] of typed(world.get(":types")![0]!)) this.#types.set(name, above);
    this.#actions = world.get(":action")!.map(([name, ...rest]) => {
      const part = (key: string) => rest[rest.indexOf(key) + 1]!;
      return {
        name: String(name),
        parameters: typed(part(":parameters") as Expression[]),
        pre: rest.includes(":precondition") ? part(":precondition") : ["and"],
        effect: part(":effect"),
      };
    });
    const task = sections(problem);
    this.#objects = typed(task.get(":objects")![0]!);
    for (const fact of task.get(":init")![0]!) this.facts.add((fact as string[]).join(" "));
    this.#goal = task.get(":goal")![0]![0]!;
  }

  get won(): boolean {
    return this.#holds(this.#goal, {});
  }

  /** Every action with every choice of objects whose precondition holds now. */
  *applicable(): Generator<{ action: string; bound: Bound }> {
    for (const { name, parameters, pre } of this.#actions)
      for (const bound of this.#choices(parameters, {}))
        if (this.#holds(pre, bound)) yield { action: name, bound };
  }

  /** Deletes first, then adds, by the conditions before. */
  apply(action: string, bound: Bound): void {
    const { effect } = this.#actions.find(({ name }) => name === action)!;
    const parts = typeof effect !== "string" && effect[0] === "and" ? effect.slice(1) : [effect];
    const text = (atom: Expression): string =>
      typeof atom === "string" ? (bound[atom] ?? atom) : atom.map(text).join(" ");
    for (const part of parts) if (part[0] === "not") this.facts.delete(text(part[1]!));
    for (const part of parts) if (part[0] !== "not") this.facts.add(text(part));
  }

  #is(type: string, of: string): boolean {
    return of === "object" || type === of || (this.#types.has(type) && this.#is(this.#types.get(type)!, of));
  }

  *#choices([first, ...rest]: [string, string][], bound: Bound): Generator<Bound> {
    if (first === undefined) {
      yield bound;
      return;
    }
    for (const [object, type] of this.#objects)
      if (this.#is(type, first[1])) yield* this.#choices(rest, { ...bound, [first[0]]: object });
  }

  #holds(condition: Expression, bound: Bound): boolean {
    const [head, ...rest] = condition as Expression[];
    const some = () => [...this.#choices(typed(rest[0] as Expression[]), bound)];
    switch (head) {
      case "and":
        return rest.every((part) => this.#holds(part, bound));
      case "or":
        return rest.some((part) => this.#holds(part, bound));
      case "not":
        return !this.#holds(rest[0]!, bound);
      case "imply":
        return !this.#holds(rest[0]!, bound) || this.#holds(rest[1]!, bound);
      case "exists":
        return some().some((inner) => this.#holds(rest[1]!, inner));
      case "forall":
        return some().every((inner) => this.#holds(rest[1]!, inner));
    }
    const terms = (rest as string[]).map((term) => bound[term] ?? term);
    return head === "=" ? terms[0] === terms[1] : this.facts.has([head, ...terms].join(" "));
  }
}

/** Sections of a definition by their keys. */
function sections(text: string): Map<string, Expression[][]> {
  const found = new Map<string, Expression[][]>();
  for (const [key, ...rest] of readExpression(text, WHERE).slice(2) as Expression[][])
    found.set(String(key), [...(found.get(String(key)) ?? []), rest]);
  return found;
}

function typed(list: readonly Expression[]): [string, string][] {
  const text = (list as string[]).join(" ");
  return [...text.matchAll(/([^-]+?)\s+-\s+(\S+)/g)].flatMap(([, names, type]) =>
    names!
      .trim()
      .split(/\s+/)
      .map((name): [string, string] => [name, type!]),
  );
}
