/** Raw ScienceWorld captures to locators: what `gcopd locate` and importers call. */
import { z } from "zod";
import { InputError } from "../../errors.ts";
import { checkCapture, requireName } from "../capture.ts";
import type { Located } from "../rules.ts";
import { foldFocus, orderedGoalFlags, physicalHash, stateKey } from "./locator.ts";
import { foldParserState } from "./parser-mode.ts";

const captureSchema = z.looseObject({
  case: z.string().optional(),
  id: z.string().optional(),
  /** What `getObjectTree("")` returned, byte for byte. */
  object_tree: z.string(),
  /** What `getGoalProgressStr()` returned. */
  goal_progress: z.string(),
  /** First the observation after reset, then one entry per decision up to this visit. */
  history: z.array(z.looseObject({ feedback: z.string(), stepped: z.boolean() })).min(1),
});

/** Locator of one raw capture; `state` is null in an unknown parser mode, which cannot match anything. */
export function locateCase(raw: unknown, where: { file?: string; line?: number } = {}): Located {
  const { capture, id } = checkCapture(captureSchema, raw, where);
  const name = requireName(id, where);
  let physical: string;
  try {
    physical = physicalHash(capture.object_tree);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    throw new InputError(`not an object tree: ${error.message}`, { ...where, key: "object_tree" });
  }
  const control = { focus: foldFocus(capture.history), goalFlags: orderedGoalFlags(capture.goal_progress) };
  const key = stateKey(physical, control);
  const { mode, options } = foldParserState(capture.history);
  return { id: name, key, state: mode === "unknown" ? null : { key, mode, options } };
}
