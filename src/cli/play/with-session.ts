import { untilAborted } from "../../core/until-aborted.ts";
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
    const session = await open(options);
    try {
      await untilAborted(signal, work(session, signal));
    } finally {
      await session.environment.close();
    }
  });
}
