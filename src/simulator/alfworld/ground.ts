/**
 * Grounds a PDDL task: every action with every choice of objects for which it can ever be applied, over integer ids. The
 * result has what Fast Downward's translator keeps, since TextWorld's answers depend on it.
 */
import { compareCodePoints } from "../../core/environment/canonical-text.ts";
import { InputError } from "../../core/errors.ts";
import { type Compiled, type CompiledAtom, isStatic, slotsOf, value } from "./compiled-formula.ts";
import { add, type Condition, FALSE, isFalse, isTrue, literal, TRUE } from "./condition.ts";
import type { Where } from "./expression.ts";
import { LIMITS } from "./limits.ts";
import { type GroundEffect, type Operator, reachable, tidy } from "./operators.ts";
import { type Action, type Atom, type Domain, type Formula, type Problem, ROOT_TYPE } from "./pddl.ts";
import { Predicate } from "./predicate.ts";

export interface GroundAtom {
  predicate: Predicate;
  arguments: Int32Array;
}

export interface GroundTask {
  /** Names of the objects in ascending order: ids compare as names do. */
  objects: string[];
  /** Type of each object. */
  types: string[];
  /** Whether an object is of a type, or of a type below it; undefined for an unknown type. */
  members(type: string): Uint8Array | undefined;
  predicates: ReadonlyMap<string, Predicate>;
  atoms: GroundAtom[];
  /** Atoms that hold at the start. */
  init: number[];
  operators: Operator[];
  goal: Condition;
}

/** @throws InputError where the task names what it does not have or asks for more than `LIMITS` */
export function ground(domain: Domain, problem: Problem, where: Where): GroundTask {
  const task = new Grounder(domain, problem, where);
  for (const action of domain.actions) task.instantiate(action);
  const goal = task.condition(problem.goal);
  return {
    objects: task.objects,
    types: task.types,
    members: (type) => task.members.get(type),
    predicates: task.predicates,
    atoms: task.atoms,
    init: task.init,
    operators: reachable(task.operators, task.init, task.atoms.length, where),
    goal,
  };
}

/** One step of the search for an action's arguments: a static fact or an object is chosen, then `tests` must hold. */
interface Step {
  choose:
    | { fact: CompiledAtom; known: number[]; binds: { place: number; slot: number; members: Uint8Array }[] }
    | { slot: number; domain: Int32Array };
  tests: Compiled[];
}

class Grounder {
  readonly objects: string[];
  readonly types: string[];
  readonly members = new Map<string, Uint8Array>();
  readonly predicates = new Map<string, Predicate>();
  readonly atoms: GroundAtom[] = [];
  readonly init: number[] = [];
  readonly operators: Operator[] = [];
  readonly #ids = new Map<string, number>();
  readonly #domains = new Map<string, Int32Array>();
  #bindings = 0;
  #formula = 0;

