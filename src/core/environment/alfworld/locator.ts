/**
 * The ALFWorld locator (Appendix "State descriptors and matching"): task file, sorted grounded PDDL facts, and the won
 * and lost flags. Facts keep negations and marks once they are set, so a key depends on the path that led there.
 */
import { z } from "zod";
import { InputError } from "../../errors.ts";
import { sha256Hex } from "../../seeded.ts";
import { asciiString, compareCodePoints } from "../canonical-text.ts";
import { checkCapture } from "../capture.ts";
import type { Located } from "../rules.ts";

/** A state of the engine. */
export interface FactState {
  /** The task id: the game file's path as the library names it. */
  gamefile: string;
  /** The facts as the engine prints them, in any order. */
  facts: readonly string[];
  won: boolean;
  lost: boolean;
}

/** State key: SHA-256, in lower-case hex, of the ASCII JSON of its parts, facts sorted by code point. */
export function factKey(state: FactState): string {
  const facts = [...state.facts].sort(compareCodePoints).map(asciiString);
  const { before, behind } = aroundFacts(state);
  return sha256Hex(before + facts.join(",") + behind);
}

/** The text around the facts in the ASCII JSON of the four parts, keys sorted. */
export function aroundFacts({ gamefile, won, lost }: Omit<FactState, "facts">): {
  before: string;
  behind: string;
} {
  return {
    before: '{"facts":[',
    behind: `],"gamefile":${asciiString(gamefile)},"lost":${lost},"won":${won}}`,
  };
}

const captureSchema = z.looseObject({
  case: z.string().optional(),
  id: z.string().optional(),
  /** Traces of the engine call it `game`. */
  gamefile: z.string().optional(),
  game: z.string().optional(),
  facts: z.array(z.string()),
  won: z.boolean(),
  lost: z.boolean(),
});

/** Locator of one raw capture. A trace of the engine may go unnamed: its lines are told by their order. */
export function locateFacts(raw: unknown, where: { file?: string; line?: number } = {}): Located {
  const { capture, id } = checkCapture(captureSchema, raw, where);
  const gamefile = capture.gamefile ?? capture.game;
  if (gamefile === undefined) {
    throw new InputError("missing; expected string (or `game`)", { ...where, key: "gamefile" });
  }
  const key = factKey({ ...capture, gamefile });
  return { id, key, state: { key, mode: "normal", options: {} } };
}
