/** Searching the palette: every word of the query must be found, best where words begin. */

export interface Searchable {
  title: string;
  /** Other words that find it. */
  words: string;
}

/** What is searched in, made once. */
export interface SearchText {
  /** In lower case: the title, a line end, the other words. */
  text: string;
  titleLength: number;
}

export function searchText({ title, words }: Searchable): SearchText {
  return { text: `${title}\n${words}`.toLowerCase(), titleLength: title.length };
}

export function queryWords(query: string): string[] {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

const ALPHANUMERIC = /[\p{L}\p{N}]/u;

/** 0 at the very start, 1 where a word of the title begins, 2 inside it; 3 and 4 in the other words; null nowhere. */
function rankOf(word: string, { text, titleLength }: SearchText): number | null {
  let best: number | null = null;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0) return 0;
    const begins = !ALPHANUMERIC.test(text[at - 1]!) || !ALPHANUMERIC.test(word[0]!);
    const rank = (begins ? 1 : 2) + (at < titleLength ? 0 : 2);
    if (best === null || rank < best) best = rank;
    if (best === 1 || at > titleLength) break;
  }
  return best;
}

/** The lower, the better; null when a word is missing. */
export function match(words: readonly string[], text: SearchText): number | null {
  let sum = 0;
  for (const word of words) {
    const rank = rankOf(word, text);
    if (rank === null) return null;
    sum += rank;
  }
  return sum;
}

/**
 * Indices of what matches, best first: by where the words were found, then as they were given. Without words all of
 * them, as they were given. `handicap` puts an entry behind others that were found alike.
 */
export function search(
  query: string,
  texts: readonly SearchText[],
  handicap: (index: number) => number = () => 0,
): number[] {
  const words = queryWords(query);
  const found: { index: number; rank: number }[] = [];
  for (const [index, text] of texts.entries()) {
    const rank = match(words, text);
    if (rank !== null) found.push({ index, rank: rank + handicap(index) });
  }
  found.sort((a, b) => a.rank - b.rank || a.index - b.index);
  return found.map(({ index }) => index);
}
