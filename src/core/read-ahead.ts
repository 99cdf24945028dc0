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
