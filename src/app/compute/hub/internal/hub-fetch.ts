/** Requests of the hub's worker, and why one failed. */
import { InputError } from "../../../../core/errors.ts";

/**
 * `fetch` without cookies, referrer and the browser's own cache, which would keep the weights a second time.
 *
 * @throws InputError where the hub sends a file on to a host that cannot be asked; Error where the hub itself cannot
 */
export const hubFetch: typeof fetch = async (input, init) => {
  const asked: RequestInit = {
    ...init,
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
  };
  try {
    return await fetch(input, asked);
  } catch (error) {
    init?.signal?.throwIfAborted();
    // Neither the error nor the policy's event, which comes whenever it comes, says whether it was on the way.
    const sendsOn = await fetch(input, { ...asked, redirect: "manual" }).then(
      ({ type }) => type === "opaqueredirect",
      () => false,
    );
    init?.signal?.throwIfAborted();
    if (sendsOn)
      throw new InputError(
        `the hub sends this file on to a host that this page may not ask, or that does not answer it: start it with one more \`--connect ORIGIN\`, where ORIGIN is that of the line "location" that \`curl -sI ${String(input)}\` prints`,
      );
    throw new Error(
      `${new URL(String(input)).origin} is not reachable, or does not let pages of other sites read it (CORS)`,
      { cause: error },
    );
  }
};
