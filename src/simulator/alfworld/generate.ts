/**
 * Makes household games of ALFWorld's six task types, with a domain and a grammar of our own and ALFWorld's commands. A
 * game follows from its seed, size and type alone, and is solvable by construction: its walkthrough is part of it.
 */
import { TASK_TYPES, type TaskType } from "../../core/environment/alfworld/task-types.ts";
import { MINI_TYPES, type RoomSize } from "../../core/environment/made-config.ts";
import { seedOf, uniforms } from "../../core/seeded.ts";
import type { GameFile } from "./game.ts";
import pddl_domain from "./made/household.pddl?raw";
import grammar from "./made/household.twl2?raw";
import {
  FURNITURE,
  type Furniture,
  LAMPS,
  MINI,
  type Placed,
  type Room,
  THINGS,
  type Thing,
} from "./made/rooms.ts";
import { Habits } from "./made/world.ts";
import { displayNames } from "./names.ts";

/** Pieces of furniture and things, at least and at most, and the most things that lie in one place at the start. */
export const SIZES = {
  /** 12 to 20 admissible commands. */
  small: { furniture: [9, 10], things: [8, 12], together: 3 },
  medium: { furniture: [14, 18], things: [16, 24], together: 5 },
  /** As large as ALFWorld's kitchens. */
  large: { furniture: [26, 32], things: [36, 50], together: 8 },
  /** For tiny models: always the same furniture, and the target starts behind a door. */
  mini: { furniture: [11, 11], things: [4, 6], together: 2 },
} as const satisfies Record<RoomSize, unknown>;

/** Splits are ranges of seeds: from the first number up to, but not including, the second. */
export const SPLITS = {
  train: [0, 1_000_000],
  valid: [1_000_000, 1_500_000],
  test: [1_500_000, 2_000_000],
} as const;

/** The split that a seed belongs to; null beyond the last. */
export function splitOf(seed: number): keyof typeof SPLITS | null {
  if (seed < SPLITS.train[1]) return "train";
  if (seed < SPLITS.valid[1]) return "valid";
  return seed < SPLITS.test[1] ? "test" : null;
}

export interface MadeGame extends GameFile {
  /** Begins with `made/`, so that nobody takes it for a game of ALFWorld's benchmark. */
  task: string;
  type: TaskType;
  size: RoomSize;
  seed: number;
  split: keyof typeof SPLITS | null;
  solvable: true;
  walkthrough: string[];
}

/** What is done to the target before it is put down: the appliance, the trait it needs and the verb. */
const TREATMENTS = {
  pick_clean_then_place_in_recep: { appliance: "washes", trait: "washable", verb: "clean", state: "clean" },
  pick_heat_then_place_in_recep: { appliance: "heats", trait: "heatable", verb: "heat", state: "hot" },
  pick_cool_then_place_in_recep: { appliance: "cools", trait: "coolable", verb: "cool", state: "cool" },
} as const;

const ROOMS: Readonly<Record<TaskType, readonly Room[]>> = {
  pick_and_place_simple: ["kitchen", "bathroom", "bedroom", "living room"],
  look_at_obj_in_light: ["bedroom", "living room"],
  pick_clean_then_place_in_recep: ["kitchen", "bathroom"],
  pick_heat_then_place_in_recep: ["kitchen"],
  pick_cool_then_place_in_recep: ["kitchen"],
  pick_two_obj_and_place: ["kitchen", "bathroom", "bedroom", "living room"],
};

interface Item {
  id: string;
  kind: string;
  traits: readonly string[];
  on: Placed<Furniture>;
}

/** The seed's turn among the types: six, or mini's four. */
export function typeOf(seed: number, size: RoomSize = "small"): TaskType {
  const types = size === "mini" ? MINI_TYPES : TASK_TYPES;
  return types[seed % types.length]!;
}

/** What the game of a seed is called. */
export const madeTask = (size: RoomSize, type: TaskType, seed: number, world?: number): string =>
  `made/${size}/${world === undefined ? "" : `world-${world}/`}${type}-${seed}`;

/**
 * The game of a seed.
 *
 * @param type by default the seed's turn among the types
 * @param world seed of the world whose habits a mini game follows
 */
