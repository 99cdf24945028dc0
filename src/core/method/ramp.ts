/** What a stage's schedules give at one of its updates. Updates count from 0, within their stage. */
import { InputError } from "../errors.ts";

/** A number, or one that goes in a line from `from` to `to` over the first updates of a stage, and stays there. */
export type Ramp = number | { from: number; to: number; over: { updates: number } | { share: number } };

/** One number, or one for each environment by its name. */
export type PerEnvironment = number | Readonly<Record<string, number>>;

/** How far a stage is. */
export interface StageUpdate {
  /** s: the stage's batches before this one, those of a parent that took its earlier epochs included. */
  update: number;
  /** All batches of the stage, those of a parent included. */
  updates: number;
}

/** A ramp at an update: at s = 0 it is `from`, from `over` on it is `to`. */
export function rampAt(ramp: Ramp, { update, updates }: StageUpdate): number {
  if (typeof ramp === "number") return ramp;
  const { from, to, over } = ramp;
  const length = "updates" in over ? over.updates : over.share * updates;
  return update >= length ? to : from + (to - from) * (update / length);
}

/** Whether a ramp is above 0 at some update. */
export const isEverPositive = (ramp: Ramp): boolean =>
  typeof ramp === "number" ? ramp > 0 : Math.max(ramp.from, ramp.to) > 0;

/** Whether a ramp's length depends on how many updates its stage has. */
export const isOverShare = (ramp: Ramp): boolean => typeof ramp !== "number" && "share" in ramp.over;

/** @throws InputError for an environment that has no number */
export function inEnvironment(value: PerEnvironment, environment: string): number {
  if (typeof value === "number") return value;
  const own = value[environment];
  if (own === undefined) {
    throw new InputError(
      `the method has no number for ${environment}, only for ${Object.keys(value).join(", ")}`,
      { key: "sampling.every" },
    );
  }
  return own;
}

/** TCOD-F2B: k(s) = min(first + ⌊s/η⌋, H), the decisions after which an episode is cut. */
export function depthAt(
  { first, every }: { first: number; every: PerEnvironment },
  environment: string,
  update: number,
  horizon: number,
): number {
  return Math.min(first + Math.floor(update / inEnvironment(every, environment)), horizon);
}

/** TCOD-B2F: c(s) = max(0, M − 1 − ⌊s/η⌋), how many of a reference's M actions are replayed. */
export function prefixAt(
  { every }: { every: PerEnvironment },
  environment: string,
  update: number,
  actions: number,
): number {
  return Math.max(0, actions - 1 - Math.floor(update / inEnvironment(every, environment)));
}
