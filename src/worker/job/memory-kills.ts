/** Whether Linux ended a process for want of memory: its control group counts them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Beside a run's output: where to look, and what stood there when it began. */
const FILE = "memory-kills.json";

/** Notes in a run's folder how often it has happened so far. Where that cannot be told there is no evidence later. */
export function noteMemoryKills(folder: string, root = "/"): void {
  try {
    const group = /^0::(.*)$/m.exec(readFileSync(join(root, "proc/self/cgroup"), "utf8"))?.[1];
    if (group === undefined) return;
    const events = join(root, "sys/fs/cgroup", group, "memory.events");
    // The helper for whole files is not needed: half of it is not JSON, and counts as no evidence.
    writeFileSync(join(folder, FILE), JSON.stringify({ events, kills: killsIn(events) }));
  } catch {
    // No control groups of version 2, or no disk to note it on.
  }
}

/** True when it happened again since `noteMemoryKills`. */
export function wasKilledForMemory(folder: string): boolean {
  try {
    const noted: unknown = JSON.parse(readFileSync(join(folder, FILE), "utf8"));
    if (typeof noted !== "object" || noted === null || !("events" in noted) || !("kills" in noted))
      return false;
    return typeof noted.events === "string" && killsIn(noted.events) > Number(noted.kills);
  } catch {
    return false;
  }
}

function killsIn(events: string): number {
  const line = /^oom_kill (\d+)$/m.exec(readFileSync(events, "utf8"));
  if (line === null) throw new Error(`${events}: expected a line oom_kill`);
  return Number(line[1]);
}
