import { interruptible } from "../engine/interrupt.ts";
import type { OpenSimulator, PlayOptions, PlaySession } from "./simulator.ts";

/**
 * Opens what is to be played, lends it to `work` and closes it. A signal ends the work at once, even while it waits for
 * a simulator, and what was started for it.
 */
export async function withSession(
  open: OpenSimulator,
  options: PlayOptions,
  work: (session: PlaySession, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await interruptible(async (signal) => {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => undefined);
    const session = await open(options);
    try {
      await Promise.race([work(session, signal), aborted]);
    } finally {
      await session.environment.close();
    }
  });
}