  constructor(
    domain: Domain,
    problem: Problem,
    private readonly where: Where,
  ) {
    const typeOf = new Map<string, string>();
    for (const { name, type } of [...domain.constants, ...problem.objects]) {
      if (typeOf.has(name)) throw new InputError(`the object ${name} is listed twice`, where);
      if (type !== ROOT_TYPE && !domain.types.has(type))
        throw new InputError(`the object ${name} has the unknown type ${type}`, where);
      typeOf.set(name, type);
    }
    if (typeOf.size > LIMITS.objects)
      throw new InputError(`has ${typeOf.size} objects; at most ${LIMITS.objects} are read`, where);
    this.objects = [...typeOf.keys()].sort(compareCodePoints);
    this.types = this.objects.map((name) => typeOf.get(name)!);
    this.objects.forEach((name, id) => {
      this.#ids.set(name, id);
    });
    for (const type of [ROOT_TYPE, ...domain.types.keys()])
      this.members.set(type, new Uint8Array(this.objects.length));
    this.types.forEach((own, id) => {
      for (let type: string | undefined = own; type !== undefined; type = domain.types.get(type))
        this.members.get(type)![id] = 1;
      this.members.get(ROOT_TYPE)![id] = 1;
    });
    const fluents = new Set(
      domain.actions.flatMap((action) => action.effects.map((effect) => effect.atom.predicate)),
    );
    // One object more than there are: it stands for constants of the domain that a problem does not have.
    const base = this.objects.length + 1;
    const declare = (name: string, arity: number) => {
      if (arity > LIMITS.arity || base ** arity > Number.MAX_SAFE_INTEGER)
        throw new InputError(`${name} has too many arguments (${arity}) for ${base - 1} objects`, where);
      this.predicates.set(name, new Predicate(name, fluents.has(name), arity, base));
    };
    for (const [name, arity] of domain.predicates) declare(name, arity);
    for (const { predicate, terms } of problem.init) {
      if (!this.predicates.has(predicate)) declare(predicate, terms.length);
      const known = this.predicates.get(predicate)!;
      const ids = Int32Array.from(terms, (term) => {
        const id = this.#ids.get(term);
        if (id === undefined)
          throw new InputError(`:init: unknown object ${term} in (${predicate} …)`, where);
        return id;
      });
      if (ids.length !== known.arity)
        throw new InputError(`:init: ${predicate} has ${known.arity} and ${ids.length} arguments`, where);
      if (known.find(ids) !== undefined) continue;
      this.init.push(this.#atom(known, ids));
      known.facts.push(ids);
    }
  }

  condition(formula: Formula): Condition {
    const scope = new Map<string, number>();
    const compiled = this.#compile(formula, scope, { next: 0 });
    return this.#ground(compiled, [], false);
  }

  /** Adds an operator for each choice of an action's arguments that its static conditions allow. */
  instantiate(action: Action): void {
    const scope = new Map(action.parameters.map(({ name }, slot) => [name, slot]));
    const slots = { next: scope.size };
    const joined = conjunction(action.precondition);
    if (joined.length > LIMITS.conjuncts)
      throw new InputError(
        `${action.name}: its precondition joins ${joined.length} conditions; at most ${LIMITS.conjuncts} are read`,
        this.where,
      );
    const conjuncts = joined.map((part) => this.#compile(part, scope, slots));
    const effects = action.effects.map(({ variables, condition, atom, negative }) => {
      const inner = new Map(scope);
      const [bound, domains] = this.#quantified(variables, inner, slots);
      return {
        slots: bound,
        domains,
        when: this.#compile(condition, inner, slots),
        atom: this.#changed(action, atom, inner),
        negative,
      };
    });
    const { steps, open } = this.#plan(action, conjuncts);
    const environment: number[] = new Array(slots.next).fill(-1);
    const precondition: Compiled = { kind: "and", parts: open };

    const create = () => {
      const pre = this.#ground(precondition, environment, false);
      if (isFalse(pre)) return;
      const listed: GroundEffect[] = [];
      for (const effect of effects)
        this.#each(effect.slots, effect.domains, environment, () => {
          const when = this.#ground(effect.when, environment, false);
          if (isFalse(when)) return true;
          const { predicate, terms } = effect.atom;
          const atom = this.#atom(
            predicate,
            Int32Array.from(terms, (term) => value(term, environment)),
          );
          listed.push({ atom, negative: effect.negative, when });
          return true;
        });
      const kept = tidy(listed, pre);
      if (kept.length === 0) return;
      if (this.operators.length === LIMITS.operators)
        throw new InputError(`asks for more than ${LIMITS.operators} operators`, this.where);
      this.operators.push({
        action,
        arguments: Int32Array.from(environment.slice(0, action.parameters.length)),
        precondition: pre,
        effects: kept,
      });
    };