export function makeGame(
  seed: number,
  size: RoomSize = "small",
  type: TaskType = typeOf(seed, size),
  world?: number,
): MadeGame {
  const place = world === undefined ? size : `${size}|world ${world}`;
  const draw = uniforms(seedOf(`made|${place}|${type}|${seed}`));
  const between = ([least, most]: readonly [number, number]) =>
    least + Math.floor(draw() * (most - least + 1));
  const pick = <T>(from: readonly T[]): T => from[Math.floor(draw() * from.length)]!;

  const mini = size === "mini";
  const room = mini ? "kitchen" : pick(ROOMS[type]);
  const limits = SIZES[size];
  const furniture = mini ? numbered(MINI.furniture) : furnish(room, between(limits.furniture), pick);
  const treatment = type in TREATMENTS ? TREATMENTS[type as keyof typeof TREATMENTS] : null;

  // The target and the kind of place it goes to; it starts somewhere else.
  const things = mini ? MINI.things : THINGS;
  const kinds = things.filter(
    ({ rooms, traits }) =>
      rooms.includes(room) &&
      (treatment === null || traits.includes(treatment.trait)) &&
      !traits.includes("blade"),
  );
  const target = pick(kinds);
  const habits = mini ? new Habits(world, furniture, accepts, draw) : null;
  const places = furniture.filter(({ of }) => accepts(of, target));
  const goals = [...new Set(places.map(({ of }) => of.name))].filter(
    (name) =>
      // Somewhere else must be left, and the appliance itself would be half the way.
      places.some(({ of }) => of.name !== name) &&
      (treatment === null || !named(furniture, name).traits.includes(treatment.appliance)),
  );
  const goal = habits?.goal(target, goals) ?? pick(goals);
  const targets = type === "pick_two_obj_and_place" ? 2 : 1;

  const items: Item[] = [];
  const counts = new Map<string, number>();
  const number = (kind: string) => {
    const next = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, next);
    return `${kind}_bar_${String(next).padStart(2, "0")}`;
  };
  const lies = (place: Placed<Furniture>) => items.filter(({ on }) => on === place).length;
  const put = ({ name, traits }: Thing, among: readonly Placed<Furniture>[]) => {
    const free = among.filter((place) => lies(place) < limits.together);
    const on = habits?.place(name, free) ?? (free.length > 0 ? pick(free) : undefined);
    if (on !== undefined) items.push({ id: number(name), kind: name, traits: [...traits, "portable"], on });
  };
  for (let i = 0; i < targets; i++)
    put(
      target,
      places.filter(({ of }) => of.name !== goal && (!mini || of.traits.includes("openable"))),
    );
  const light = LAMPS[room];
  if (light !== undefined) {
    const on = pick(furniture.filter(({ of }) => light.on.includes(of.name)));
    items.push({ id: number(light.name), kind: light.name, traits: ["lamp"], on });
  }
  const others = things.filter(({ rooms, name }) => rooms.includes(room) && name !== target.name);
  const wanted = between(limits.things);
  for (let i = items.length; i < wanted; i++) {
    const other = pick(others);
    put(
      other,
      furniture.filter(({ of }) => accepts(of, other)),
    );
  }

  const names = displayNames([...furniture.map(({ id }) => id), ...items.map(({ id }) => id)]);
  const walk = new Walk(names);
  const destination = pick(furniture.filter(({ of }) => of.name === goal));
  const lamp = items.find(({ traits }) => traits.includes("lamp"));
  for (const item of items.filter(({ kind }) => kind === target.name)) {
    walk.take(item);
    if (type === "look_at_obj_in_light") walk.use(lamp!);
    else {
      if (treatment !== null)
        walk.treat(
          treatment.verb,
          item,
          pick(furniture.filter(({ of }) => of.traits.includes(treatment.appliance))),
        );
      walk.put(item, destination);
    }
  }
  const state = treatment?.state;
  return {
    pddl_domain,
    grammar: grammar
      .replace("ROOM", room)
      .replace("TASK SENTENCE", sentence(type, target.name, goal, lamp?.kind ?? "")),
    pddl_problem: problem({ seed, furniture, items, goal: goalOf(type, target.name, goal, state) }),
    task: madeTask(size, type, seed, world),
    type,
    size,
    seed,
    split: splitOf(seed),
    solvable: true,
    walkthrough: walk.commands,
  };
}

function named(furniture: readonly Placed<Furniture>[], name: string): Furniture {
  return furniture.find(({ of }) => of.name === name)!.of;
}

/** The rule of the domain's `move`. */
function accepts({ traits: place }: Furniture, { traits }: Thing): boolean {
  return (
    !(place.includes("narrow") && traits.includes("bulky")) &&
    (!place.includes("washes") || traits.includes("washable")) &&
    (!place.includes("heats") || traits.includes("heatable")) &&
    (!place.includes("cools") || traits.includes("coolable"))
  );
}

/** The least of each piece, then more of them up to `count`. */
function furnish(room: Room, count: number, pick: <T>(from: readonly T[]) => T): Placed<Furniture>[] {
  const chosen: Furniture[] = [];
  const has = (piece: Furniture) => chosen.filter((other) => other === piece).length;
  for (const piece of FURNITURE[room]) for (let i = 0; i < piece.least; i++) chosen.push(piece);
  const scale = Math.ceil(count / 10);
  while (chosen.length < count)
    chosen.push(pick(FURNITURE[room].filter((piece) => has(piece) < piece.most * scale)));
  return numbered(chosen);
}

