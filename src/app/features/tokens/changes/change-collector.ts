/**
 * What the evidence does to the tokens of many decisions: every token counts in the figures, the largest changes are
 * kept by themselves, so that memory stays bounded however many decisions there are.
 */

/** Tokens kept with their figures: the largest |Δ|; about 4 MB. */
export const KEPT_ROWS = 20_000;

/** Positions with a mean of their own; those beyond share the last one. */
export const POSITIONS = 512;

/** One response token; log-probabilities are natural logarithms. */
export interface ChangeRow {
  episode: string;
  decision: number;
  position: number;
  id: number;
  text: string;
  vanilla: number;
  graph: number;
  /** log p(graph) − log p(vanilla). */
  delta: number;
  /** The most probable token is another one with the evidence; null where the engine does not say. */
  flips: boolean | null;
}

/** One scored decision. */
export interface ScoredDecision {
  episode: string;
  decision: number;
  ids: readonly number[];
  pieces: readonly string[];
  vanilla: Float32Array;
  graph: Float32Array;
  /** [tokens] the most probable ids without and with evidence; null where the engine does not say. */
  argmax: { vanilla: Uint32Array; graph: Uint32Array } | null;
}

/** Figures over all tokens so far. */
export interface ChangeFigures {
  decisions: number;
  tokens: number;
  /** Σ Δ and Σ |Δ|. */
  sum: number;
  absolute: number;
  /** Tokens whose most probable token flips; null where the engine does not say. */
  flips: number | null;
  /** [positions] mean Δ of the tokens there, up to the last position with any. */
  meanByPosition: readonly number[];
  /** [positions] how many tokens that is. */
  countByPosition: readonly number[];
}

export class ChangeCollector {
  #rows: ChangeRow[] = [];
  #decisions = 0;
  #tokens = 0;
  #sum = 0;
  #absolute = 0;
  #flips: number | null = 0;
  readonly #sums = new Float64Array(POSITIONS);
  readonly #counts = new Float64Array(POSITIONS);

  add({ episode, decision, ids, pieces, vanilla, graph, argmax }: ScoredDecision): void {
    this.#decisions += 1;
    for (const [position, id] of ids.entries()) {
      const delta = graph[position]! - vanilla[position]!;
      const flips = argmax === null ? null : argmax.vanilla[position] !== argmax.graph[position];
      this.#tokens += 1;
      this.#sum += delta;
      this.#absolute += Math.abs(delta);
      this.#flips = flips === null || this.#flips === null ? null : this.#flips + (flips ? 1 : 0);
      const at = Math.min(position, POSITIONS - 1);
      this.#sums[at]! += delta;
      this.#counts[at]! += 1;
      this.#rows.push({
        episode,
        decision,
        position,
        id,
        text: pieces[position]!,
        vanilla: vanilla[position]!,
        graph: graph[position]!,
        delta,
        flips,
      });
    }
    if (this.#rows.length > 2 * KEPT_ROWS) this.#rows = largest(this.#rows);
  }

  /** The largest |Δ| first; all tokens while there are no more than `KEPT_ROWS`. */
  rows(): ChangeRow[] {
    this.#rows = largest(this.#rows);
    return [...this.#rows];
  }

  figures(): ChangeFigures {
    const last = this.#counts.findLastIndex((count) => count > 0);
    const counts = Array.from(this.#counts.subarray(0, last + 1));
    return {
      decisions: this.#decisions,
      tokens: this.#tokens,
      sum: this.#sum,
      absolute: this.#absolute,
      flips: this.#flips,
      meanByPosition: counts.map((count, i) => (count === 0 ? 0 : this.#sums[i]! / count)),
      countByPosition: counts,
    };
  }
}

/** Stable: tokens of equal |Δ| stay in the order of their decisions. */
function largest(rows: readonly ChangeRow[]): ChangeRow[] {
  return [...rows].sort((a, b) => Math.abs(b.delta) - Math.abs(a.delta)).slice(0, KEPT_ROWS);
}
