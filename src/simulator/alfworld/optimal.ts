/**
 * Optimal actions in made games: the commands that begin a shortest completion, for one who knows the whole state. The
 * distance to the goal is found over the few plans that a made goal allows, each a row of errands, so that it takes
 * microseconds where a search takes seconds.
 */
import type { Episode } from "./episode.ts";
import type { GameFile } from "./game.ts";

/** One thing to do in one place. */
interface Errand {
  place: string;
  /** The place must be open. */
  inside: boolean;
  /** Commands that it takes there: 0 where being there is enough. */
  commands: 0 | 1;
}

/** What changes. Names are as the game shows them: `cabinet 3`. */
interface State {
  at: string;
  carried: string | null;
  /** Where things lie. */
  on: ReadonlyMap<string, string>;
  opened: ReadonlySet<string>;
  /** Things in the state that the task asks for: clean, hot or cool. */
  treated: ReadonlySet<string>;
  lit: ReadonlySet<string>;
}

interface Goal {
  kind: string;
  /** Null for a task of looking in light. */
  sort: string | null;
  count: number;
  treatment: keyof typeof TREATMENTS | null;
}

/** What treats a thing, by the state that it is to be in, and what undoes it. */
const TREATMENTS = {
  clean: { verb: "clean", appliance: "washes", undoneBy: null },
  hot: { verb: "heat", appliance: "heats", undoneBy: "cool" },
  cool: { verb: "cool", appliance: "cools", undoneBy: "heat" },
} as const;

/** What a place that has the first trait asks of things. */
const ADMISSION = [
  ["washes", "washable"],
  ["heats", "heatable"],
  ["cools", "coolable"],
] as const;

export class OptimalActions {
  readonly #goal: Goal;
  /** `washable(apple 1)`, `kind(apple 1, apple)`, … of what never changes. */
  readonly #facts: ReadonlySet<string>;
  readonly #places: readonly string[];
  readonly #targets: readonly string[];