    const run = (at: number): void => {
      const step = steps[at];
      if (step === undefined) {
        create();
        return;
      }
      const next = () => {
        for (const test of step.tests) if (!isTrue(this.#ground(test, environment, false))) return;
        run(at + 1);
      };
      const { choose } = step;
      if ("slot" in choose) {
        for (const object of choose.domain) {
          this.#countBinding(action);
          environment[choose.slot] = object;
          next();
        }
        return;
      }
      const { predicate, terms } = choose.fact;
      let facts: readonly Int32Array[] = predicate.facts;
      for (const place of choose.known) {
        const list = predicate.factsWith(place, value(terms[place]!, environment));
        if (list.length < facts.length) facts = list;
      }
      search: for (const fact of facts) {
        this.#countBinding(action);
        for (const place of choose.known)
          if (fact[place] !== value(terms[place]!, environment)) continue search;
        for (const { place, members } of choose.binds) if (members[fact[place]!] === 0) continue search;
        for (const { place, slot } of choose.binds) environment[slot] = fact[place]!;
        // A variable that stands twice in one atom must be the same object twice.
        for (const { place, slot } of choose.binds) if (environment[slot] !== fact[place]) continue search;
        next();
      }
    };
    run(0);
  }

  /** The order in which arguments are chosen: the most restrictive static fact first, then what is left. */
  #plan(action: Action, conjuncts: readonly Compiled[]): { steps: Step[]; open: Compiled[] } {
    const steps: Step[] = [
      { choose: { slot: action.parameters.length, domain: Int32Array.of(-1) }, tests: [] },
    ];
    const bound = new Set<number>();
    const isFact = (part: Compiled): part is CompiledAtom => part.kind === "atom" && !part.predicate.fluent;
    let facts = conjuncts.filter(isFact);
    let tests = conjuncts.filter((part) => !isFact(part) && isStatic(part));
    const open = conjuncts.filter((part) => !isStatic(part));
    const parameters = action.parameters.map((_, slot) => slot);
    const takeTests = () => {
      const ready = tests.filter((test) => slotsOf(test).every((slot) => bound.has(slot)));
      tests = tests.filter((test) => !ready.includes(test));
      return ready;
    };
    steps[0]!.tests.push(...takeTests());
    const isKnown = (term: number) => term < 0 || bound.has(term);
    while (facts.length > 0) {
      const places = (fact: CompiledAtom) => [...fact.terms.keys()].filter((at) => isKnown(fact.terms[at]!));
      const cost = (fact: CompiledAtom) => fact.predicate.estimate(places(fact));
      const best = facts.reduce((a, b) => (cost(b) < cost(a) ? b : a));
      const known = places(best);
      const binds = [...best.terms.keys()]
        .filter((at) => !known.includes(at))
        .map((place) => {
          const slot = best.terms[place]!;
          return { place, slot, members: this.members.get(action.parameters[slot]!.type)! };
        });
      facts = facts.filter((fact) => fact !== best);
      for (const { slot } of binds) bound.add(slot);
      steps.push({ choose: { fact: best, known, binds }, tests: takeTests() });
    }
    for (let free = parameters.filter((slot) => !bound.has(slot)); free.length > 0; ) {
      // A parameter that makes a test decidable goes first.
      const decides = (slot: number) =>
        tests.some((test) => slotsOf(test).every((other) => other === slot || bound.has(other)));
      const slot = free.find(decides) ?? free[0]!;
      bound.add(slot);
      free = free.filter((other) => other !== slot);
      steps.push({
        choose: { slot, domain: this.#domain(action.parameters[slot]!.type) },
        tests: takeTests(),
      });
    }
    return { steps, open };
  }

  #countBinding(action: Action): void {
    if (++this.#bindings > LIMITS.bindings)
      throw new InputError(
        `${action.name}: grounding tries more than ${LIMITS.bindings} choices of objects`,
        this.where,
      );
  }

  /** Objects of a type, those of types below it too. An unknown type has none. */
  #domain(type: string): Int32Array {
    let domain = this.#domains.get(type);
    if (domain === undefined) {
      const members = this.members.get(type);
      domain = Int32Array.from(this.objects.keys()).filter((object) => members?.[object] === 1);
      this.#domains.set(type, domain);
    }
    return domain;
  }

