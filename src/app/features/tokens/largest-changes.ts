/** Positions by |Δ|, the largest first, the earlier one first among equals. */
export function largestChanges(deltas: ArrayLike<number>): number[] {
  return Array.from({ length: deltas.length }, (_, i) => i).sort(
    (a, b) => Math.abs(deltas[b]!) - Math.abs(deltas[a]!) || a - b,
  );
}
