/** How alike two short texts are, whatever the order of their words. */

/** Length of the longest common subsequence of two texts, by code point. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  let row = new Uint32Array(b.length + 1);
  for (const letter of a) {
    const next = new Uint32Array(b.length + 1);
    for (let j = 1; j <= b.length; j++)
      next[j] = letter === b[j - 1] ? row[j - 1]! + 1 : Math.max(row[j]!, next[j - 1]!);
    row = next;
  }
  return row[b.length]!;
}

/** 100 for equal texts, 0 for texts without a common letter. */
function ratio(a: string, b: string): number {
  const [x, y] = [[...a], [...b]];
  return (200 * commonLength(x, y)) / (x.length + y.length);
}

const words = (text: string): string[] =>
  [
    ...new Set(
      text
        .replace(/[^\p{L}\p{N}_]/gu, " ")
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== ""),
    ),
  ].sort();

/**
 * Similarity of two texts as sets of words, 0 to 100 (a whole number): 100 when one set holds the other; otherwise the
 * best ratio among the common words and both texts, each written as its common words, sorted, then its own.
 */
export function tokenSetRatio(left: string, right: string): number {
  const [a, b] = [words(left), words(right)];
  if (a.length === 0 || b.length === 0) return 0;
  const common = a.filter((word) => b.includes(word));
  const ownOfA = a.filter((word) => !common.includes(word));
  const ownOfB = b.filter((word) => !common.includes(word));
  if (common.length > 0 && (ownOfA.length === 0 || ownOfB.length === 0)) return 100;
  const [shared, wholeA, wholeB] = [common, [...common, ...ownOfA], [...common, ...ownOfB]].map((part) =>
    part.join(" "),
  ) as [string, string, string];
  const ratios = [ratio(wholeA, wholeB)];
  if (common.length > 0) ratios.push(ratio(shared, wholeA), ratio(shared, wholeB));
  return Math.round(Math.max(...ratios));
}