  #atom(predicate: Predicate, terms: Int32Array): number {
    let atom = predicate.find(terms);
    if (atom === undefined) {
      atom = this.atoms.length;
      if (atom === LIMITS.atoms) throw new InputError(`asks for more than ${atom} facts`, this.where);
      this.atoms.push({ predicate, arguments: terms });
      predicate.set(terms, atom);
    }
    return atom;
  }

  #terms({ predicate, terms }: Atom, scope: ReadonlyMap<string, number>): CompiledAtom {
    const of = (term: string) => {
      if (term.startsWith("?")) return scope.get(term)!;
      // ALFWorld's domain names SinkBasinType and others, which not every problem has: then nothing is known of them.
      return -1 - (this.#ids.get(term) ?? this.objects.length);
    };
    return { kind: "atom", predicate: this.predicates.get(predicate)!, terms: terms.map(of) };
  }

  /** The atom of an effect, whose objects must all be there. */
  #changed(action: Action, atom: Atom, scope: ReadonlyMap<string, number>): CompiledAtom {
    const unknown = atom.terms.find((term) => !term.startsWith("?") && !this.#ids.has(term));
    if (unknown !== undefined)
      throw new InputError(`${action.name}: its effect names the unknown object ${unknown}`, this.where);
    return this.#terms(atom, scope);
  }

  #quantified(
    variables: readonly { name: string; type: string }[],
    scope: Map<string, number>,
    slots: { next: number },
  ): [number[], Int32Array[]] {
    const bound = variables.map(({ name }) => {
      const slot = slots.next++;
      scope.set(name, slot);
      return slot;
    });
    return [bound, variables.map(({ type }) => this.#domain(type))];
  }

  #compile(formula: Formula, scope: ReadonlyMap<string, number>, slots: { next: number }): Compiled {
    switch (formula.kind) {
      case "and":
      case "or":
        return { kind: formula.kind, parts: formula.parts.map((part) => this.#compile(part, scope, slots)) };
      case "not":
        return { kind: "not", part: this.#compile(formula.part, scope, slots) };
      case "exists":
      case "forall": {
        const inner = new Map(scope);
        const [bound, domains] = this.#quantified(formula.variables, inner, slots);
        return { kind: formula.kind, slots: bound, domains, part: this.#compile(formula.part, inner, slots) };
      }
      case "atom": {
        if (formula.predicate !== "=") return this.#terms(formula, scope);
        const of = (term: string) =>
          term.startsWith("?") ? scope.get(term)! : -1 - (this.#ids.get(term) ?? this.objects.length);
        return { kind: "equal", terms: [of(formula.terms[0]!), of(formula.terms[1]!)] };
      }
    }
  }

  /** The formula, or its negation, with the objects of an environment; what is static is decided. */
  #ground(formula: Compiled, environment: number[], negated: boolean): Condition {
    switch (formula.kind) {
      case "equal": {
        const same = value(formula.terms[0], environment) === value(formula.terms[1], environment);
        return same !== negated ? TRUE : FALSE;
      }
      case "atom": {
        const { predicate, terms } = formula;
        const objects = terms.map((term) => value(term, environment));
        if (!predicate.fluent) return (predicate.find(objects) !== undefined) !== negated ? TRUE : FALSE;
        this.#countFormula(1);
        return literal(this.#atom(predicate, Int32Array.from(objects)), negated);
      }
      case "not":
        return this.#ground(formula.part, environment, !negated);
      case "and":
      case "or": {
        const every = (formula.kind === "and") !== negated;
        const parts: Condition[] = [];
        for (const part of formula.parts)
          if (add(parts, this.#ground(part, environment, negated), every)) return every ? FALSE : TRUE;
        return this.#gate(every, parts);
      }
      case "exists":
      case "forall": {
        const every = (formula.kind === "forall") !== negated;
        const parts: Condition[] = [];
        const decided = !this.#each(
          formula.slots,
          formula.domains,
          environment,
          () => !add(parts, this.#ground(formula.part, environment, negated), every),
        );
        return decided ? (every ? FALSE : TRUE) : this.#gate(every, parts);
      }
    }
  }

  #gate(every: boolean, parts: Condition[]): Condition {
    if (parts.length === 1) return parts[0]!;
    this.#countFormula(parts.length);
    return { every, parts };
  }

  #countFormula(size: number): void {
    this.#formula += size;
    if (this.#formula > LIMITS.formula)
      throw new InputError(`its conditions have more than ${LIMITS.formula} ground parts`, this.where);
  }

  /** Calls `work` for each choice of objects while it returns true; false if it was stopped. */
  #each(
    slots: readonly number[],
    domains: readonly Int32Array[],
    environment: number[],
    work: () => boolean,
    at = 0,
  ): boolean {
    if (at === slots.length) return work();
    for (const object of domains[at]!) {
      if (++this.#bindings > LIMITS.bindings)
        throw new InputError(
          `its conditions try more than ${LIMITS.bindings} choices of objects`,
          this.where,
        );
      environment[slots[at]!] = object;
      if (!this.#each(slots, domains, environment, work, at + 1)) return false;
    }
    return true;
  }
}

function conjunction(formula: Formula): Formula[] {
  return formula.kind === "and" ? formula.parts.flatMap(conjunction) : [formula];
}
