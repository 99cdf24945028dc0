/** How long the evidence R_t is over the decisions of an episode set, and whether it fits its budget. */
import { problemOf } from "../errors.ts";
import { renderEvidence } from "../evidence/render.ts";
import type { EvidenceInput } from "../evidence/types.ts";
import type { Episode } from "../record/schema.ts";

/** What evidence is measured in, and against. */
export interface EvidenceMeter {
  unit: "tokens" | "characters";
  /** Size of R_t as it is inserted into the prompt. */
  size(text: string): number;
  /**
   * The budget of one decision: the most that prompt and evidence may take together, and what its original prompt takes
   * (null where none is recorded). Null where there is no budget in this unit.
   */
  budget(episode: Episode, decision: number): { limit: number; prompt: number | null } | null;
  /** Where an episode was read from, for a message; undefined where that is not known. */
  file?(episode: Episode): string | undefined;
}

/** A decision whose evidence or prompt cannot be measured, and why, in one line. */
export interface UnmeasuredDecision {
  file: string | null;
  environment: string;
  task: string;
  episode: string;
  decision: number;
  reason: string;
}

/** Characters have no budget. */
export const CHARACTERS: EvidenceMeter = {
  unit: "characters",
  size: (text) => text.length,
  budget: () => null,
};

export interface EvidenceSizes {
  unit: EvidenceMeter["unit"];
  /** Decisions measured. */
  decisions: number;
  /** Null when there is no decision. */
  mean: number | null;
  /** The least size that at least 95 of 100 decisions do not exceed (nearest rank). */
  p95: number | null;
  max: number | null;
  /** Against the budget; null when the meter has none. */
  budget: {
    /** Decisions whose plain evidence does not fit together with the prompt. */
    over: number;
    /** Those whose evidence does not fit with back-references either, and so cannot be scored. */
    refused: number;
    /** Decisions without a recorded prompt: their evidence was held to the budget alone. */
    withoutPrompt: number;
  } | null;
  /** Every size, ascending. */
  values: number[];
  /** Decisions that are in none of these figures, as one with a prompt longer than a tokenizer takes. */
  unmeasured: UnmeasuredDecision[];
}

/** Measures one decision at a time. */
export class EvidenceSizer {
  readonly #meter: EvidenceMeter;
  readonly #values: number[] = [];
  readonly #unmeasured: UnmeasuredDecision[] = [];
  #budget: EvidenceSizes["budget"] = null;

  constructor(meter: EvidenceMeter) {
    this.#meter = meter;
  }

  /**
   * Renders and measures R_t as the teacher reads it: with back-references where the plain text does not fit. A decision
   * that cannot be measured is kept with the reason. Returns the size; null of one that cannot be measured.
   */
  add(input: EvidenceInput): number | null {
    const reason = problemOf(() => this.#measure(input));
    if (reason === null) return this.#values.at(-1)!;
    const { episode, decision } = input;
    this.#unmeasured.push({
      file: this.#meter.file?.(episode) ?? null,
      environment: episode.environment,
      task: episode.task,
      episode: episode.episode,
      decision,
      reason,
    });
    return null;
  }

  /** Counts nothing of a decision before all of it is measured. */
  #measure(input: EvidenceInput): void {
    const { size, budget } = this.#meter;
    const plain = size(renderEvidence(input).text);
    const held = budget(input.episode, input.decision);
    if (held === null) {
      this.#values.push(plain);
      return;
    }
    const left = held.limit - (held.prompt ?? 0);
    const fits = plain <= left;
    const read = fits ? plain : size(renderEvidence(input, { backReferences: true }).text);
    this.#budget ??= { over: 0, refused: 0, withoutPrompt: 0 };
    if (held.prompt === null) this.#budget.withoutPrompt++;
    if (!fits) this.#budget.over++;
    if (read > left) this.#budget.refused++;
    this.#values.push(read);
  }

  result(): EvidenceSizes {
    const values = [...this.#values].sort((a, b) => a - b);
    const { length } = values;
    return {
      unit: this.#meter.unit,
      decisions: length,
      mean: length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / length,
      p95: values[Math.ceil(0.95 * length) - 1] ?? null,
      max: values.at(-1) ?? null,
      budget: this.#budget === null ? null : { ...this.#budget },
      values,
      unmeasured: [...this.#unmeasured],
    };
  }
}
