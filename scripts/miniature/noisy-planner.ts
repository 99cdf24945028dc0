/**
 * The generator of the miniature: a planner that does not know where things are until it has seen them, and that errs. It
 * looks behind one door after the other, in an order of its own, and goes the shortest way once it has seen the target.
 */
import { Episode } from "../../src/simulator/alfworld/episode.ts";
import type { Game } from "../../src/simulator/alfworld/game.ts";
import type { OptimalActions } from "../../src/simulator/alfworld/optimal.ts";
import { kindOf } from "./sensible.ts";

/** Of the erring commands, how many are any of the game's, which the state may not admit. */
const BLIND = 0.1;

/** Every place of a game, from its opening. */
export function placesOf(opening: Episode): string[] {
  return opening.admissible().flatMap((command) => /^go to (.*)$/.exec(command)?.[1] ?? []);
}

export class NoisyPlanner {
  readonly episode: Episode;
  /** Places in the order in which they are searched. */
  readonly #order: string[];
  readonly #target: RegExp;
  #seen: boolean;
  #feedback: string;
  #at: string | null = null;

  /**
   * @param noise probability of a random command, at each decision
   * @param draw uniform in [0, 1)
   */
  constructor(
    private readonly game: Game,
    private readonly optimal: OptimalActions,
    private readonly noise: number,
    private readonly draw: () => number,
  ) {
    this.episode = new Episode(game);
    this.#feedback = this.episode.opening().feedback;
    this.#target = new RegExp(` ${kindOf(this.#feedback)} \\d`);
    this.#seen = false;
    this.#order = placesOf(this.episode)
      .map((place) => ({ place, at: draw() }))
      .sort((a, b) => a.at - b.at)
      .map(({ place }) => place);
  }

  /** Commands that lie on a shortest completion from here. */
  optimalNow(): string[] {
    return this.optimal.at(this.episode).commands;
  }

  /** The next command. `step` carries it out. */
  choose(): string {
    if (this.draw() < this.noise) return this.#random();
    if (this.#seen) return this.#pick(this.optimalNow());
    const closed = this.#at !== null && this.#feedback.includes("is closed");
    if (closed && this.#order.includes(this.#at!)) return `open ${this.#at}`;
    const next = this.#order.find((place) => place !== this.#at);
    return next === undefined ? this.#random() : `go to ${next}`;
  }

  step(command: string): void {
    const { feedback } = this.episode.step(command);
    this.#feedback = feedback;
    this.#seen ||= this.#target.test(feedback);
    const went = /^You walk to the (.*?)\. /.exec(feedback);
    if (went !== null) this.#at = went[1]!;
    // A place whose content was shown is done with.
    const shown = /there is/.test(feedback) ? this.#order.indexOf(this.#at ?? "") : -1;
    if (shown >= 0) this.#order.splice(shown, 1);
  }

  #random(): string {
    if (this.draw() < BLIND) return this.#pick(this.game.commands).text;
    return this.#pick(this.episode.admissible().filter((command) => command !== "help"));
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.draw() * from.length)]!;
  }
}
