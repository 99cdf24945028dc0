/**
 * Does work that tells the page how far it is, and ends once the page has taken all of that. A callback of the page has a
 * channel of its own, which the result would overtake on a busy machine: the page then counted one step too few.
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
    // The channel keeps its order. What the page makes of it is the page's fault or success.
    await Promise.allSettled([last]);
  }
}
