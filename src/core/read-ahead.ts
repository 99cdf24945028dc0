/**
 * What each of `reads` resolves to, in their order, with `ahead` more of them under way while one is used. None is begun
 * any more once this has ended.
 */
export async function* inTurn<T>(reads: Iterable<() => Promise<T>>, ahead: number): AsyncGenerator<T, void> {
  const begun: Promise<T>[] = [];
  try {
    for (const read of reads) {
      const result = read();
      // An error surfaces where the result is awaited.
      result.catch(() => {});
      begun.push(result);
      if (begun.length > ahead) yield await begun.shift()!;
    }
    while (begun.length > 0) yield await begun.shift()!;
  } finally {
    await Promise.allSettled(begun);
  }
}
