/** "visit" or "visits". */
export function plural(count: number, word: string): string {
  return count === 1 ? word : `${word}s`;
}

/** "1 visit", "2 visits". */
export function countOf(count: number, word: string): string {
  return `${count.toLocaleString("en")} ${plural(count, word)}`;
}
