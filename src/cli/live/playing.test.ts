import { afterEach, describe, expect, it, vi } from "vitest";
import { keepStreams } from "../../../test/support/cli.ts";
import { progress } from "../io.ts";
import { playing, timeLeft } from "./playing.ts";

const MINUTE = 60_000;

it("tells no time before a whole round of episodes has ended, nor at the end", () => {
  // Eight play side by side for ten minutes: the first to end would say 150 minutes, where 10 are left.
  expect(timeLeft(10 * MINUTE, { ended: 1, left: 15, atOnce: 8 })).toBeNull();
  expect(timeLeft(10 * MINUTE, { ended: 8, left: 8, atOnce: 8 })).toBe("about 10 min");
  expect(timeLeft(10 * MINUTE, { ended: 8, left: 0, atOnce: 8 })).toBeNull();
});

it("rounds to what is known", () => {
  expect(timeLeft(MINUTE, { ended: 10, left: 3, atOnce: 1 })).toBe("less than a minute");
  expect(timeLeft(MINUTE, { ended: 1, left: 120, atOnce: 1 })).toBe("about 2.0 h");
});

describe("what is told of episodes that are played", () => {
  const { isTTY, columns } = process.stderr;
  const setTerminal = (is: boolean, width?: number) =>
    Object.assign(process.stderr, { isTTY: is, columns: width });
  afterEach(() => {
    Object.assign(process.stderr, { isTTY, columns });
    vi.useRealTimers();
  });
  const state = { done: 0, total: 8, underWay: 8, decisions: 0, most: 48, atOnce: 8 };

  /** A round of a model takes a minute. */
  async function told(): Promise<string> {
    vi.useFakeTimers();
    const streams = keepStreams();
    try {
      await playing("episodes", async ({ onProgress }) => {
        onProgress(state);
        await vi.advanceTimersByTimeAsync(60_000);
        onProgress({ ...state, decisions: 8 });
        await vi.advanceTimersByTimeAsync(10_000);
        progress("gcopd: done");
      });
      return streams.err;
    } finally {
      streams.release();
    }
  }

  it("is a line now and then in a file, before any of them has ended", async () => {
    setTerminal(false);
    const lines = (await told()).trimEnd().split("\n");
    expect(lines).toHaveLength(9);
    expect(lines[0]).toBe("  0 of 8 episodes, 8 under way; 0 of at most 48 decisions in 0 s");
    expect(lines[3]).toBe("  0 of 8 episodes, 8 under way; 0 of at most 48 decisions in 30 s");
    expect(lines[7]).toBe("  0 of 8 episodes, 8 under way; 8 of at most 48 decisions in 1 min");
    expect(lines[8]).toBe("gcopd: done");
  });

  it("is one line of a terminal, which the next thing that is told takes the place of", async () => {
    setTerminal(true, 40);
    const parts = (await told()).split("\r\u001b[2K");
    expect(parts.length).toBeGreaterThan(60);
    expect(parts[1]).toBe("  0 of 8 episodes, 8 under way; 0 of at");
    expect(parts.at(-1)).toBe("gcopd: done\n");
    expect(parts.slice(0, -1).join("")).not.toContain("\n");
  });
});
