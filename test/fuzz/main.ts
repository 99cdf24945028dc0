/** `npm run fuzz`: many damaged inputs in a thread of their own, with a time limit for each. Prints one table. */
import { resolve } from "node:path";
import { Worker } from "node:worker_threads";
import type { Message, Task } from "./worker.ts";

/** Milliseconds after which an input counts as hung. */
const LIMIT = 10_000;
const BATCH = 2000;

function option(name: string, standard: number): number {
  const at = process.argv.indexOf(`--${name}`);
  const value = at < 0 ? standard : Number(process.argv[at + 1]);
  if (!Number.isSafeInteger(value) || value < 0) {
    console.error(`fuzz: --${name}: expected a whole number`);
    process.exit(2);
  }
  return value;
}

const seed = option("seed", 1);
const count = option("count", 20_000);
const first = option("from", 0);
const root = resolve("test/fixtures");
const totals: Extract<Message, { kind: "done" }>["counts"] = {};
let faults = 0;

function report(index: number, target: string, fault: string): void {
  faults++;
  console.log(`FAULT --seed ${seed} --from ${index} --count 1 (${target}): ${fault}`);
}

/** One stretch of inputs; resolves with the input to go on from. */
function stretch(from: number, to: number): Promise<number> {
  return new Promise((done) => {
    const current = new SharedArrayBuffer(4);
    const under = new Int32Array(current);
    under[0] = from;
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), {
      workerData: { root, seed, from, to, current } satisfies Task,
    });
    let seen = from;
    let since = performance.now();
    const end = (next: number) => {
      clearInterval(watch);
      void worker.terminate().then(() => done(next));
    };
    const watch = setInterval(() => {
      const index = Atomics.load(under, 0);
      if (index !== seen) {
        seen = index;
        since = performance.now();
      } else if (performance.now() - since > LIMIT) {
        report(index, "?", `hung for ${LIMIT / 1000} s`);
        end(index + 1);
      }
    }, 250);
    worker.on("message", (message: Message) => {
      if (message.kind === "fault") report(message.index, message.target, message.fault);
      else {
        for (const [name, got] of Object.entries(message.counts)) {
          totals[name] ??= { records: 0, refused: 0, faults: 0, slowest: 0 };
          const total = totals[name]!;
          total.records += got.records;
          total.refused += got.refused;
          total.faults += got.faults;
          total.slowest = Math.max(total.slowest, got.slowest);
        }
        end(to);
      }
    });
    worker.on("error", (error) => {
      const index = Atomics.load(under, 0);
      report(index, "?", `the thread died: ${error instanceof Error ? error.stack : String(error)}`);
      end(index + 1);
    });
  });
}

const started = performance.now();
for (let from = first; from < first + count; ) {
  from = await stretch(from, Math.min(from + BATCH, first + count));
  const rate = (from - first) / ((performance.now() - started) / 1000);
  process.stderr.write(`${from - first} of ${count} inputs, ${rate.toFixed(0)}/s, ${faults} faults\n`);
}
console.log("target                          inputs   records   refused    faults  slowest");
for (const [name, { records, refused, faults: bad, slowest }] of Object.entries(totals).sort()) {
  const cells = [records + refused + bad, records, refused, bad].map((n) => String(n).padStart(9)).join(" ");
  console.log(`${name.padEnd(28)} ${cells} ${slowest.toFixed(0).padStart(5)} ms`);
}
console.log(`seed ${seed}, inputs ${first} to ${first + count}, faults: ${faults}`);
process.exitCode = faults === 0 ? 0 : 1;