  /**
   * @param game a made game
   * @param opening an episode of it
   */
  constructor(game: Pick<GameFile, "pddl_problem">, opening: Episode) {
    this.#goal = goalOf(game.pddl_problem);
    const facts = factsOf(opening);
    this.#facts = new Set(facts.map(({ predicate, terms }) => text(predicate, terms)));
    this.#places = facts.flatMap(({ predicate, terms }) => (predicate === "sort" ? [terms[0]!] : []));
    this.#targets = facts.flatMap(({ predicate, terms }) =>
      predicate === "kind" && terms[1] === this.#goal.kind ? [terms[0]!] : [],
    );
  }

  /**
   * The admissible commands that lie on a shortest completion, in the order of `admissible`; none once the game is won.
   * `distance` counts commands to the goal.
   */
  at(episode: Episode): { commands: string[]; distance: number } {
    if (episode.won) return { commands: [], distance: 0 };
    const state = this.#state(episode);
    const distance = this.#distance(state);
    const commands = episode.admissible().filter((command) => {
      const next = this.#after(state, command);
      return next !== null && this.#distance(next) === distance - 1;
    });
    return { commands, distance };
  }

  #has(predicate: string, ...terms: string[]): boolean {
    return this.#facts.has(text(predicate, terms));
  }

  #state(episode: Episode): State {
    let [at, carried]: [string, string | null] = ["", null];
    const on = new Map<string, string>();
    const [opened, treated, lit] = [new Set<string>(), new Set<string>(), new Set<string>()];
    for (const { predicate, terms } of factsOf(episode)) {
      const [first, second] = [terms[0]!, terms[1]!];
      if (predicate === "at") at = second;
      else if (predicate === "carries") carried = second;
      else if (predicate === "in") on.set(first, second);
      else if (predicate === "opened") opened.add(first);
      else if (predicate === "lit") lit.add(first);
      else if (predicate === this.#goal.treatment) treated.add(first);
    }
    return { at, carried, on, opened, treated, lit };
  }

  /** The state that a command leads to; null where it brings nothing nearer. */
  #after(state: State, command: string): State | null {
    const [, verb, first = "", second = ""] =
      /^(go to|open|take|move|clean|heat|cool|use) (.+?)(?: (?:from|to|with) (.+))?$/.exec(command) ?? [];
    switch (verb) {
      case "go to":
        return { ...state, at: first };
      case "open":
        return { ...state, opened: new Set([...state.opened, first]) };
      case "take": {
        const on = new Map(state.on);
        on.delete(first);
        return { ...state, on, carried: first };
      }
      case "move":
        return { ...state, on: new Map([...state.on, [first, second]]), carried: null };
      case "use": {
        const lit = new Set(state.lit);
        if (!lit.delete(first)) lit.add(first);
        return { ...state, lit };
      }
      default: {
        const treatment = this.#goal.treatment === null ? null : TREATMENTS[this.#goal.treatment];
        if (verb === undefined || treatment === null) return null;
        const treated = new Set(state.treated);
        if (verb === treatment.verb) treated.add(first);
        else if (verb === treatment.undoneBy) treated.delete(first);
        else return null;
        return { ...state, treated };
      }
    }
  }

  #distance(state: State): number {
    let least = Number.POSITIVE_INFINITY;
    for (const plan of this.#plans(state)) least = Math.min(least, this.#cost(state, plan));
    return least;
  }

  /** Commands of a plan: going, opening what is closed, and the errands themselves. */
  #cost(state: State, plan: readonly Errand[]): number {
    let { at } = state;
    const opened = new Set(state.opened);
    let count = 0;
    for (const { place, inside, commands } of plan) {
      if (at !== place) count += 1;
      at = place;
      if (inside && this.#has("openable", place) && !opened.has(place)) {
        opened.add(place);
        count += 1;
      }
      count += commands;
    }
    return count;
  }

  /** Every way worth trying, as errands in their order. */
  *#plans(state: State): Generator<Errand[]> {
    const { sort, count } = this.#goal;
    if (sort === null) {
      const lamps = [...state.on].filter(([item]) => this.#has("lamp", item));
      for (const target of this.#targets)
        for (const [lamp, place] of lamps)
          for (const taken of this.#takes(state, target))
            yield [...taken, { place, inside: false, commands: state.lit.has(lamp) ? 0 : 1 }];
      return;
    }
    for (const place of this.#places) {
      if (!this.#has("sort", place, sort)) continue;
      if (count === 1) for (const target of this.#targets) yield* this.#brings(state, target, place);
      else {
        const missing = this.#targets.filter((target) => state.on.get(target) !== place);
        const there = this.#targets.length - missing.length;
        for (const order of orders(missing, Math.max(0, count - there)))
          yield* this.#bringsAll(state, order, place);
      }
    }
  }

  *#bringsAll(state: State, [first, ...rest]: readonly string[], place: string): Generator<Errand[]> {
    if (first === undefined) {
      yield [];
      return;
    }
    for (const way of this.#brings(state, first, place))
      for (const others of this.#bringsAll({ ...state, carried: null }, rest, place))
        yield [...way, ...others];
  }

  /** Ways to put one target down in a place, treated as the task asks. */
  *#brings(state: State, target: string, place: string): Generator<Errand[]> {
    const { treatment } = this.#goal;
    const treated = treatment === null || state.treated.has(target);
    if (treated && state.on.get(target) === place) {
      yield [];
      return;
    }
    const move: Errand = { place, inside: true, commands: 1 };
    for (const taken of this.#takes(state, target)) {
      if (treated) yield [...taken, move];
      else
        for (const appliance of this.#places)
          if (this.#has(TREATMENTS[treatment].appliance, appliance))
            yield [...taken, { place: appliance, inside: false, commands: 1 }, move];
    }
  }

  /** Ways to have a thing in one's hands: what else is in them is put down first. */
  *#takes({ carried, on }: State, item: string): Generator<Errand[]> {
    if (carried === item) {
      yield [];
      return;
    }
    const take: Errand = { place: on.get(item)!, inside: true, commands: 1 };
    if (carried === null) yield [take];
    else
      for (const place of this.#places)
        if (this.#accepts(place, carried)) yield [{ place, inside: true, commands: 1 }, take];
  }

  /** The rule of the domain's `move`. */
  #accepts(place: string, item: string): boolean {
    return (
      !(this.#has("narrow", place) && this.#has("bulky", item)) &&
      ADMISSION.every(([trait, asked]) => !this.#has(trait, place) || this.#has(asked, item))
    );
  }
}

/** Ordered choices of so many. */
function* orders(from: readonly string[], count: number): Generator<string[]> {
  if (count === 0) yield [];
  else
    for (const first of from)
      for (const rest of orders(
        from.filter((other) => other !== first),
        count - 1,
      ))
        yield [first, ...rest];
}

const text = (predicate: string, terms: readonly string[]): string => `${predicate}(${terms.join(", ")})`;

/** The facts shown that are not negated, without types. */
function factsOf(episode: Episode): { predicate: string; terms: string[] }[] {
  return episode.facts().flatMap((fact) => {
    const [, predicate = "", list = ""] = /^([^(]+)\((.*)\)$/.exec(fact) ?? [];
    if (predicate.startsWith("not_")) return [];
    // An id without a number is shown with a blank behind it.
    return [
      { predicate, terms: list.split(", ").map((term) => term.slice(0, term.lastIndexOf(":")).trim()) },
    ];
  });
}

/** The goal of a made problem, in the form in which `generate.ts` writes it. */
function goalOf(problem: string): Goal {
  const goal = problem.slice(problem.indexOf("(:goal"));
  const kind = /\(kind \?i ([\w-]+)\)/.exec(goal)?.[1];
  if (kind === undefined) throw new Error("the goal is not one of a made game");
  const state = /\((clean|hot|cool) \?i\)/.exec(goal)?.[1] as Goal["treatment"] | undefined;
  return {
    kind,
    sort: /\(sort \?r ([\w-]+)\)/.exec(goal)?.[1] ?? null,
    count: goal.includes("?j") ? 2 : 1,
    treatment: state ?? null,
  };
}
