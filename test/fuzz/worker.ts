/** Tries inputs one after another, in a thread that can be ended when one hangs. */
import { parentPort, workerData } from "node:worker_threads";
import { makeTargets } from "./targets.ts";
import { makeInput, tryInput } from "./try-input.ts";

export interface Task {
  root: string;
  seed: number;
  from: number;
  to: number;
  /** Shared: the input under way. */
  current: SharedArrayBuffer;
}

export type Message =
  | { kind: "fault"; index: number; target: string; fault: string }
  | {
      kind: "done";
      counts: Record<string, { records: number; refused: number; faults: number; slowest: number }>;
    };

const { root, seed, from, to, current } = workerData as Task;
const under = new Int32Array(current);
const targets = await makeTargets(root);
const counts: Extract<Message, { kind: "done" }>["counts"] = {};
for (let index = from; index < to; index++) {
  Atomics.store(under, 0, index);
  const input = makeInput(targets, seed, index);
  counts[input.target.name] ??= { records: 0, refused: 0, faults: 0, slowest: 0 };
  const count = counts[input.target.name]!;
  const started = performance.now();
  const verdict = await tryInput(input);
  count.slowest = Math.max(count.slowest, performance.now() - started);
  if ("fault" in verdict) {
    count.faults++;
    parentPort?.postMessage({
      kind: "fault",
      index,
      target: input.target.name,
      fault: verdict.fault,
    } satisfies Message);
  } else if ("refused" in verdict) count.refused++;
  else count.records++;
}
parentPort?.postMessage({ kind: "done", counts } satisfies Message);
