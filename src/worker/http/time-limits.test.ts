import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { limitBodyTime, TIME_LIMITS, withIdleLimit } from "./time-limits.ts";

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

it("answers a late body also where the answer cannot be written at once, and closes the connection", async () => {
  vi.useRealTimers();
  let acted = false;
  const server = createServer((incoming) => {
    incoming
      .on("data", () => undefined)
      .on("end", () => {
        acted = true;
      });
  });
  server.on("connection", (socket) => socket.cork());
  limitBodyTime(server, 10, () => false);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx");
  let answer = "";
  for await (const piece of socket) answer += String(piece);
  expect(answer).toMatch(/^HTTP\/1\.1 408 .*the body took too long to arrive"}$/s);
  await new Promise((closed) => server.close(closed));
  expect(acted).toBe(false);
});
