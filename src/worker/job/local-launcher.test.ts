/** Processes of this machine under faults: none runs twice, none is taken for ended while it lives, no end is made up. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FAULTED } from "../../../test/support/faulted-modules.ts";
import { FileFaults, QUICK } from "../../../test/support/file-faults.ts";
import { passingFault } from "../../node/file-error.ts";
import { PACKAGE } from "../../node/package-root.ts";
import type { JobProcess, ProcessSpec } from "./launcher.ts";
import { LocalLauncher } from "./local-launcher.ts";
import { noteMemoryKills, wasKilledForMemory } from "./memory-kills.ts";

let files: FileFaults;
let folder: string;
let spec: ProcessSpec;
let launcher: LocalLauncher;
const runs: JobProcess[] = [];
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  files = await FileFaults.install();
});
afterAll(() => files.restore());
beforeEach(fresh);
afterEach(async () => {
  files.disarm();
  for (const run of runs.splice(0)) {
    run.stop();
    await run.ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

function fresh(): void {
  folder = mkdtempSync(join(QUICK, "gcopd-launcher-"));
  mkdirSync(at("attempt-1"));
  writeFileSync(at("hold"), "");
  writeFileSync(
    at("cli.mjs"),
    `import { appendFileSync, existsSync } from "node:fs";
     appendFileSync(${JSON.stringify(at("runs"))}, process.pid + "\\n");
     while (existsSync(${JSON.stringify(at("hold"))})) await new Promise((go) => setTimeout(go, 5));
     process.exitCode = 3;`,
  );
  spec = { job: "a", attempt: 1, args: [], folder: at("attempt-1") };
  launcher = new LocalLauncher({ cli: at("cli.mjs"), graceMs: 400, pollMs: 5 });
}

/** Asks again after faults that pass, as the queue does. */
async function again<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (passingFault(error) === null) throw error;
    }
  }
}

async function begun(): Promise<number> {
  for (;;) {
    const lines = files.aside(() =>
      readdirSync(folder).includes("runs") ? readFileSync(at("runs"), "utf8") : "",
    );
    const pid = /^(\d+)\n$/.exec(lines)?.[1];
    if (pid !== undefined) return Number(pid);
    await sleep(5);
  }
}

const descriptors = () => readdirSync("/proc/self/fd").length;

/** A run from its launch to its end, found by two later workers: while it lives, and when it is gone. */
async function scenario(): Promise<void> {
  const run = await again(() => launcher.launch(spec));
  runs.push(run);
  const pid = await begun();
  const next = new LocalLauncher({ pollMs: 5 });
  const found = await again(() => next.recover(spec));
  expect(found).toMatchObject({ kind: "running", run: { name: `process ${pid}` } });
  files.aside(() => rmSync(at("hold")));
  expect(await run.ended).toEqual({ kind: "exit", code: 3 });
  if (found.kind === "running") expect(await found.run.ended).toEqual({ kind: "exit", code: 3 });
  const gone = await again(() => new LocalLauncher().recover(spec));
  expect(gone).toEqual({ kind: "ended", end: { kind: "exit", code: 3 } });
  expect(files.aside(() => readFileSync(at("runs"), "utf8"))).toBe(`${pid}\n`);
}

/** An attempt that never began: a later worker withdraws it, whatever the disk does, and it never begins. */
async function withdrawal(): Promise<void> {
  const never = { ...spec, folder: at("attempt-2") };
  expect(await again(() => launcher.recover(never))).toEqual({ kind: "never" });
  expect(await again(() => new LocalLauncher().recover(never))).toEqual({ kind: "never" });
  files.disarm();
  const late = await launcher.launch(never);
  expect(await late.ended).toEqual({ kind: "exit", code: 1 });
  expect(readdirSync(folder)).not.toContain("runs");
}

describe.each([
  ["a run", scenario],
  ["a withdrawal", withdrawal],
] as const)("%s", (_, work) => {
  it.each(["short", "EIO", "ENOSPC", "EMFILE"] as const)(
    "every file operation once with %s",
    async (fault) => {
      const begin = () => {
        rmSync(folder, { recursive: true, force: true });
        fresh();
        return folder;
      };
      await files.each(fault, begin, work);
    },
    600_000,
  );
});

