/**
 * `npm run fuzz`: many damaged inputs in a process of their own, with a limit of time and memory for each. Prints one
 * table.
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Counts, Message, Task } from "./worker.ts";

/** Milliseconds after which an input counts as hung. */
const LIMIT = 10_000;
/** Bytes that the process may have at its most. */
const MEMORY = 2 ** 30;
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
const models = process.argv.includes("--models");
const again = `--seed ${seed}${models ? " --models" : ""}`;
const root = resolve("test/fixtures");
const totals: Counts = {};
let faults = 0;

function report(index: number, target: string, fault: string): void {
  faults++;
  console.log(`FAULT ${again} --from ${index} --count 1 (${target}): ${fault}`);
}

/** Bytes that a process has now; 0 where the system does not say, and its own word at the end of an input must do. */
function memoryOf(pid: number): number {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** One stretch of inputs; resolves with the input to go on from. */
function stretch(from: number, to: number): Promise<number> {
  return new Promise((done) => {
    const child = fork(fileURLToPath(new URL("./worker.mjs", import.meta.url)), {
      // Beyond this the process dies by itself, and loudly.
      execArgv: ["--enable-source-maps", "--max-old-space-size=1024"],
    });
    child.send({ root, seed, from, to, models, memory: MEMORY } satisfies Task);
    let [index, target, next] = [from, "?", from + 1];
    let since = performance.now();
    let isOver = false;
    const end = (fault: string | null): void => {
      if (isOver) return;
      isOver = true;
      clearInterval(watch);
      if (fault !== null) report(index, target, fault);
      child.kill("SIGKILL");
      done(next);
    };
    const watch = setInterval(() => {
      if (performance.now() - since > LIMIT) end(`hung for ${LIMIT / 1000} s`);
      else if (memoryOf(child.pid ?? 0) > MEMORY) end(`took more than ${MEMORY / 2 ** 20} MiB`);
    }, 50);
    child.on("message", (message: Message) => {
      if (message.kind === "at") {
        ({ index, target } = message);
        next = index + 1;
        since = performance.now();
      } else if (message.kind === "fault") report(message.index, message.target, message.fault);
      else {
        for (const [name, got] of Object.entries(message.counts)) {
          totals[name] ??= { records: 0, refused: 0, faults: 0, slowest: 0 };
          const total = totals[name];
          total.records += got.records;
          total.refused += got.refused;
          total.faults += got.faults;
          total.slowest = Math.max(total.slowest, got.slowest);
        }
        next = message.next;
        end(null);
      }
    });
    child.on("exit", (code, signal) => {
      if (!isOver && target === "?") process.exit(1);
      end(`the process died (${signal ?? code})`);
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
