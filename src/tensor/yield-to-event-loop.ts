import type { Backend } from "./backend.ts";

/** Work on the CPU never waits for anything; this lets events in after this many milliseconds of it. */
const INTERVAL = 50;

let last = 0;

/** Lets waiting messages be handled, such as a request to stop, when the backend computes on this very thread. */
export async function yieldToEventLoop(backend: Backend): Promise<void> {
  if (backend.kind !== "cpu" || performance.now() - last < INTERVAL) return;
  await new Promise((resolve) => setTimeout(resolve, 0));
  last = performance.now();
}
