import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { packValues, unpackRows } from "../weight-format.ts";
import { Commands } from "./commands.ts";
import { type ComputeDevice, DeviceHealth, requestDevice } from "./device.ts";
import { elementwiseOperations } from "./elementwise.ts";
import { createHalf, type Half, type ToHalf, type ToLostPanels, type ToPanels } from "./half.ts";
import { type GpuTensor, Memory } from "./memory.ts";
import { transferOperations } from "./transfer.ts";

let compute: ComputeDevice;
let memory: Memory;
let commands: Commands;
let transfer: ReturnType<typeof transferOperations>;
let half: ToHalf;
let panels: ToPanels;
let lostPanels: ToLostPanels;
beforeAll(async () => {
  compute = await requestDevice(await openGpu());
  memory = new Memory(compute.device);
  const health = new DeviceHealth(compute.device, () => memory.describe());
  commands = new Commands(compute, health);
  transfer = transferOperations(compute.device, memory, commands, health, (t) => t);
  ({ half, panels, lostPanels } = createHalf(memory, commands));
});
afterAll(() => compute.device.destroy());

/** The value of f16 bits. */
function fromBits(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return Number.NaN;
  const size = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return sign ? -size : size;
}

/** Every value as products see it, those of the padding too, and the scale. */
async function read({ values, scale }: Half): Promise<{ values: number[]; scale: number }> {
  const words = memory.allocate([values.bindingBytes / 4], "f32");
  commands.copy(values, 0, words, 0, values.bindingBytes);
  const bits = new Uint16Array((await transfer.read(words)).buffer);
  const factor = (await transfer.read(scale))[0]!;
  memory.free(words);
  return { values: [...bits].map((word) => fromBits(word) * factor), scale: factor };
}

