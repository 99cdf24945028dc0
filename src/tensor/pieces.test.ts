import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomValues } from "../../test/random.ts";
import { openGpu } from "../../test/webgpu.ts";
import { type Backend, createReferenceBackend, createWebGpuBackend } from "./index.ts";
import { decodeFloats, encodeFloats } from "./number-format.ts";

describe.each(["cpu", "webgpu"] as const)("pieces on %s", (kind) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = kind === "cpu" ? createReferenceBackend() : await createWebGpuBackend(await openGpu());
  });
  afterAll(() => backend.dispose());

  it.each(["f32", "bf16"] as const)(
    "reads, replaces and adds as %s at any place, several at once, and touches nothing else",
    async (format) => {
      const stored = format === "f32" ? "F32" : "BF16";
      const rounded = (values: Float32Array): Float32Array => {
        const same = new Float32Array(values.length);
        decodeFloats(stored, encodeFloats(stored, values), same);
        return same;
      };
      const values = randomValues(1000, 1);
      values.set([Number.NaN, Number.POSITIVE_INFINITY, 3.4e38, -0, 1e-40], 800);
      const given = rounded(randomValues(1000, 2));
      const t = backend.fromArray(values, [10, 100]);
      const before = backend.live();
      const expected = values.slice();
      const bytesOf = (from: number, count: number) => encodeFloats(stored, given.slice(from, from + count));
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
          await backend.pieces.write(t, at, count, format, how, async (bytes) =>
            bytes.set(bytesOf(at, count)),
          );
        }),
      );
      expect(await backend.read(t)).toEqual(expected);
      const seen = new Float32Array(1000);
      await Promise.all(
        [0, 333, 666].map((at) =>
          backend.pieces.read(t, at, at === 333 ? 333 : 334, format, async (bytes) => {
            await new Promise((resolve) => setTimeout(resolve, 1));
            decodeFloats(stored, bytes, seen, at);
          }),
        ),
      );
      expect(seen).toEqual(rounded(expected));
      // Whoever hands values out keeps what the others get.
      expect(await backend.read(t)).toEqual(seen);
      backend.pieces.release();
      expect(backend.live()).toEqual(before);
      backend.free(t);
    },
  );

  it("refuses what lies outside, and is usable after a caller's error", async () => {
    const t = backend.fromArray(randomValues(8, 3), [8]);
    await expect(backend.pieces.read(t, 4, 5, "f32", async () => {})).rejects.toThrow(
      "piece of 5 values at 4",
    );
    const failing = backend.pieces.write(t, 0, 8, "f32", "add", async () => {
      throw new Error("no more");
    });
    await expect(failing).rejects.toThrow("no more");
    await backend.pieces.write(t, 0, 1, "f32", "replace", async (bytes) => void bytes.fill(0));
    expect((await backend.read(t))[0]).toBe(0);
    backend.free(t);
    await expect(backend.pieces.read(t, 0, 1, "f32", async () => {})).rejects.toThrow("after it was freed");
  });
});
