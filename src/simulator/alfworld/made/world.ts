/**
 * A world: the habits that its tasks share. What a student can carry from one task of a world to the next is where things
 * are usually kept; the layout itself is each task's own.
 */
import { seedOf, uniforms } from "../../../core/seeded.ts";
import { type Furniture, MINI, type Placed, type Thing } from "./rooms.ts";

/** How often a habit decides; otherwise any place will do, the usual one too. */
export const HABIT = 0.7;

interface Habit {
  /** Id of the closed piece of furniture where the kind is usually kept. */
  home: string;
  /** The sort of furniture where it usually goes. */
  goal: string;
}

export class Habits {
  readonly #habits = new Map<string, Habit>();

  /**
   * @param world the world's seed; without one there are no habits
   * @param furniture where things can be kept
   * @param accepts whether a thing goes into a piece
   * @param draw the task's own chance
   */
  constructor(
    world: number | undefined,
    furniture: readonly Placed<Furniture>[],
    accepts: (piece: Furniture, thing: Thing) => boolean,
    private readonly draw: () => number,
  ) {
    if (world === undefined) return;
    const chance = uniforms(seedOf(`world|${world}`));
    const pick = <T>(from: readonly T[]): T => from[Math.floor(chance() * from.length)]!;
    for (const thing of MINI.things) {
      const places = furniture.filter(({ of }) => accepts(of, thing));
      const home = pick(places.filter(({ of }) => of.traits.includes("openable")));
      const goals = new Set(places.map(({ of }) => of.name));
      goals.delete(home.of.name);
      this.#habits.set(thing.name, { home: home.id, goal: pick([...goals]) });
    }
  }

  /** Where this thing goes in a task, of the sorts that the task admits: never where it is usually kept. */
  goal({ name }: Thing, sorts: readonly string[]): string | undefined {
    const habit = this.#habits.get(name);
    if (habit === undefined) return undefined;
    if (this.draw() < HABIT && sorts.includes(habit.goal)) return habit.goal;
    const others = sorts.filter((sort) => !habit.home.startsWith(sort.replace(/basin$/, "")));
    return others[Math.floor(this.draw() * others.length)];
  }

  /** The usual place of a kind, when habit decides and there is room; undefined where any place will do. */
  place(kind: string, free: readonly Placed<Furniture>[]): Placed<Furniture> | undefined {
    const habit = this.#habits.get(kind);
    if (habit === undefined || this.draw() >= HABIT) return undefined;
    return free.find(({ id }) => id === habit.home);
  }
}
