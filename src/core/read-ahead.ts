/** The same values, each asked for while the one before is used. Nothing is asked for any more once this has ended. */
export async function* readAhead<T>(source: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  let next = source.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = source.next();
      // Whoever comes back for it is told of its error.
      next.catch(() => {});
      yield value;
    }
  } finally {
    await Promise.allSettled([next, source.return()]);
  }
}

/**
 * What each of `reads` resolves to, in their order, with `ahead` more of them under way while one is used. None is begun
 * any more once this has ended.
 */
export async function* inTurn<T>(reads: Iterable<() => Promise<T>>, ahead: number): AsyncGenerator<T, void> {
  const begun: Promise<T>[] = [];
  try {
    for (const read of reads) {
      const result = read();
      // Whoever comes for it is told of its error.
      result.catch(() => {});
      begun.push(result);
      if (begun.length > ahead) yield await begun.shift()!;
    }
    while (begun.length > 0) yield await begun.shift()!;
  } finally {
    await Promise.allSettled(begun);
  }
}