function numbered(chosen: readonly Furniture[]): Placed<Furniture>[] {
  const numbers = new Map<Furniture, number>();
  return chosen.map((of) => {
    const next = (numbers.get(of) ?? 0) + 1;
    numbers.set(of, next);
    // ALFWorld's rule of names puts "basin" behind the name of an id that holds it.
    const [name, end] = of.name.endsWith("basin")
      ? [of.name.slice(0, -"basin".length), "_basin"]
      : [of.name, ""];
    return { id: `${name}_bar_${String(next).padStart(2, "0")}${end}`, of };
  });
}

/** Commands that lead from the middle of the room to the goal. */
class Walk {
  readonly commands: string[] = [];
  #at: Placed<Furniture> | null = null;
  readonly #opened = new Set<Placed<Furniture>>();

  constructor(private readonly names: ReadonlyMap<string, string>) {}

  #go(place: Placed<Furniture>): string {
    const name = this.names.get(place.id)!;
    if (this.#at !== place) this.commands.push(`go to ${name}`);
    this.#at = place;
    return name;
  }

  #reach(place: Placed<Furniture>): string {
    const name = this.#go(place);
    if (place.of.traits.includes("openable") && !this.#opened.has(place)) {
      this.commands.push(`open ${name}`);
      this.#opened.add(place);
    }
    return name;
  }

  take({ id, on }: Item): void {
    const place = this.#reach(on);
    this.commands.push(`take ${this.names.get(id)} from ${place}`);
  }

  put({ id }: Item, place: Placed<Furniture>): void {
    const name = this.#reach(place);
    this.commands.push(`move ${this.names.get(id)} to ${name}`);
  }

  /** An appliance works while it is closed. */
  treat(verb: string, { id }: Item, appliance: Placed<Furniture>): void {
    const name = this.#go(appliance);
    this.commands.push(`${verb} ${this.names.get(id)} with ${name}`);
  }

  use({ id, on }: Item): void {
    this.#go(on);
    this.commands.push(`use ${this.names.get(id)}`);
  }
}

function sentence(type: TaskType, target: string, goal: string, lamp: string): string {
  const a = (name: string) => `${/^[aeiou]/.test(name) ? "an" : "a"} ${name}`;
  switch (type) {
    case "pick_and_place_simple":
      return `put ${a(target)} in ${a(goal)}`;
    case "look_at_obj_in_light":
      return `look at ${a(target)} in the light of ${a(lamp)}`;
    case "pick_two_obj_and_place":
      return `put two ${target}${/(?:[sxo]|ch|sh)$/.test(target) ? "es" : "s"} in one ${goal}`;
    default:
      return `put ${a(`${TREATMENTS[type].state} ${target}`)} in ${a(goal)}`;
  }
}

function goalOf(type: TaskType, target: string, goal: string, state: string | undefined): string {
  if (type === "look_at_obj_in_light")
    return `(and
      (exists (?i - item ?a - agent) (and (kind ?i ${target}) (carries ?a ?i)))
      (exists (?l - item ?r - receptacle ?a - agent) (and (lamp ?l) (lit ?l) (in ?l ?r) (at ?a ?r))))`;
  const lies = (item: string) => `(kind ${item} ${target}) (in ${item} ?r)`;
  if (type === "pick_two_obj_and_place")
    return `(exists (?r - receptacle) (and (sort ?r ${goal})
      (exists (?i - item ?j - item) (and (not (= ?i ?j)) ${lies("?i")} ${lies("?j")}))))`;
  const treated = state === undefined ? "" : ` (${state} ?i)`;
  return `(exists (?i - item ?r - receptacle) (and (sort ?r ${goal}) ${lies("?i")}${treated}))`;
}

function problem(made: {
  seed: number;
  furniture: readonly Placed<Furniture>[];
  items: readonly Item[];
  goal: string;
}): string {
  const { seed, furniture, items, goal } = made;
  const kinds = [...new Set([...furniture.map(({ of }) => of.name), ...items.map(({ kind }) => kind)])];
  const facts = [
    "(at agent_bar_1 middle_bar_1)",
    ...furniture.flatMap(({ id, of }) => [
      `(sort ${id} ${of.name})`,
      ...of.traits.map((trait) => `(${trait} ${id})`),
    ]),
    ...items.flatMap(({ id, kind, traits, on }) => [
      `(kind ${id} ${kind})`,
      `(in ${id} ${on.id})`,
      ...traits.map((trait) => `(${trait} ${id})`),
    ]),
  ];
  return `(define (problem made-${seed})
  (:domain made-household)
  (:objects
    agent_bar_1 - agent
    middle_bar_1 - place
    ${furniture.map(({ id }) => id).join(" ")} - receptacle
    ${items.map(({ id }) => id).join(" ")} - item
    ${kinds.join(" ")} - kind)
  (:init
    ${facts.join("\n    ")})
  (:goal ${goal}))
`;
}
