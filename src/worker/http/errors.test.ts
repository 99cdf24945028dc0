import { Hono } from "hono";
import { expect, it, vi } from "vitest";
import { answerError } from "./errors.ts";

it("a client that leaves before it has sent all is not a fault to report; every other one is", async () => {
  const app = new Hono();
  app.onError(answerError);
  app.get("/", () => {
    throw new Error("aborted");
  });
  const told = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  try {
    const gone = await app.request("/", {}, { incoming: { destroyed: true, complete: false } });
    expect([gone.status, told.mock.calls.length]).toEqual([400, 0]);
    for (const incoming of [
      undefined,
      { destroyed: false, complete: false },
      { destroyed: true, complete: true },
    ]) {
      told.mockClear();
      expect((await app.request("/", {}, { incoming })).status).toBe(500);
      expect(String(told.mock.calls[0]?.[0])).toContain("Error: aborted");
    }
  } finally {
    told.mockRestore();
  }
});
