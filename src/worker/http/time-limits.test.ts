import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TIME_LIMITS, withIdleLimit } from "./time-limits.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("measures an upload's pauses, not its length, and not the time that its reader takes", async () => {
  const ms = TIME_LIMITS.uploadIdleMs;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const pieces = withIdleLimit(readable, ms);
  for (let i = 0; i < 10; i += 1) {
    const next = pieces.next();
    await vi.advanceTimersByTimeAsync(ms - 1);
    const written = writer.write(new Uint8Array([i]));
    expect(await next).toEqual({ done: false, value: new Uint8Array([i]) });
    await written;
    await vi.advanceTimersByTimeAsync(2 * ms);
  }
  const next = expect(pieces.next()).rejects.toMatchObject({ status: 408 });
  await vi.advanceTimersByTimeAsync(ms);
  await next;
});
