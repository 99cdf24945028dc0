/** "visit" or "visits", "batch" or "batches", "epoch" or "epochs". */
export function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}${/(s|x|[^o]ch|sh)$/.test(word) ? "es" : "s"}`;
}

/** Made once: `toLocaleString` makes one for each number, which is felt in lists of thousands. */
const NUMBERS = new Intl.NumberFormat("en");

/** "1 visit", "2 visits". */
export function countOf(count: number, word: string): string {
  return `${NUMBERS.format(count)} ${plural(count, word)}`;
}
