import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openGpu } from "../../../test/webgpu.ts";
import { BufferPool } from "./buffer-pool.ts";
import { requestDevice, USAGE } from "./device.ts";

const LONGEST = 2 ** 20;

let device: GPUDevice;
beforeAll(async () => {
  ({ device } = await requestDevice(await openGpu()));
});
afterAll(() => device.destroy());

/** A pool, the sizes of the buffers that it made, and which of them it destroyed, by number. */
function openPool() {
  const sizes: number[] = [];
  const destroyed: number[] = [];
  const pool = new BufferPool((size) => {
    const number = sizes.push(size) - 1;
    const buffer = device.createBuffer({ size, usage: USAGE.storage });
    vi.spyOn(buffer, "destroy").mockImplementation(() => {
      destroyed.push(number);
      return undefined;
    });
    return buffer;
  }, LONGEST);
  return { pool, sizes, destroyed };
}

test("sizes are rounded up by at most a quarter, and to no more than the longest", () => {
  const { pool, sizes } = openPool();
  for (const bytes of [4, 256, 257, 4096, 4100, 5121, 100_000, LONGEST - 4]) {
    const { size } = pool.take(bytes);
    expect(size).toBeGreaterThanOrEqual(bytes);
    expect(size).toBeLessThanOrEqual(Math.max(bytes + 255, 1.25 * bytes));
  }
  expect(sizes.at(-1)).toBe(LONGEST);
  expect(pool.take(100_000, true).size).toBe(100_000);
});

test("of the buffers that fit, the first made is taken, in whatever order they came back", () => {
  const { pool } = openPool();
  const made = [0, 1, 2, 3].map(() => pool.take(1000));
  for (const i of [2, 0, 3, 1]) pool.giveBack(made[i]!);
  expect([0, 1, 2, 3].map(() => pool.take(900))).toEqual(made);
});

test("a longer buffer is taken before one is made, but not one of more than 2.5 times the length", () => {
  const { pool, sizes } = openPool();
  const [long, longer] = [pool.take(2000), pool.take(4096)];
  pool.giveBack(longer);
  pool.giveBack(long);
  expect(pool.take(1024)).toBe(long);
  expect(pool.take(1024).size).toBe(1024);
  expect(pool.take(2048)).toBe(longer);
  expect(sizes.length).toBe(3);
  // What is there to stay takes no buffer but one of its own length.
  pool.giveBack(longer);
  expect(pool.take(4000, true).size).toBe(4000);
});

test("buffers that nobody wanted for long go, and those beyond what may be idle, oldest first", () => {
  const { pool, destroyed } = openPool();
  const [a, b, c] = [pool.take(1024), pool.take(4096), pool.take(16_384)];
  const often = pool.take(256);
  pool.giveBack(b);
  pool.giveBack(a);
  pool.giveBack(c);
  expect(pool.trim(20_000)).toEqual(new Set([b.id]));
  pool.giveBack(often);
  for (let i = 0; i < 12_288; i++) pool.giveBack(pool.take(256));
  expect(pool.trim(Infinity)).toEqual(new Set([a.id, c.id]));
  expect(destroyed).toEqual([1, 0, 2]);
  expect(pool.take(256)).toBe(often);
});

test("the peak is that of two periods of allocations at most", () => {
  const { pool } = openPool();
  const [a, b] = [pool.take(4096), pool.take(8192)];
  pool.giveBack(a);
  pool.giveBack(b);
  expect([pool.used, pool.idleBytes, pool.recentPeak]).toEqual([0, 12_288, 12_288]);
  for (let i = 0; i < 12_288; i++) pool.giveBack(pool.take(256));
  expect(pool.recentPeak).toBe(12_288);
  for (let i = 0; i < 12_288; i++) pool.giveBack(pool.take(256));
  expect(pool.recentPeak).toBe(256);
  pool.trim(0);
  expect([pool.used, pool.idleBytes]).toEqual([0, 0]);
});

test("buffers of an interval that failed are not handed out again, idle or not", () => {
  const { pool, destroyed } = openPool();
  const [idle, used] = [pool.take(1024), pool.take(1024)];
  const interval = pool.endGeneration();
  const later = pool.take(4096);
  pool.giveBack(idle);
  pool.distrust(interval);
  // What was refused says nothing about what fits.
  expect(pool.recentPeak).toBe(0);
  pool.giveBack(used);
  pool.giveBack(later);
  expect(pool.take(1024)).not.toBe(idle);
  expect(pool.take(4096)).toBe(later);
  expect(pool.trim(Infinity)).toEqual(new Set([idle.id, used.id]));
  expect(destroyed.toSorted()).toEqual([0, 1]);
});
