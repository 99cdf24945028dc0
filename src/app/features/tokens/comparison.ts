/** Which sides there are, and the difference of the two that were chosen. */

import { difference, recordedSides, type Side, sideOf } from "../../compute/side.ts";
import type { TokenScores } from "../../compute/store.ts";
import type { DecisionModel, RecordedTokens } from "../../data/model.ts";
import type { Comparison } from "../../url/place.ts";

export interface Compared {
  /** All that there are, in order. */
  sides: readonly Side[];
  /** Those with the shown tokens: one column each. The others have tokens of their own. */
  columns: readonly Side[];
  /** Δ is log p of `side` − log p of `base`. */
  base: Side;
  side: Side;
  /** [response tokens] Δ in nats; null where it is refused. */
  deltas: Float32Array | null;
  /** Why there is no Δ, in words that follow "No Δ: ". */
  refused: string | null;
}

/** The paper's comparison: the teacher with the evidence against the teacher without it. */
export const STANDARD: Comparison = { base: "vanilla", side: "graph" };

/** Under a what-if: its evidence against that of the full method. */
const WHAT_IF: Comparison = { base: "full", side: "graph" };

/** What is compared where nothing is chosen. */
export function standardOf(sides: readonly Pick<Side, "key">[]): Comparison {
  return sides.some(({ key }) => key === WHAT_IF.base) ? WHAT_IF : STANDARD;
}

/** Compares the two sides that are chosen; where one of them is not there, says so beside the standard ones. */
export function compareSides(
  scores: Pick<TokenScores, "sides" | "ids">,
  recorded: RecordedTokens | null,
  chosen: Comparison | null,
): Compared {
  const sides = [...scores.sides, ...recordedSides(recorded, scores.ids)];
  const columns = sides.filter((side) => isOf(side, scores.ids));
  const of = (key: string): Side | undefined => sideOf({ sides }, key);
  const standard = standardOf(sides);
  const wanted = chosen ?? standard;
  const missing = [wanted.base, wanted.side].filter((key) => of(key) === undefined);
  const base = of(wanted.base) ?? of(standard.base)!;
  const side = of(wanted.side) ?? of(standard.side)!;
  if (missing.length > 0) {
    const names = missing.map((key) => `“${key}”`).join(" and ");
    return {
      sides,
      columns,
      base,
      side,
      deltas: null,
      refused: `${names} ${missing.length === 1 ? "is" : "are"} not scored for this decision: add it, or choose another side`,
    };
  }
  return { sides, columns, base, side, ...difference(base, side) };
}

/** Recorded figures without ids stand beside tokens of the same number; nothing is subtracted from them. */
function isOf({ ids, logprobs }: Side, shown: readonly number[]): boolean {
  return logprobs.length === shown.length && (ids === null || ids.every((id, i) => id === shown[i]));
}

/** What stands under a picture of a plot: decision, sides with their models, files. */
export function pictureCaption(
  { base, side }: Compared,
  {
    environment,
    task,
    episode,
    decision,
  }: Pick<DecisionModel, "environment" | "task" | "episode" | "decision">,
  evidence: string,
  files: readonly string[],
): string {
  const of = ({ label, provenance: { engine, file } }: Side): string =>
    engine === null
      ? `${label}${file === null ? "" : ` (${file})`}`
      : `${label} (${engine.model}, ${engine.dtype}, ${engine.device === "webgpu" ? "WebGPU" : "CPU reference"})`;
  const records = files.length === 0 ? "" : ` Records: ${files.join(", ")}.`;
  return `Task ${task} (${environment}), episode ${episode}, decision ${decision}. Base: ${of(base)}; compared: ${of(side)}; evidence: ${evidence}.${records}`;
}
