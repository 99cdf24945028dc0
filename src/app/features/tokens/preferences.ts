/** How the user likes this view: remembered by the browser, no part of the address. */
import { create } from "zustand";
import { isOneOf } from "../../../core/one-of.ts";
import { UNITS, type Unit } from "./units.ts";

const KEYS = { rail: "gcopd-tokens-rail", unit: "gcopd-tokens-unit" } as const;

/** At this width the controls have room beside the result. */
const WIDE = "(width >= 1100px)";

function remembered(key: string): string {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A page that may not store anything just forgets the choice.
  }
}

const unit = remembered(KEYS.unit);
const rail = remembered(KEYS.rail);

export const usePreferences = create<{
  /** The controls are unfolded. */
  rail: boolean;
  /** What one token of the strip and the table is. */
  unit: Unit;
}>(() => ({
  rail: rail === "" ? window.matchMedia(WIDE).matches : rail === "open",
  unit: isOneOf(UNITS, unit) ? unit : "pieces",
}));

export function unfoldRail(open: boolean): void {
  if (usePreferences.getState().rail === open) return;
  usePreferences.setState({ rail: open });
  remember(KEYS.rail, open ? "open" : "folded");
}

export function chooseUnit(unit: Unit): void {
  usePreferences.setState({ unit });
  remember(KEYS.unit, unit);
}