it.runIf(process.platform === "linux").each(["EIO", "EMFILE"] as const)(
  "a living process that cannot be seen for %s is not taken for ended",
  async (fault) => {
    runs.push(await launcher.launch(spec));
    const pid = await begun();
    for (const index of [0, 1, 2]) {
      files.arm(`/proc/${pid}`, index, fault);
      const next = new LocalLauncher({ pollMs: 5 });
      const found = await again(() => next.recover(spec));
      expect(found.kind).toBe("running");
      let over = false;
      if (found.kind === "running") void found.run.ended.then(() => (over = true));
      while (files.injected === null) await sleep(5);
      for (const seen = files.operations.length; files.operations.length < seen + 3; ) await sleep(5);
      expect(over).toBe(false);
    }
    files.disarm();
    rmSync(at("hold"));
  },
);

it("a run that has begun and not yet said so is waited for", async () => {
  // It stands still between making the file and writing it, as a busy machine may let it.
  writeFileSync(at("still"), "");
  writeFileSync(
    at("slow.mjs"),
    `import fs from "node:fs";
     import { syncBuiltinESMExports } from "node:module";
     const { writeFileSync } = fs;
     const nap = new Int32Array(new SharedArrayBuffer(4));
     fs.writeFileSync = (...args) => {
       while (fs.existsSync(${JSON.stringify(at("still"))})) Atomics.wait(nap, 0, 0, 5);
       writeFileSync(...args);
     };
     syncBuiltinESMExports();`,
  );
  vi.stubEnv("NODE_OPTIONS", `--import=${at("slow.mjs")}`);
  const launched = launcher.launch(spec);
  vi.unstubAllEnvs();
  while (!readdirSync(spec.folder).includes("pid")) await sleep(5);
  // Where the processes cannot be seen, none of them is taken for ended.
  for (const fault of ["EIO", "EMFILE"] as const) {
    files.arm("/proc", 0, fault);
    await expect(launcher.recover(spec)).rejects.toThrow(fault);
  }
  files.arm(spec.folder);
  let over = false;
  const recovered = launcher.recover(spec).finally(() => {
    over = true;
  });
  while (!over && files.operations.length < 100) await sleep(5);
  expect(over).toBe(false);
  files.disarm();
  rmSync(at("still"));
  runs.push(await launched);
  expect(await recovered).toMatchObject({ kind: "running", run: { name: `process ${await begun()}` } });
  rmSync(at("hold"));
});

describe("a run that meets a fault before it has begun", () => {
  /** Preloaded: lets a function of the file system fail where it is to make or to write `pid`. */
  function failing(name: string, code: string): string {
    const file = at("failing.mjs");
    writeFileSync(
      file,
      `import fs from "node:fs";
       import { syncBuiltinESMExports } from "node:module";
       let pid = null;
       const { openSync } = fs;
       fs.openSync = (...args) => {
         const file = openSync(...args);
         if (String(args[0]).endsWith("pid")) pid = file;
         return file;
       };
       const replaced = fs.${name};
       fs.${name} = (...args) => {
         if (args[0] !== pid && !String(args[0]).endsWith("pid")) return replaced(...args);
         throw Object.assign(new Error("${code}: injected, ${name}"), { code: "${code}", syscall: "${name}" });
       };
       syncBuiltinESMExports();`,
    );
    return file;
  }
  afterEach(() => vi.unstubAllEnvs());

  it.each(
    ["openSync", "writeFileSync", "closeSync"].flatMap((name) =>
      ["ENOSPC", "EMFILE", "EIO"].map((code) => [name, code] as const),
    ),
  )("%s with %s: is told, and the same attempt is launched again", async (name, code) => {
    vi.stubEnv("NODE_OPTIONS", `--import=${failing(name, code)}`);
    const fault: unknown = await launcher.launch(spec).catch((error: unknown) => error);
    expect(passingFault(fault)).toContain(code);
    expect(readFileSync(join(spec.folder, "stderr.log"), "utf8")).toBe("");
    expect(readdirSync(spec.folder)).not.toContain("pid");
    vi.unstubAllEnvs();
    rmSync(at("hold"));
    const run = await launcher.launch(spec);
    expect(await run.ended).toEqual({ kind: "exit", code: 3 });
    expect(readFileSync(at("runs"), "utf8")).toBe(`${await begun()}\n`);
  });

  it("and another try will not help is not taken for one that passes", async () => {
    vi.stubEnv("NODE_OPTIONS", `--import=${failing("openSync", "EACCES")}`);
    const fault: unknown = await launcher.launch(spec).catch((error: unknown) => error);
    expect(fault).toMatchObject({ message: "EACCES: injected, openSync" });
    expect(passingFault(fault)).toBeNull();
  });

  it("ends with one line and a code of its own where no launcher listens", () => {
    const preload = pathToFileURL(join(PACKAGE.root, "bin/record-run.mjs"));
    preload.searchParams.set("folder", spec.folder);
    const imports = [failing("writeFileSync", "ENOSPC"), preload.href].flatMap((file) => ["--import", file]);
    const { status, stderr } = spawnSync(process.execPath, [...imports, at("cli.mjs")], { encoding: "utf8" });
    expect([status, stderr]).toEqual([
      75,
      "gcopd: this run could not begin (ENOSPC: injected, writeFileSync)\n",
    ]);
  });
});

