/**
 * Does work that tells the page how far it is, and resolves once the page has taken everything it was told. The page's
 * callback has a channel of its own: without the wait, on a busy machine, the result can overtake the last call, and the
 * page counts one step too few.
 */
export async function telling<A extends unknown[], T>(
  callback: (...args: A) => unknown,
  work: (tell: (...args: A) => void) => Promise<T>,
): Promise<T> {
  let last: unknown;
  try {
    return await work((...args) => {
      last = callback(...args);
    });
  } finally {
    // The channel keeps its order, so the last call is enough. An error in the page's callback is not this work's.
    await Promise.allSettled([last]);
  }
}
