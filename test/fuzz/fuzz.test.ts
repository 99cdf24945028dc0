import { resolve } from "node:path";
import { expect, test } from "vitest";
import { uniforms } from "../../src/core/seeded.ts";
import { makeModelTargets } from "./model-targets.ts";
import { damageBytes } from "./mutate.ts";
import { makeTargets, type Target } from "./targets.ts";
import { makeInput, tryInput } from "./try-input.ts";

const fixtures = resolve(import.meta.dirname, "../fixtures");
const targets = await makeTargets(fixtures);
const models = await makeModelTargets(fixtures);

/** Milliseconds of this process's own time for one input, whatever else the machine does. */
const LIMIT = 10_000;
/** Bytes that this process may have at its most. */
const MEMORY = 2 ** 30;

const spent = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function faultOf(from: readonly Target[], seed: number, index: number): Promise<string | undefined> {
  const which = `${from === models ? "--models " : ""}--seed ${seed} --from ${index}`;
  const started = spent();
  const verdict = await tryInput(makeInput(from, seed, index));
  if (spent() - started > LIMIT) return `${which}: took too long`;
  if (process.resourceUsage().maxRSS * 1024 > MEMORY) return `${which}: took too much memory`;
  return "fault" in verdict ? `${which}: ${verdict.fault}` : undefined;
}

test("the undamaged seeds are read whole", async () => {
  for (const target of [...targets, ...models]) {
    for (const files of target.seeds) {
      expect([target.name, await tryInput({ target, files })]).toEqual([
        target.name,
        { records: expect.any(Number) },
      ]);
    }
  }
});

test("a damaged file gives records or one clear line", async () => {
  const faults: string[] = [];
  for (let index = 0; index < 3000; index++) {
    const fault = await faultOf(targets, 20, index);
    if (fault !== undefined) faults.push(fault);
  }
  expect(faults).toEqual([]);
});

test("damaged files of a model are taken or refused in one clear line", async () => {
  const faults: string[] = [];
  for (let index = 0; index < 300; index++) {
    const fault = await faultOf(models, 20, index);
    if (fault !== undefined) faults.push(fault);
  }
  expect(faults).toEqual([]);
});

/** Inputs (seed, number) that once were a fault of the program. They stay what they are while mutate.ts does. */
const ONCE_FAULTS: [number, number][] = [
  [1, 495],
  [1, 1505],
  [1, 2520],
  [1, 3857],
  [1, 5785],
  [1, 6201],
  [2, 1929],
  [2, 9814],
];

test.each(ONCE_FAULTS)("seed %i, input %i is answered", async (seed, index) => {
  expect(await faultOf(targets, seed, index)).toBeUndefined();
});

/** The same of inputs of `--models`. */
test.each([
  [1, 17],
  [2, 2037],
])("models: seed %i, input %i is answered", async (seed, index) => {
  expect(await faultOf(models, seed, index)).toBeUndefined();
});

test("an input follows from its seed and number alone", () => {
  const [a, b] = [makeInput(targets, 5, 77), makeInput(targets, 5, 77)];
  expect(a.target.name).toBe(b.target.name);
  expect(a.files).toEqual(b.files);
  const bytes = Uint8Array.from({ length: 50 }, (_, n) => n);
  expect(damageBytes(bytes, uniforms(1))).not.toEqual(bytes);
});
