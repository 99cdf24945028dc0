import { expect, it } from "vitest";
import { CheckpointPace } from "./checkpoint-pace.ts";

/** A clock that is set by hand, in milliseconds. */
function clock() {
  let time = 0;
  return { now: () => time, pass: (seconds: number) => (time += 1000 * seconds) };
}

it("keeps a small student, and one of unknown size, after each step", async () => {
  for (const parameters of [2e6, 64e6, null]) {
    const { now, pass } = clock();
    const pace = new CheckpointPace(parameters, now);
    expect(pace.due()).toBe(true);
    await pace.saving(async () => void pass(100));
    expect(pace.due()).toBe(true);
  }
});

it("keeps a large student when ten times as long has passed as its last checkpoint took", async () => {
  const { now, pass } = clock();
  const pace = new CheckpointPace(500e6, now);
  // Six gigabytes at 500 MB per second: twelve seconds.
  pass(119);
  expect(pace.due()).toBe(false);
  pass(1);
  expect(pace.due()).toBe(true);
  await pace.saving(async () => void pass(3));
  pass(29);
  expect(pace.due()).toBe(false);
  pass(1);
  expect(pace.due()).toBe(true);
});
