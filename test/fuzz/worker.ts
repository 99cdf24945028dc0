/** Tries inputs one after another, in a process that can be ended when one hangs or takes too much memory. */
import { makeModelTargets } from "./model-targets.ts";
import { makeTargets } from "./targets.ts";
import { makeInput, tryInput } from "./try-input.ts";

export interface Task {
  root: string;
  seed: number;
  from: number;
  to: number;
  /** Models or recordings. */
  models: boolean;
  /** Bytes of the process's memory at its most. */
  memory: number;
}

export type Counts = Record<string, { records: number; refused: number; faults: number; slowest: number }>;

export type Message =
  | { kind: "at"; index: number; target: string }
  | { kind: "fault"; index: number; target: string; fault: string }
  | { kind: "done"; next: number; counts: Counts };

const send = (message: Message): void => void process.send?.(message);

async function work({ root, seed, from, to, models, memory }: Task): Promise<void> {
  const targets = await (models ? makeModelTargets(root) : makeTargets(root));
  const counts: Counts = {};
  let index = from;
  for (; index < to; index++) {
    const input = makeInput(targets, seed, index);
    const target = input.target.name;
    send({ kind: "at", index, target });
    counts[target] ??= { records: 0, refused: 0, faults: 0, slowest: 0 };
    const count = counts[target];
    const started = performance.now();
    const verdict = await tryInput(input);
    count.slowest = Math.max(count.slowest, performance.now() - started);
    const fault = (text: string): void => {
      count.faults++;
      send({ kind: "fault", index, target, fault: text });
    };
    if ("fault" in verdict) fault(verdict.fault);
    else if ("refused" in verdict) count.refused++;
    else count.records++;
    if (process.resourceUsage().maxRSS * 1024 > memory) {
      fault(`took more than ${memory / 2 ** 20} MiB`);
      index++;
      break;
    }
  }
  send({ kind: "done", next: index, counts });
}

process.once("message", (task: Task) => void work(task).then(() => process.disconnect()));
