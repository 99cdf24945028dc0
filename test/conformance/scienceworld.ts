/**
 * Plays recorded episodes of ScienceWorld's Python package in the real simulator, and compares everything that was
 * recorded: `npm run conformance -- scienceworld --simulator WHEEL`. Texts are compared up to the order of lists and menu
 * entries, which differs from process to process.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { sameText } from "../../src/core/environment/scienceworld/same-text.ts";
import { InputError } from "../../src/core/errors.ts";
import { openJar } from "../../src/simulator/scienceworld/jar.ts";
import { SimulatorPool } from "../../src/simulator/scienceworld/pool.ts";

interface Trace {
  task: string;
  variation: number;
  description: string;
  actions: string[];
  initial: string;
  steps: {
    action: string;
    observation: string;
    score: number;
    done: boolean;
    moves: number;
    look: string;
    inv: string;
    objects: string[];
    progress: string;
  }[];
}

/** Field → comparisons made, those that held, and those that held byte for byte. */
const counts = new Map<string, { made: number; equal: number; identical: number }>();

function compare(field: string, found: unknown, recorded: unknown, place: string): void {
  const count = counts.get(field) ?? { made: 0, equal: 0, identical: 0 };
  counts.set(field, count);
  const identical = JSON.stringify(found) === JSON.stringify(recorded);
  const alike = typeof found === "string" && typeof recorded === "string" && sameText(found, recorded);
  count.made++;
  if (identical) count.identical++;
  if (identical || alike) count.equal++;
  else console.error(`${place}: ${field} is ${JSON.stringify(found)}; recorded ${JSON.stringify(recorded)}`);
}

async function main(simulator: string, file: string): Promise<void> {
  const jar = await openJar(simulator);
  console.log(`ScienceWorld ${jar.version}, SHA-256 ${jar.sha256}`);
  const traces = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Trace[];
  // One process for all, as collection and evaluation reuse it.
  const pool = new SimulatorPool(jar, { size: 1 });
  const world = await pool.acquire();
  try {
    for (const { task, variation, description, actions, initial, steps } of traces) {
      // The recording was made with the gold path, whose search leaves its traces in the order of lists.
      await world.load({ name: task, variation, simplification: "easy" }, true);
      const start = await world.reset();
      compare("observation", start.observation, initial, task);
      compare("description", await world.description(), description, task);
      compare("templates", await world.templates(), actions, task);
      for (const [i, step] of steps.entries()) {
        const place = `${task}, step ${i}, ${JSON.stringify(step.action)}`;
        const { observation, score, done, moves } = await world.step(step.action);
        compare("observation", observation, step.observation, place);
        compare("score", score, step.score, place);
        compare("done", done, step.done, place);
        compare("moves", moves, step.moves, place);
        compare("objects", await world.objects(), step.objects, place);
        compare("look", await world.look(), step.look, place);
        compare("inventory", await world.inventory(), step.inv, place);
        compare("progress", await world.goalProgress(), step.progress, place);
      }
    }
  } finally {
    await pool.release(world);
    await pool.close();
  }
  for (const [field, { made, equal, identical }] of counts)
    console.log(`${field}: ${equal} of ${made} equal, ${identical} byte for byte`);
  if ([...counts.values()].some(({ made, equal }) => equal < made)) process.exitCode = 1;
}

const { values } = parseArgs({
  options: {
    simulator: { type: "string" },
    traces: { type: "string", default: resolve("test/fixtures/live/scienceworld/traces.json.gz") },
  },
});
if (values.simulator === undefined) {
  console.error("usage: npm run conformance -- scienceworld --simulator WHEEL|JAR|FOLDER [--traces FILE]");
  process.exitCode = 2;
} else {
  try {
    await main(values.simulator, values.traces);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    console.error(`conformance: ${error.message}`);
    process.exitCode = 1;
  }
}
