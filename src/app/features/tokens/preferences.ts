/** How the user likes this view: remembered by the browser, no part of the address. */
import { create } from "zustand";
import { isOneOf } from "../../../core/one-of.ts";
import { remember, remembered } from "../../base/remembered.ts";
import { UNITS, type Unit } from "./units.ts";

const KEY = "gcopd-tokens-unit";
const unit = remembered(KEY);

export const usePreferences = create<{
  /** What one token of the strip and the table is. */
  unit: Unit;
}>(() => ({ unit: isOneOf(UNITS, unit) ? unit : "pieces" }));

export function chooseUnit(unit: Unit): void {
  usePreferences.setState({ unit });
  remember(KEY, unit);
}