describe("f16 operands", () => {
  test.each([1, 3, 8, 13, 4096, 8192 * 3 + 5, 100_001])("%i values keep 11 bits", async (length) => {
    const source = randomValues(length, 1, 3);
    // Junk after the end of a tensor, as a reused buffer has it, must count for nothing.
    const junk = transfer.fromArray(new Float32Array(Math.ceil(length / 64) * 64).fill(1e30), [
      Math.ceil(length / 64) * 64,
    ]);
    memory.free(junk);
    const t = transfer.fromArray(source, [length]);
    const found = await read(half(t));
    const peak = source.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    expect(Math.log2(found.scale)).toBe(Math.floor(Math.log2(peak)) - 14);
    const wrong = source.findIndex(
      (x, i) => !(Math.abs(found.values[i]! - x) <= Math.max(2 ** -11 * Math.abs(x), found.scale * 2 ** -24)),
    );
    expect(wrong).toBe(-1);
    expect(found.values.slice(length).every((x) => x === 0)).toBe(true);
    memory.free(t);
  });

  test.each([1e-12, 1e-8, 1, 7e4, 1e9])("values around %d neither vanish nor overflow", async (size) => {
    const source = Float32Array.of(size, -size / 3, size / 1000, 0, -size / 5);
    const t = transfer.fromArray(source, [5]);
    const { values } = await read(half(t));
    source.forEach((x, i) => {
      expect(Math.abs(values[i]! - x)).toBeLessThanOrEqual(2 ** -11 * Math.abs(x));
    });
    memory.free(t);
  });

  test("zeros are zeros", async () => {
    const t = transfer.zeros([100]);
    expect((await read(half(t))).values.every((x) => x === 0)).toBe(true);
    memory.free(t);
  });

  test("a copy is made once, and again after every kind of write", async () => {
    const { addInPlace, fill } = elementwiseOperations({
      bindingLimit: 2 ** 27,
      memory,
      commands,
    } as Parameters<typeof elementwiseOperations>[0]);
    const t = transfer.fromArray(Float32Array.of(1, 2, 3, 4), [4]);
    const other = transfer.fromArray(Float32Array.of(10, 20, 30, 40), [4]);
    const first = half(t);
    const { version } = t.half!;
    expect((await read(first)).values.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(half(t)).toBe(first);
    expect(t.half!.version).toBe(version);
    const afterWrite = async (write: () => void) => {
      write();
      return (await read(half(t))).values.slice(0, 4);
    };
    expect(await afterWrite(() => addInPlace(t, other))).toEqual([11, 22, 33, 44]);
    expect(await afterWrite(() => transfer.write(t, Float32Array.of(5, 6, 7, 8)))).toEqual([5, 6, 7, 8]);
    expect(await afterWrite(() => fill(t, 9))).toEqual([9, 9, 9, 9]);
    expect(await afterWrite(() => commands.copy(other, 0, t, 0, 16))).toEqual([10, 20, 30, 40]);
    expect(await afterWrite(() => commands.clear(t))).toEqual([0, 0, 0, 0]);
    expect(half(t).values).toBe(first.values);
    memory.free(t);
    expect(first.values.freed && first.scale.freed).toBe(true);
    memory.free(other);
  });

  test("copies outlive scopes, are not live tensors, and go with their tensor", () => {
    const t: GpuTensor = transfer.zeros([64]);
    const before = memory.live();
    const copies = memory.copyBytes;
    memory.scope(() => half(t));
    expect(t.half!.values.freed).toBe(false);
    expect(memory.live()).toEqual(before);
    expect(memory.copyBytes).toBe(copies + 128 + 4);
    memory.free(t);
    expect(memory.copyBytes).toBe(copies);
    expect(() => half(t)).toThrow("after it was freed");
  });

  test("only f32 can be cast", () => {
    const t = transfer.zeros([4], "u32");
    expect(() => half(t)).toThrow("cast: expected a tensor of f32, got u32");
    memory.free(t);
  });
});

describe("f16 operands in panels", () => {
  /** Where a value of a matrix lies in panels of so many rows. */
  function place(row: number, column: number, rows: number): number {
    const slot = (row & ~7) | ((row & 3) << 1) | ((row >> 2) & 1);
    return (Math.floor(column / 32) * rows + slot) * 32 + (column % 32);
  }

  test.each([
    [1, 4],
    [37, 36],
    [130, 200],
  ])("%i rows of %i, padded with zeros to whole 128 × 128", async (rows, columns) => {
    const source = randomValues(rows * columns, 1, 8).map(Math.round);
    const t = transfer.fromArray(source, [rows, columns]);
    const found = panels(t, rows, columns);
    expect(found.rows).toBe(Math.ceil(rows / 128) * 128);
    const { values } = await read(found);
    const expected = new Float32Array(found.rows * Math.ceil(columns / 128) * 128);
    source.forEach((x, i) => {
      expected[place(Math.floor(i / columns), i % columns, found.rows)] = x;
    });
    expect(Float32Array.from(values.slice(0, expected.length))).toEqual(expected);
    expect(panels(t, rows, columns)).toBe(found);
    memory.free(t);
    expect(found.values.freed).toBe(true);
  });

  test("what a cast lost doubles its bits", async () => {
    const copiesBefore = memory.copyBytes;
    const [rows, columns] = [37, 72];
    const source = randomValues(rows * columns, 1, 3);
    const t = transfer.fromArray(source, [rows, columns]);
    const cast = panels(t, rows, columns);
    const lost = lostPanels(t, cast, columns);
    expect(lost.rows).toBe(cast.rows);
    const length = 128 * 128;
    const [most, rest] = [await read(cast), await read(lost)];
    const sum = Float64Array.from({ length }, (_, i) => most.values[i]! + rest.values[i]!);
    const peak = source.reduce((largest, x) => Math.max(largest, Math.abs(x)), 0);
    source.forEach((x, i) => {
      const at = place(Math.floor(i / columns), i % columns, cast.rows);
      expect(Math.abs(most.values[at]! - x)).toBeLessThanOrEqual(2 ** -11 * Math.abs(x));
      // 22 bits, and none below f16's least at this scale.
      expect(Math.abs(sum[at]! - x)).toBeLessThanOrEqual(2 ** -22 * Math.abs(x) + peak * 2 ** -38);
      sum[at] = 0;
    });
    expect(sum.every((x) => x === 0)).toBe(true);
    memory.free(lost.values);
    memory.free(t);
    expect(memory.copyBytes).toBe(copiesBefore);
  });

  test("f16 in rows goes to panels bit by bit, for one use", async () => {
    const [rows, columns] = [70, 40];
    const source = randomValues(rows * columns, 1, 8).map(Math.round);
    const t = transfer.fromArray(source, [rows, columns]);
    const { values, scale } = half(t);
    const copied = panels(values, rows, columns);
    const direct = panels(t, rows, columns);
    expect(copied.once).toBe(true);
    const length = 128 * 128;
    const bits = (await read({ values: copied.values, scale })).values.slice(0, length);
    expect(bits).toEqual((await read(direct)).values.slice(0, length));
    memory.free(copied.values);
    memory.free(t);
  });

  test.each(["bf16", "int8", "int4"] as const)("%s goes to panels as its f32 values do", async (format) => {
    const copiesBefore = memory.copyBytes;
    const [rows, columns] = [37, 72];
    const words = packValues(format, columns, randomValues(rows * columns, 1, 8));
    const w = transfer.allocateWeight(format, [rows, columns]);
    transfer.writeWords(w, 0, words);
    const t = transfer.fromArray(unpackRows(format, columns, words, 0, rows), [rows, columns]);
    const length = 128 * 128;
    const [direct, cast] = [panels(w, rows, columns), panels(t, rows, columns)];
    expect(direct.rows).toBe(cast.rows);
    const [found, expected] = [await read(direct), await read(cast)];
    expect(found.scale).toBe(expected.scale);
    expect(found.values.slice(0, length)).toEqual(expected.values.slice(0, length));
    expect((await read(half(w))).values.slice(0, rows * columns)).toEqual(
      (await read(half(t))).values.slice(0, rows * columns),
    );
    expect(panels(w, rows, columns)).toBe(direct);
    memory.free(w);
    memory.free(t);
    expect(direct.values.freed && direct.scale.freed).toBe(true);
    expect(memory.copyBytes).toBe(copiesBefore);
  });
});
