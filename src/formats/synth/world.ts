/**
 * A small made-up task: a plan of some decisions, rooms to stray to, things to change, menus. Everything about it follows
 * from the seed and the task's number, so that two executions that do the same meet in the same states.
 */

import type { State } from "../../core/record/schema.ts";
import { uniforms } from "../../core/seeded.ts";
import {
  ACTION_LENGTHS,
  DESCRIPTION_LENGTHS,
  INITIAL_LENGTHS,
  MENU_RATE,
  PLAN_LENGTHS,
  quantile,
} from "./statistics.ts";
import { actionText, feedbackText, observationText } from "./text.ts";

/** Where an execution is: decisions of the plan done, room strayed to (0: none), lasting changes, open menu. */
export interface Position {
  progress: number;
  room: number;
  changes: number;
  menu: boolean;
}

export type Move =
  | { kind: "plan" }
  | { kind: "look"; choice: number }
  | { kind: "stray"; choice: number }
  | { kind: "change"; choice: number };

/** Choices of each kind of stray move: few, so that executions meet. */
const CHOICES = 5;

/** One 32-bit number from several (murmur3's steps). */
export function mix(...parts: readonly number[]): number {
  let hash = 0x9747b28c;
  for (const part of parts) {
    let k = Math.imul(part | 0, 0xcc9e2d51);
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
    hash ^= k;
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export class TaskWorld {
  readonly task: string;
  readonly description: string;
  readonly initialObservation: string;
  /** Decisions that the plan takes. */
  readonly planLength: number;
  readonly #seed: number;
  readonly #texts = new Map<number, { action: string; feedback: string }>();
  readonly #states = new Map<number, State>();

  constructor(seed: number, place: number) {
    this.#seed = mix(seed, place);
    const uniform = uniforms(this.#seed);
    this.task = `synthetic-${mix(this.#seed, 1) % 30}|${place}|easy`;
    this.planLength = quantile(PLAN_LENGTHS, uniform());
    this.description = `Your task is to ${actionText(quantile(DESCRIPTION_LENGTHS, uniform()) - 20, uniform)}.`;
    this.initialObservation = observationText(quantile(INITIAL_LENGTHS, uniform()), uniform);
  }

  get start(): Position {
    return { progress: 0, room: 0, changes: 0, menu: false };
  }

  won(place: Position): boolean {
    return place.progress >= this.planLength;
  }

  score(place: Position): number {
    return Math.round((100 * place.progress) / this.planLength);
  }

  /** A move away from the plan, by uniform numbers. `lasting`: the share that changes something for good. */
  stray(uniform: () => number, lasting: number): Move {
    const u = uniform();
    const choice = Math.floor(uniform() * CHOICES);
    if (u < lasting) return { kind: "change", choice };
    return u < lasting + (1 - lasting) * 0.7 ? { kind: "look", choice } : { kind: "stray", choice };
  }

  /** Where a move leads, and whether it opened a menu (which the next decision must answer). */
  move(place: Position, move: Move): Position {
    if (place.menu) return { ...place, menu: false, progress: place.progress + 1 };
    switch (move.kind) {
      case "plan":
        if (place.room !== 0) return { ...place, room: 0 };
        if (this.#menuAt(place)) return { ...place, menu: true };
        return { ...place, progress: place.progress + 1 };
      case "look":
        return place;
      case "stray":
        return { ...place, room: move.choice + 1 };
      case "change":
        return { ...place, changes: mix(place.changes, place.progress, move.choice) };
    }
  }

  #menuAt({ progress, changes }: Position): boolean {
    return mix(this.#seed, 2, progress, changes) % 10_000 < MENU_RATE * 10_000;
  }

  /** Action and answer of a move at a place: the same for every execution that makes it there. */
  texts(place: Position, move: Move): { action: string; feedback: string } {
    const choice = move.kind === "plan" ? -1 : move.choice;
    const kind = ["plan", "look", "stray", "change"].indexOf(move.kind);
    const key = mix(this.#seed, 3, place.progress, place.room, place.menu ? 1 : 0, kind, choice);
    let texts = this.#texts.get(key);
    if (texts === undefined) {
      const uniform = uniforms(key);
      texts = {
        action: actionText(quantile(ACTION_LENGTHS, uniform()), uniform),
        feedback: feedbackText(uniform),
      };
      this.#texts.set(key, texts);
    }
    return texts;
  }

  /** Options of the menu at a place. */
  options(place: Position): Record<string, string> {
    const uniform = uniforms(mix(this.#seed, 4, place.progress));
    const count = 2 + Math.floor(uniform() * 3);
    return Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        String(i),
        actionText(20 + Math.floor(uniform() * 40), uniform),
      ]),
    );
  }

  /** The locator of a place: 64 hexadecimal digits, and the open menu. */
  state(place: Position): State {
    const id = mix(this.#seed, 5, place.progress, place.room, place.changes, place.menu ? 1 : 0);
    let state = this.#states.get(id);
    if (state === undefined) {
      let key = "";
      for (let i = 0; i < 8; i++) key += mix(id, i).toString(16).padStart(8, "0");
      state = place.menu
        ? { key, mode: "pending_menu", options: this.options(place) }
        : { key, mode: "normal", options: {} };
      this.#states.set(id, state);
    }
    return state;
  }
}
