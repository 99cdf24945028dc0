import { expect, test } from "vitest";
import { MemoryFolder, safetensorsBytes } from "../../test/memory-folder.ts";
import { InputError } from "../core/errors.ts";
import { readSafetensorsHeader, writeSafetensors } from "./safetensors.ts";

const entry = (dtype: string, shape: number[], start: number, end: number) => ({
  dtype,
  shape,
  data_offsets: [start, end],
});

async function problem(content: Uint8Array): Promise<string> {
  const folder = new MemoryFolder("m", { "x.safetensors": content });
  const error: unknown = await readSafetensorsHeader(folder, "x.safetensors").catch((e: unknown) => e);
  expect(error).toBeInstanceOf(InputError);
  const { message } = error as InputError;
  expect(message).toMatch(/^m\/x\.safetensors/);
  expect(message).not.toContain("\n");
  return message;
}

test("what is written is read", async () => {
  const tensors = [
    { name: "b", dtype: "F32", shape: [2, 1] },
    { name: "empty", dtype: "BF16", shape: [0, 3] },
    { name: "a", dtype: "F16", shape: [] },
  ];
  const data = [Uint8Array.of(0, 0, 128, 63, 0, 0, 0, 64), new Uint8Array(0), Uint8Array.of(0, 60)];
  const folder = new MemoryFolder();
  await folder.write(
    "x.safetensors",
    writeSafetensors(tensors, (index) => [data[index]!], { steps: "3" }),
  );
  const header = await readSafetensorsHeader(folder, "x.safetensors");
  expect(header.metadata).toEqual({ format: "pt", steps: "3" });
  expect([...header.tensors.keys()]).toEqual(["b", "empty", "a"]);
  for (const [index, { name, dtype, shape }] of tensors.entries()) {
    const stored = header.tensors.get(name)!;
    expect([stored.dtype, stored.shape]).toEqual([dtype, shape]);
    expect(await folder.read("x.safetensors", stored.start, stored.end)).toEqual(data[index]);
  }
  expect(header.tensors.get("b")!.start % 8).toBe(0);
});

test("writing refuses data of another size than announced", async () => {
  const folder = new MemoryFolder();
  const tensors = [{ name: "a", dtype: "F32", shape: [2] }];
  await expect(
    folder.write(
      "x",
      writeSafetensors(tensors, () => [new Uint8Array(4)]),
    ),
  ).rejects.toThrow("a: 4 bytes given, 8 announced");
});

test("faults of a file are named", async () => {
  const four = new Uint8Array(4);
  const good = safetensorsBytes({ a: entry("F32", [1], 0, 4) }, four);
  expect(await problem(good.subarray(0, 5))).toContain("5 bytes, shorter than the header's length");
  expect(await problem(good.subarray(0, 20))).toContain("the file has 20");
  const huge = good.slice();
  new DataView(huge.buffer).setBigUint64(0, 2n ** 40n, true);
  expect(await problem(huge)).toContain("a header of 1099511627776 bytes is announced");
  expect(await problem(good.subarray(0, good.length - 1))).toContain(
    "a: data_offsets 0 … 4 lie outside the 3",
  );
  expect(await problem(safetensorsBytes("{nope", four))).toContain("not JSON");
  expect(await problem(safetensorsBytes([1], four))).toContain("not a JSON object");
  expect(await problem(safetensorsBytes({ __metadata__: { a: 1 } }, four))).toContain("__metadata__");
});

test.each([
  ["unknown dtype", { a: entry("F31", [1], 0, 4) }, 'a: unknown dtype "F31"'],
  ["inherited dtype", { a: entry("toString", [1], 0, 4) }, 'a: unknown dtype "toString"'],
  ["dtype missing", { a: { shape: [1], data_offsets: [0, 4] } }, "a: unknown dtype undefined"],
  ["negative size", { a: entry("F32", [-1], 0, 4) }, "a: expected a shape"],
  ["no offsets", { a: { dtype: "F32", shape: [1] } }, "a: expected data_offsets"],
  ["not an object", { a: 3 }, "a: expected dtype, shape and data_offsets"],
  ["end before start", { a: entry("F32", [1], 4, 0) }, "a: data_offsets 4 … 0 lie outside"],
  [
    "size of the shape",
    { a: entry("F32", [2], 0, 4) },
    "a: 4 bytes of data do not hold F32 [2], which takes 8",
  ],
  ["overlap", { a: entry("F16", [2], 0, 4), b: entry("F16", [1], 2, 4) }, "b: the data overlap"],
  ["gap", { a: entry("F16", [1], 2, 4) }, "a: a gap lies before the data"],
  ["rest", { a: entry("F16", [1], 0, 2) }, "2 bytes at the end belong to no tensor"],
])("%s", async (_name, header, message) => {
  expect(await problem(safetensorsBytes(header, new Uint8Array(4)))).toContain(message);
});
