import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomValues } from "../../test/random.ts";
import { openGpu } from "../../test/webgpu.ts";
import { type Backend, createReferenceBackend, createWebGpuBackend } from "./index.ts";

describe.each(["cpu", "webgpu"] as const)("pieces on %s", (kind) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = kind === "cpu" ? createReferenceBackend() : await createWebGpuBackend(await openGpu());
  });
  afterAll(() => backend.dispose());

  it("reads, replaces and adds at any place, several at once, and touches nothing else", async () => {
    const values = randomValues(1000, 1);
    const given = randomValues(1000, 2);
    const t = backend.fromArray(values, [10, 100]);
    const before = backend.live();
    const expected = values.slice();
    const bytesOf = (from: number, count: number) => new Uint8Array(given.slice(from, from + count).buffer);
    const parts: [number, number, "add" | "replace"][] = [
      [0, 100, "add"],
      [100, 37, "replace"],
      [137, 1, "add"],
      [601, 39, "add"],
      [640, 102, "add"],
      [742, 26, "replace"],
      [768, 160, "add"],
      [960, 40, "add"],
    ];
    await Promise.all(
      parts.map(async ([at, count, how]) => {
        for (let i = at; i < at + count; i++)
          expected[i] = Math.fround((how === "add" ? expected[i]! : 0) + given[i]!);
        await backend.pieces.write(t, at, count, how, async (bytes) => bytes.set(bytesOf(at, count)));
      }),
    );
    expect(await backend.read(t)).toEqual(expected);
    const seen = new Float32Array(1000);
    await Promise.all(
      [0, 333, 666].map((at) =>
        backend.pieces.read(t, at, 334, async (bytes) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          seen.set(new Float32Array(bytes.slice().buffer), at);
        }),
      ),
    );
    expect(seen).toEqual(expected);
    backend.pieces.release();
    expect(backend.live()).toEqual(before);
    backend.free(t);
  });

  it("refuses what lies outside, and is usable after a caller's error", async () => {
    const t = backend.fromArray(randomValues(8, 3), [8]);
    await expect(backend.pieces.read(t, 4, 5, async () => {})).rejects.toThrow("piece of 5 values at 4");
    const failing = backend.pieces.write(t, 0, 8, "add", async () => {
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    await backend.pieces.write(t, 0, 1, "replace", async (bytes) => void bytes.fill(0));
    expect((await backend.read(t))[0]).toBe(0);
    backend.free(t);
    await expect(backend.pieces.read(t, 0, 1, async () => {})).rejects.toThrow("after it was freed");
  });
});
