/** The process of one card: `Card` over the channel to the process that started it. */
import { Card } from "./card.ts";
import type { ToCard } from "./protocol.ts";

/** Serves until the channel closes, then ends the process, which `processCards` started. */
export function serveCard(): void {
  // With a callback, a message to a process that is gone is not an error: `disconnect` comes next.
  const card = new Card((message) => process.send?.(message, undefined, {}, () => {}));
  process.on("message", (message) => card.receive(message as ToCard));
  // A terminal's Ctrl-C reaches all of its processes: the main one decides what becomes of a step.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => {});
  process.on("disconnect", () => {
    // Dawn keeps a process alive while its objects live.
    void card.close().finally(() => process.exit(0));
  });
}