it("an attempt whose withdrawal was cut short never begins", async () => {
  writeFileSync(join(spec.folder, "pid"), "");
  expect(await launcher.recover(spec)).toEqual({ kind: "never" });
});

it.runIf(process.platform === "linux")("leaves no file open where a launch fails", async () => {
  files.arm(folder);
  await launcher.launch(spec).then((run) => runs.push(run));
  const opens = files.operations.flatMap(({ name }, index) => (name === "openSync" ? [index] : []));
  expect(opens.length).toBeGreaterThan(1);
  files.disarm();
  const before = descriptors();
  for (const index of opens) {
    files.arm(folder, index, "EMFILE");
    await expect(launcher.launch({ ...spec, folder: at(`attempt-${index}-x`) })).rejects.toThrow("EMFILE");
    files.disarm();
  }
  expect(descriptors()).toBe(before);
  rmSync(at("hold"));
});

describe("the kernel's word on memory", () => {
  const events = (kills: number) =>
    writeFileSync(
      at("sys/fs/cgroup/user.slice/memory.events"),
      `low 0\noom 9\noom_kill ${kills}\noom_group_kill 0\n`,
    );

  const groups = (kills: number) => {
    mkdirSync(at("proc/self"), { recursive: true });
    mkdirSync(at("sys/fs/cgroup/user.slice"), { recursive: true });
    writeFileSync(at("proc/self/cgroup"), "0::/user.slice\n");
    events(kills);
  };

  it("tells a kill for want of memory from any other", () => {
    groups(2);
    noteMemoryKills(spec.folder, folder);
    expect(wasKilledForMemory(spec.folder)).toBe(false);
    events(3);
    expect(wasKilledForMemory(spec.folder)).toBe(true);
  });

  it("is not evidence where there are no such groups, or nothing was noted", () => {
    noteMemoryKills(spec.folder, folder);
    expect(wasKilledForMemory(spec.folder)).toBe(false);
    writeFileSync(join(spec.folder, "memory-kills.json"), "{");
    expect(wasKilledForMemory(spec.folder)).toBe(false);
  });

  it.each(["short", "EIO", "ENOSPC", "EMFILE"] as const)(
    "is never made up, through every %s",
    async (fault) => {
      const begin = () => {
        rmSync(folder, { recursive: true, force: true });
        fresh();
        groups(2);
        return folder;
      };
      await files.each(fault, begin, () => {
        noteMemoryKills(spec.folder, folder);
        expect(wasKilledForMemory(spec.folder)).toBe(false);
        files.aside(() => events(3));
        const told = wasKilledForMemory(spec.folder);
        if (files.injected === null) expect(told).toBe(true);
      });
    },
  );

  it("goes with the end of a run that was killed, and with no other", async () => {
    mkdirSync(at("sys/fs/cgroup/user.slice"), { recursive: true });
    events(1);
    const note = JSON.stringify({ events: at("sys/fs/cgroup/user.slice/memory.events"), kills: 0 });
    const run = await launcher.launch(spec);
    const pid = await begun();
    writeFileSync(join(spec.folder, "memory-kills.json"), note);
    process.kill(pid, "SIGKILL");
    expect(await run.ended).toEqual({ kind: "signal", signal: "SIGKILL", memory: true });
    // No worker saw it.
    expect(await launcher.recover(spec)).toEqual({ kind: "ended", end: { kind: "unknown", memory: true } });
    writeFileSync(join(spec.folder, "exit"), '{"code":0}');
    expect(await launcher.recover(spec)).toEqual({ kind: "ended", end: { kind: "exit", code: 0 } });
  });
});

it("every call of the file system in these modules went wrong", () => {
  expect(files.unreached(FAULTED["src/worker/job/local-launcher.test.ts"])).toEqual([]);
});
