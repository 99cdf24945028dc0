import { expect, test } from "vitest";
import { letMessagesIn } from "./let-messages-in.ts";
import { createReferenceBackend } from "./reference/index.ts";

test("a message that waits is handled during work on the CPU", async () => {
  const backend = createReferenceBackend();
  let handled = false;
  setTimeout(() => {
    handled = true;
  }, 0);
  const end = performance.now() + 60_000;
  while (!handled && performance.now() < end) await letMessagesIn(backend);
  expect(handled).toBe(true);
});
