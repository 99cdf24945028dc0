import { expect, test } from "vitest";
import { createReferenceBackend } from "./reference/index.ts";
import { yieldToEventLoop } from "./yield-to-event-loop.ts";

test("a message that waits is handled during work on the CPU", async () => {
  const backend = createReferenceBackend();
  let handled = false;
  setTimeout(() => {
    handled = true;
  }, 0);
  const end = performance.now() + 60_000;
  while (!handled && performance.now() < end) await yieldToEventLoop(backend);
  expect(handled).toBe(true);
});
