/**
 * What Dawn's wait for the GPU in Node costs: with rests between its looks (`engine/native/dawn.ts`), and spinning as it
 * does by itself, in turns. `npm run bench -- waiting`: scoring and sampling with the sample's student, wall and processor
 * seconds.
 */
import { setImmediate as spinning } from "node:timers";
import { parseArgs } from "node:util";
import { table } from "../src/cli/demo/table.ts";
import { openFolder } from "../src/engine/native/node.ts";
import { LanguageModel } from "../src/tensor/index.ts";
import { openAdapter } from "./support/device.ts";
import { median } from "./support/median.ts";

const { values } = parseArgs({
  options: { turns: { type: "string", default: "7" }, compute: { type: "string" } },
});
const { backend, operands } = await openAdapter(values.compute);
const { setImmediate: resting } = globalThis;
const model = await LanguageModel.load(backend, openFolder("public/sample/student"));
const promptIds = Array.from({ length: 512 }, (_, n) => (n * 37) % model.config.vocabularySize);
const responseIds = promptIds.slice(0, 32);
const WORK = {
  "scores 8 × (512 + 32)": () => model.score(Array.from({ length: 8 }, () => ({ promptIds, responseIds }))),
  "samples 32 tokens": () => model.generate(promptIds, { maxTokens: 32, temperature: 0 }),
};

interface Taken {
  wall: number;
  processor: number;
}

async function timed(work: () => Promise<unknown>): Promise<Taken> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wall: (performance.now() - start) / 1000, processor: (user + system) / 1e6 };
}

const rows: string[][] = [];
for (const [name, work] of Object.entries(WORK)) {
  await work();
  const taken: Record<"rests" | "spins", Taken[]> = { rests: [], spins: [] };
  for (let turn = 0; turn < Number(values.turns); turn++)
    for (const way of turn % 2 === 0 ? (["rests", "spins"] as const) : (["spins", "rests"] as const)) {
      globalThis.setImmediate = way === "rests" ? resting : spinning;
      taken[way].push(await timed(work));
    }
  const middle = (way: "rests" | "spins", key: keyof Taken) => median(taken[way].map((each) => each[key]));
  for (const key of ["wall", "processor"] as const) {
    const [rests, spins] = [middle("rests", key), middle("spins", key)];
    rows.push([`${name}, ${key} s`, rests.toFixed(3), spins.toFixed(3), (rests / spins).toFixed(2)]);
  }
}
globalThis.setImmediate = resting;
console.log(table(["", "rests", "spins", "rests / spins"], rows));
console.log(
  `\nAdapter: ${backend.description}; operands ${operands}; medians of ${values.turns} turns after a first run.`,
);
backend.dispose();
