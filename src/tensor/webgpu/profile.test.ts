import { expect, test } from "vitest";
import { randomValues } from "../../../test/random.ts";
import { openGpu } from "../../../test/webgpu.ts";
import { createWebGpuBackend } from "./index.ts";

test("kernels are counted and timed between start and stop, and results stay right", async () => {
  const backend = await createWebGpuBackend(await openGpu());
  const a = backend.fromArray(randomValues(4096, 1), [4096]);
  const b = backend.fromArray(randomValues(4096, 2), [4096]);
  backend.free(backend.add(a, b));
  backend.startProfile();
  for (let i = 0; i < 600; i++) backend.addInPlace(a, b);
  const y = backend.swiglu(a, b);
  await backend.sync();
  const times = await backend.stopProfile();
  const of = (entry: string) => times.find((time) => time.entry === entry);
  expect(times.map(({ entry }) => entry).sort()).toEqual(["add_in_place", "swiglu"]);
  expect(of("add_in_place")!.dispatches).toBe(600);
  expect(of("add_in_place")!.operations).toBe(600 * 4096);
  expect(of("add_in_place")!.milliseconds).toBeGreaterThan(0);
  expect(of("swiglu")!.dispatches).toBe(1);
  const [x, first, second] = [await backend.read(a), randomValues(4096, 1), randomValues(4096, 2)];
  expect(x[7]).toBeCloseTo(first[7]! + 600 * second[7]!, 1);
  backend.free(y, backend.add(a, b));
  expect(await backend.stopProfile()).toEqual([]);
  backend.dispose();
});
