/**
 * What a stage compares of teacher and student at each response token. The sampled token alone is the paper's Eq. (9).
 * The two others are per-token reverse KL divergences KL(p_θ ‖ q^R) of next-token distributions, and their gradient is
 * taken directly: neither a ratio ρ nor a clip takes part.
 */
export type Signal =
  /** Eq. (8) and Eq. (9): log q^R − log p_θ of the token that the student sampled, under the clipped surrogate. */
  | ({ kind: "sampled-token" } & SpecialTokens)
  /**
   * Reverse KL over the teacher's k most probable tokens, both distributions renormalised over them: "teacher top-K local
   * support matching" of Fu et al., "Revisiting On-Policy Distillation" (arXiv 2603.25562, Section 3), who use k = 32.
   * TRL's distillation trainer renormalises as well (or adds a bucket for the rest), but takes a reverse KL over the
   * student's most probable tokens, which a frozen teacher cannot score ahead of the step.
   */
  | ({ kind: "top-k"; k: number } & SpecialTokens)
  /** Reverse KL over the whole vocabulary: TRL's GKD and distillation trainers with `beta` 1 (Agarwal et al., arXiv 2306.13649). */
  | ({ kind: "full-vocabulary" } & SpecialTokens);

interface SpecialTokens {
  /**
   * Ids of special tokens: a response token with one of them is left out of the loss, at all its places. The released code
   * of arXiv 2603.25562 masks the first place of each in a response; it counts L_e without it, which is not done here.
   */
  mask?: readonly number[] | undefined;
}

export type SignalKind = Signal["kind"];

/** The paper's signal, and that of a stage that names none. */
export const SAMPLED_TOKEN: Signal = { kind: "sampled-token" };

/** Smallest k: over a single token, renormalised distributions are always equal. */
export const LEAST_K = 2;
/** Largest k: the most tokens that a scorer returns for each place. */
export const MOST_K = 64;

/** [response tokens] 1 where the signal's mask leaves a token out of the loss; undefined where it leaves out none. */
export function maskedTokens({ mask }: Signal, responseIds: readonly number[]): Uint8Array | undefined {
  const special = new Set(mask);
  return responseIds.some((id) => special.has(id))
    ? Uint8Array.from(responseIds, (id) => (special.has(id) ? 1 : 0))
    : undefined;
}
