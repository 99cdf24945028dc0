import { InputError } from "./errors.ts";

/** Bytes of whole distributions that are held in memory at one time. */
export const MOST_DISTRIBUTION_BYTES = 2 ** 31;

/**
 * Checks the size of f32 distributions [tokens · vocabulary] before any of them is allocated.
 *
 * @param what whose distributions they are, for the message
 * @throws InputError when they take more than `MOST_DISTRIBUTION_BYTES`
 */
export function checkDistributionBytes(what: string, tokens: number, vocabulary: number): void {
  const bytes = 4 * tokens * vocabulary;
  if (bytes <= MOST_DISTRIBUTION_BYTES) return;
  const gib = (value: number) => `${(value / 2 ** 30).toFixed(1)} GiB`;
  throw new InputError(
    `${what}: the distributions of ${tokens} tokens over a vocabulary of ${vocabulary} take ${gib(bytes)}, and at most ` +
      `${gib(MOST_DISTRIBUTION_BYTES)} are held: take the signal "top-k", or smaller batches`,
  );
}
