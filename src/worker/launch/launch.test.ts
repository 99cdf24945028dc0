/** The launchers against the contract, and what each of them meets when something breaks. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FakeSlurmRest, fakeToken, startFakeSlurmRest } from "../../../test/support/fake-slurmrestd.ts";
import { CONTRACT, type Place, TestRun } from "../../../test/support/launch-contract.ts";
import { jobManifest, kubernetesLauncher } from "./kubernetes.ts";
import { processLauncher } from "./process.ts";
import { rayLauncher } from "./ray.ts";
import { quoted, thisMachine } from "./shell.ts";
import { batchScript, slurmLauncher } from "./slurm.ts";
import { slurmRestLauncher } from "./slurmrestd.ts";
import { minutesOf } from "./slurmrestd-job.ts";
import { sshProblem, sshShell } from "./ssh.ts";

const BIN = resolve(import.meta.dirname, "../../../test/support/launch-bin");

const START = { out: 0, err: 0 };

let root: string;
const at = (...path: string[]) => join(root, ...path);
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "gcopd-launch-"));
  for (const name of ["ssh", "slurm", "ray", "kube", "bin"]) mkdirSync(at(name));
  vi.stubEnv("PATH", [at("bin"), BIN, process.env.PATH].join(delimiter));
  vi.stubEnv("FAKE_SSH", at("ssh"));
  vi.stubEnv("FAKE_SLURM", at("slurm"));
  vi.stubEnv("FAKE_RAY", at("ray"));
  vi.stubEnv("FAKE_KUBE", at("kube"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true, maxRetries: 10 });
});

const PLACES: Record<string, () => Place> = {
  "this machine": () => ({ launcher: processLauncher(thisMachine), root }),
  ssh: () => ({ launcher: processLauncher(sshShell({ host: "box" })), root }),
  slurm: () => ({ launcher: slurmLauncher(sshShell({ host: "box" }), { gpus: 1 }), root }),
  ray: () => ({ launcher: rayLauncher(sshShell({ host: "box" }), { gpus: 1 }), root }),
};

describe.each(Object.entries(PLACES))("%s", (_, place) => {
  it.each(CONTRACT)("$name", ({ check }) => check(place()));
});

it("a stop is not lost when it is asked for again while the first is passed on", async () => {
  writeFileSync(at("bin", "mkdir"), '#!/bin/sh\n[ "$1" != told ] || sleep 0.5\nexec /bin/mkdir "$@"\n');
  chmodSync(at("bin", "mkdir"), 0o755);
  const run = new TestRun(PLACES["this machine"]!(), 9);
  await run.submit();
  run.go(2);
  await run.printed('"step":2');
  await run.place.launcher.stop(run);
  await run.place.launcher.stop(run);
  await run.printed('"asked"');
  run.go(3);
  expect(await run.ended()).toMatchObject({ code: 143, asked: "stop" });
}, 60_000);

/** What goes wrong with the next connection; see launch-bin/ssh. */
const fault = (text: string) => writeFileSync(at("ssh", "fault"), `${text}\n`);
const slurm = (name: string, there = true) =>
  there ? writeFileSync(at("slurm", name), "") : rmSync(at("slurm", name));

describe("a connection that fails", () => {
  it.each([
    ["unknown-key", /box: its host key is not known: connect once by hand \(ssh box\)/],
    ["unreachable", /box: it does not answer/],
    ["refused", /box: no ssh server answers there/],
    ["cut-output 20", /box: the connection broke/],
  ])("%s is not the run's failure, and the next answer is right", async (what, why) => {
    const run = new TestRun(PLACES.ssh!(), 1);
    fault(what);
    await expect(run.submit()).rejects.toThrow(why);
    await run.submit();
    await run.printed('"start"');
    fault(what);
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "unreachable",
      reason: expect.stringMatching(why),
    });
    run.go(1);
    expect(await run.ended()).toMatchObject({ state: "ended", code: 0 });
    expect(run.begun()).toHaveLength(1);
  });

  it.each([0, 1, 512, 5_000, 10_240])("after %i bytes of the files leaves no run behind", async (bytes) => {
    const run = new TestRun(PLACES.ssh!(), 1);
    fault(`cut-input ${bytes}`);
    await expect(run.put()).rejects.toThrow("the connection broke");
    expect(existsSync(join(run.folder, "run.json"))).toBe(false);
    run.go(1);
    await run.submit();
    expect(await run.ended()).toMatchObject({ code: 0 });
  });

  it.each(["ssh", "slurm", "ray"])("once %s has submitted doubles nothing", async (name) => {
    const run = new TestRun(PLACES[name]!(), 1);
    fault("at:2:no-answer");
    await expect(run.submit()).rejects.toThrow("the connection broke");
    await run.submit();
    run.go(1);
    expect(await run.ended()).toMatchObject({ code: 0 });
    expect(run.begun()).toHaveLength(1);
  });

  it.each([
    [
      "REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.",
      /is not the one that is known/,
    ],
    ["root@box: Permission denied (publickey).", /without a password/],
    ["ssh: Could not resolve hostname box: Name or service not known", /no host with this name/],
    ["kex_exchange_identification: read: Connection reset by peer", /^kex_exchange/],
  ])("says what to do: %s", (printed, what) => {
    expect(sshProblem(printed, "box")).toMatch(what);
  });
});

/** A program with this name on the PATH that does `work`, then what the real one does. */
function program(name: string, work: string): void {
  const [real] = ["/bin", "/usr/bin"].map((folder) => join(folder, name)).filter(existsSync);
  writeFileSync(at("bin", name), `#!/bin/sh\n${work}\nexec ${real} "$@"\n`);
  chmodSync(at("bin", name), 0o755);
}

describe("the script of a run, killed", () => {
  const local = () => PLACES["this machine"]!();

  it("once it has its claim: lost, and a second submit starts nothing", async () => {
    program("ln", '/bin/ln "$@"; kill -9 $PPID; exit 1');
    const run = new TestRun(local(), 1);
    await run.submit().catch(() => undefined);
    expect(await run.ended()).toMatchObject({ state: "lost", code: null });
    rmSync(at("bin", "ln"));
    await run.submit();
    expect(await run.ended()).toMatchObject({ state: "lost" });
    expect(run.begun()).toEqual([]);
  });

  it("by its command: the run lives, obeys, and is lost at its end", async () => {
    const run = new TestRun(local(), 9, {
      command: `kill -9 $PPID\nexec ${quoted(process.execPath)} ../trainer.mjs 9 0`,
    });
    await run.submit();
    run.go(1);
    expect(await run.printed('"step":1')).toMatchObject({ state: "running" });
    await run.place.launcher.stop(run);
    await run.place.launcher.stop(run);
    expect(await run.printed('"asked"')).toMatchObject({ state: "running", asked: "stop" });
    run.go(2);
    expect(await run.ended()).toMatchObject({ state: "lost", text: expect.stringMatching(/"stopped"}\n$/) });
  });

  it("by its command, which is then cancelled", async () => {
    const run = new TestRun(local(), 9, {
      command: `kill -9 $PPID\nexec ${quoted(process.execPath)} ../trainer.mjs 9 0`,
    });
    await run.submit();
    await run.printed('"start"');
    await run.place.launcher.cancel(run);
    expect(await run.ended()).toMatchObject({ state: "lost", asked: "cancel" });
  });

  it("before it can leave its code: lost", async () => {
    program("mv", '[ "$2" = exit ] && { kill -9 $PPID; exit 1; }');
    const run = new TestRun(local(), 1);
    run.go(1);
    await run.submit();
    expect(await run.ended()).toMatchObject({ state: "lost", text: expect.stringMatching(/"done"}\n$/) });
  });
});

it("a claim that was made although its answer was lost, as over NFS, is the run's own", async () => {
  program("ln", '/bin/ln "$@"; exit 1');
  const run = new TestRun(PLACES["this machine"]!(), 1);
  run.go(1);
  await run.submit();
  expect(await run.ended()).toMatchObject({ state: "ended", code: 0 });
  expect(run.begun()).toHaveLength(1);
});

it("a copy of an attempt beside it is not an attempt", async () => {
  const run = new TestRun(PLACES["this machine"]!(), 1);
  run.go(1);
  await run.submit();
  for (const name of ["attempt-1.bak", "attempt-x", "attempt-12345678901"]) mkdirSync(join(run.folder, name));
  expect(await run.ended()).toMatchObject({ state: "ended", latest: 1 });
});

describe("fetch", () => {
  const fetched = async () => {
    const run = new TestRun(PLACES.ssh!(), 1);
    await run.put();
    mkdirSync(join(run.folder, "out"));
    const fetch = () => run.place.launcher.fetch(run, ["run.json", "out"], at("got"));
    return { out: (name: string) => join(run.folder, "out", name), fetch };
  };

  it("fails when a file changed there and what came was not unpacked here", async () => {
    const { out, fetch } = await fetched();
    // More than the pipes hold: nobody waits for a tar that is gone.
    writeFileSync(out("large"), Buffer.alloc(4 << 20));
    program("tar", 'case $1 in -x*) echo "disk full" >&2; exit 2 ;; esac\n/bin/tar "$@"; exit 1');
    await expect(fetch()).rejects.toThrow("box: the files were not fetched: disk full");
    expect(existsSync(at("got"))).toBe(false);
    rmSync(at("bin", "tar"));
    await fetch();
    expect(readFileSync(at("got", "out", "large"))).toHaveLength(4 << 20);
  });

  it("brings no link, and nothing beside it", async () => {
    const { out, fetch } = await fetched();
    symlinkSync("/etc", out("student"));
    await expect(fetch()).rejects.toThrow(
      "box: out/student in the run's folder is neither a file nor a folder: nothing was fetched",
    );
    expect(readdirSync(root).filter((name) => name.startsWith("got"))).toEqual([]);
  });
});

it("a command that obeys no signal is killed", async () => {
  const run = new TestRun(PLACES["this machine"]!(), 0, {
    command: "trap '' TERM; echo deaf; while :; do sleep 1; done",
  });
  await run.submit();
  await run.printed("deaf");
  await run.place.launcher.cancel(run);
  expect(await run.ended()).toMatchObject({ state: "ended", code: 137, asked: "cancel" });
});

it.each(["stop", "cancel"] as const)("what is asked to %s before it began does not begin", async (what) => {
  const run = new TestRun(PLACES["this machine"]!(), 1);
  await run.place.launcher[what](run);
  await run.submit();
  expect(await run.ended()).toMatchObject({ state: "ended", code: 143, asked: what, text: "" });
  expect(run.begun()).toEqual([]);
});

it("an answer that the script did not give is refused", async () => {
  const run = new TestRun(
    {
      launcher: processLauncher({
        ...thisMachine,
        exec: async () => ({ code: 0, out: Buffer.from("Hello\n"), err: "" }),
      }),
      root,
    },
    1,
  );
  await expect(run.place.launcher.status(run, START)).rejects.toThrow("gave no answer of the run's script");
});

describe("slurm", () => {
  const place = () => PLACES.slurm!();

  it("tells why a job waits and when it may start; a stop takes it out of the queue", async () => {
    slurm("full");
    const run = new TestRun(place(), 1);
    await run.submit();
    await run.submit();
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "queued",
      reason: "Resources",
      expected: "2026-12-01T10:00:00",
    });
    await run.place.launcher.stop(run);
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never", asked: "stop" });
    slurm("full", false);
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never" });
    expect(run.begun()).toEqual([]);
  });

  it("a controller that is silent says nothing of a run, and takes none", async () => {
    const run = new TestRun(place(), 1);
    slurm("down");
    await expect(run.submit()).rejects.toThrow("squeue does not answer: nothing was submitted");
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "unreachable",
      reason: expect.stringContaining("Unable to contact slurm controller"),
    });
    slurm("down", false);
    await run.submit();
    await run.printed('"start"');
    slurm("down");
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "running" });
    await expect(run.place.launcher.stop(run)).rejects.toThrow("a run that has begun was asked");
    await run.printed('"asked"');
    run.go(1);
    expect(await run.ended()).toMatchObject({ state: "ended", code: 143, asked: "stop" });
  });

  it("a run that the controller forgot lives on by its folder, and is not begun again", async () => {
    const run = new TestRun(place(), 1);
    await run.submit();
    await run.printed('"start"');
    rmSync(at("slurm", "jobs"), { recursive: true });
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "running" });
    await run.submit();
    expect(existsSync(at("slurm", "jobs", "1"))).toBe(false);
    run.go(1);
    expect(await run.ended()).toMatchObject({ code: 0 });
    expect(run.begun()).toHaveLength(1);
  });

  it("a job that never came to its script: the accounting says why", async () => {
    slurm("full");
    slurm("accounting");
    const run = new TestRun(place(), 1);
    await run.submit();
    writeFileSync(at("slurm", "jobs", "1", "state"), "NODE_FAIL\n");
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "never",
      reason: "NODE_FAIL",
    });
  });

  it("finds its job by a name that no option changes, among the user's own", async () => {
    slurm("full");
    const resources = { sbatch: ["--job-name=mine"] };
    const run = new TestRun({ launcher: slurmLauncher(sshShell({ host: "box" }), resources), root }, 1);
    mkdirSync(at("slurm", "jobs", "1"), { recursive: true });
    for (const [name, text] of [
      ["name", `gcopd-${run.id}-1`],
      ["user", "another"],
      ["state", "PENDING"],
    ] as const)
      writeFileSync(at("slurm", "jobs", "1", name), `${text}\n`);
    await run.submit();
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "queued" });
    await run.place.launcher.cancel(run);
    const state = (id: string) => readFileSync(at("slurm", "jobs", id, "state"), "utf8");
    expect([state("1"), state("2")]).toEqual(["PENDING\n", "CANCELLED by 0\n"]);
  });

  it("asks for an end after the step before the time limit", async () => {
    const run = new TestRun(place(), 9);
    await run.submit();
    await run.printed('"start"');
    process.kill(run.script(), "SIGUSR1");
    await run.printed('"asked"');
    run.go(1);
    expect(await run.ended()).toMatchObject({ code: 143, text: expect.stringMatching(/"stopped"}\n$/) });
  });

  it("writes a script that can be read, and submitted by hand", async () => {
    const script = batchScript(
      { id: "a", folder: "/scratch/gcopd-runs/a", number: 2 },
      { partition: "gpu", account: "lab", gpus: 4, time: "12:00:00", sbatch: ["--mem=64G"] },
    );
    expect(script).toBe(`#!/bin/sh
#SBATCH --job-name=gcopd-a-2
#SBATCH --comment=gcopd:a
#SBATCH --no-requeue
#SBATCH --open-mode=append
#SBATCH --output=/scratch/gcopd-runs/a/attempt-2/slurm.out
#SBATCH --signal=B:USR1@120
#SBATCH --partition=gpu
#SBATCH --account=lab
#SBATCH --gres=gpu:4
#SBATCH --time=12:00:00
#SBATCH --mem=64G
exec 'sh' '/scratch/gcopd-runs/a/run.sh' 'run' '/scratch/gcopd-runs/a/attempt-2' 'sh' '/scratch/gcopd-runs/a/command.sh'
`);
    const run = new TestRun(place(), 1);
    await run.submit();
    expect(readFileSync(run.path("sbatch.sh"), "utf8")).toBe(batchScript(run, { gpus: 1 }));
    run.go(1);
    await run.ended();
  });
});

describe.each(["v0.0.38", "v0.0.42"])("slurmrestd with the API %s", (version) => {
  let server: FakeSlurmRest;
  const resources = { gpus: 1, partition: "gpu", time: "1-0", sbatch: ["--mem=64G", "--qos=high"] };
  const place = (more: object = {}): Place => ({
    launcher: slurmRestLauncher(sshShell({ host: "box" }), { ...resources, ...more, slurmrestd: server.url }),
    root,
  });
  beforeEach(async () => {
    server = await startFakeSlurmRest(at("slurm"), { version });
    vi.stubEnv("SLURM_JWT", fakeToken("me"));
  });
  afterEach(() => server.close());

  it.each(CONTRACT)("$name", ({ check }) => check(place()));

  it("asks for what the target names, in the words of its version", async () => {
    const run = new TestRun(place(), 1);
    run.go(1);
    await run.submit();
    await run.ended();
    const [{ environment, ...asked } = {}] = server.submitted;
    const own = { PATH: process.env.PATH, HOME: process.env.HOME };
    const common = {
      name: `gcopd-${run.id}-1`,
      comment: `gcopd:${run.id}`,
      current_working_directory: run.path(),
      standard_output: run.path("slurm.out"),
      requeue: false,
      partition: "gpu",
      qos: "high",
    };
    const set = (number: number) => ({ set: true, infinite: false, number });
    if (version === "v0.0.38") {
      expect(environment).toEqual(own);
      expect(asked).toEqual({
        ...common,
        open_mode: "append",
        gres: "gpu:1",
        time_limit: 1440,
        memory_per_node: 65_536,
      });
    } else {
      expect(environment).toEqual([`PATH=${own.PATH}`, `HOME=${own.HOME}`]);
      expect(asked).toEqual({
        ...common,
        open_mode: ["APPEND"],
        tres_per_node: "gres/gpu:1",
        time_limit: set(1440),
        memory_per_node: set(65_536),
        kill_warning_flags: ["BATCH_JOB"],
        kill_warning_signal: "USR1",
        kill_warning_delay: set(120),
      });
    }
  });

  it("tells why a job waits and when it may start; a stop takes it out of the queue", async () => {
    slurm("full");
    const run = new TestRun(place(), 1);
    await run.submit();
    await run.submit();
    expect(server.submitted).toHaveLength(1);
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "queued",
      reason: "Resources",
      expected: "2026-12-01T10:00:00.000Z",
    });
    await run.place.launcher.stop(run);
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never", asked: "stop" });
    slurm("full", false);
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never" });
    expect(run.begun()).toEqual([]);
  });

  it("an answer that was lost doubles nothing", async () => {
    slurm("full");
    const run = new TestRun(place(), 1);
    server.loseAnswer = true;
    await expect(run.submit()).rejects.toThrow("does not answer");
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "queued" });
    await run.submit();
    expect(server.submitted).toHaveLength(1);
  });

  it("an id that Slurm gave to another job names nothing, and another user's job is left alone", async () => {
    slurm("full");
    const run = new TestRun(place(), 1);
    await run.submit();
    writeFileSync(at("slurm", "jobs", "1", "name"), "another\n");
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never" });
    writeFileSync(at("slurm", "jobs", "1", "name"), `gcopd-${run.id}-1\n`);
    writeFileSync(at("slurm", "jobs", "1", "user_name"), "other\n");
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never" });
    await run.place.launcher.cancel(run);
    expect(server.requests.filter((request) => request.startsWith("DELETE"))).toEqual([]);
  });

  it("a server or a controller that is silent says nothing of a run, and takes none", async () => {
    const run = new TestRun(place(), 1);
    slurm("down");
    await expect(run.submit()).rejects.toThrow("Unable to contact slurm controller");
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "unreachable" });
    slurm("down", false);
    await run.submit();
    await run.printed('"start"');
    await server.close();
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "running" });
    await expect(run.place.launcher.stop(run)).rejects.toThrow(
      /a run that has begun was asked.*does not answer/,
    );
    await run.printed('"asked"');
    run.go(1);
    expect(await run.ended()).toMatchObject({ state: "ended", code: 143, asked: "stop" });
  });

  it("refuses with Slurm's reason, and says what to do about a token, which it never shows", async () => {
    const run = new TestRun(place({ gpus: 9 }), 1);
    await expect(run.submit()).rejects.toThrow("Requested node configuration is not available");
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never" });
    for (const [token, what] of [
      ["", /SLURM_JWT is not set/],
      ["two words", /SLURM_JWT is no token/],
      ["e30.e30.e30", /the token of SLURM_JWT is refused/],
      [fakeToken("me", 1_000_000_000), /ran out at 2001-09-09T01:46:40.000Z/],
    ] as const) {
      vi.stubEnv("SLURM_JWT", token);
      const failure: unknown = await run.submit().catch((error: unknown) => error);
      expect(String(failure)).toMatch(what);
      if (token !== "") expect(String(failure)).not.toContain(token);
      expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "unreachable" });
    }
    const kept = readdirSync(run.folder, { recursive: true, encoding: "utf8" });
    expect(kept).not.toHaveLength(0);
    for (const name of readdirSync(run.path()))
      expect(readFileSync(run.path(name), "utf8")).not.toContain(fakeToken("me"));
  });
});

it("an API that is too new or too old is refused with the versions of both", async () => {
  const server = await startFakeSlurmRest(at("slurm"), { version: "v0.0.37" });
  vi.stubEnv("SLURM_JWT", fakeToken("me"));
  const run = new TestRun({ launcher: slurmRestLauncher(thisMachine, { slurmrestd: server.url }), root }, 1);
  await expect(run.submit()).rejects.toThrow(
    `${server.url}: it has the API v0.0.37; gcopd knows v0.0.44, v0.0.43, v0.0.42, v0.0.41, v0.0.40, v0.0.38`,
  );
  await server.close();
});

it.each([
  ["30", 30],
  ["1:30", 2],
  ["12:00:00", 720],
  ["1-0", 1440],
  ["2-1:30", 2970],
  ["1-0:0:1", 1441],
  ["a day", null],
])("a time limit of %s is %s minutes", (time, minutes) => {
  expect(minutesOf(time)).toBe(minutes);
});

describe("kubernetes", () => {
  const cluster = () => ({ image: "lab/gcopd:1", claim: "work", scratch: root, namespace: "lab", gpus: 1 });
  const place = (): Place => ({ launcher: kubernetesLauncher(cluster()), root });
  const kube = (name: string, there = true) =>
    there ? writeFileSync(at("kube", name), "") : rmSync(at("kube", name));
  const object = (name: string) => at("kube", "objects", `${name}.json`);
  const doors = () => readdirSync(at("kube", "objects")).filter((name) => name.startsWith("pod.gcopd-door-"));

  it.each(CONTRACT)("$name", ({ check }) => check(place()), 60_000);

  it.each([
    ["full", "Unschedulable: 0/1 nodes are available: 1 Insufficient nvidia.com/gpu."],
    ["pull", 'ImagePullBackOff: Back-off pulling image "lab/gcopd"'],
    ["quota", expect.stringMatching(/^FailedCreate: Error creating: .* exceeded quota: gpus/)],
  ])("tells why a job waits: %s; a stop takes it out of the queue", async (why, reason) => {
    kube(why);
    const run = new TestRun(place(), 1);
    await run.submit();
    await run.submit();
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "queued", reason });
    await run.place.launcher.stop(run);
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never", asked: "stop" });
    expect(existsSync(object(`job.gcopd-${run.id}-1`))).toBe(false);
    expect(run.begun()).toEqual([]);
  });

  it("a run that has begun keeps its Job, whatever is asked of it", async () => {
    const run = new TestRun(place(), 9);
    await run.submit();
    await run.printed('"start"');
    await run.place.launcher.stop(run);
    await run.printed('"asked"');
    run.go(1);
    expect(await run.ended()).toMatchObject({ code: 143, asked: "stop" });
    expect(existsSync(object(`job.gcopd-${run.id}-1`))).toBe(true);
  });

  it("a cluster that is silent, or that refuses, says nothing of a run", async () => {
    const run = new TestRun(place(), 1);
    await run.submit();
    for (const [flag, what] of [
      ["down", /the cluster does not answer: check the network, the VPN/],
      ["forbidden", /the cluster does not allow it: ask who runs it/],
    ] as const) {
      kube(flag);
      expect(await run.place.launcher.status(run, START)).toMatchObject({
        state: "unreachable",
        reason: expect.stringMatching(what),
      });
      kube(flag, false);
    }
    run.go(1);
    expect(await run.ended()).toMatchObject({ code: 0 });
    expect(run.begun()).toHaveLength(1);
  });

  it("a door that is over is made again, one that does not begin says why", async () => {
    const run = new TestRun(place(), 1);
    await run.put();
    const [door = ""] = doors();
    const path = at("kube", "objects", door);
    const over = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...over, status: { phase: "Failed", reason: "DeadlineExceeded" } }));
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never" });
    expect(doors()).toEqual([door]);
    rmSync(path);
    kube("doorless");
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "unreachable",
      reason: expect.stringMatching(/the door to the claim does not run yet: ImagePullBackOff/),
    });
  });

  it.each([0, 40, 120])("an answer that ends after %i bytes, with exit code 0, is none", async (bytes) => {
    const run = new TestRun(place(), 1);
    run.go(1);
    await run.submit();
    await run.ended();
    writeFileSync(at("kube", "cut"), String(bytes));
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "unreachable",
      reason: expect.stringContaining("the answer broke off"),
    });
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "ended", code: 0 });
  });

  it("the Job runs the run's script once, with what the target asks for", () => {
    const run = { id: "a", folder: "/work/gcopd-runs/a", number: 2 };
    const pod = { nodeSelector: { gpu: "h20" }, volumes: [{ name: "shm", emptyDir: { medium: "Memory" } }] };
    const target = { ...cluster(), scratch: "/work", gpus: 2, resources: { memory: "64Gi" }, pod };
    const asked = { memory: "64Gi", "nvidia.com/gpu": "2" };
    expect(jobManifest(run, target)).toEqual({
      apiVersion: "batch/v1",
      kind: "Job",
      metadata: { name: "gcopd-a-2", labels: { "gcopd/attempt": "gcopd-a-2" } },
      spec: {
        backoffLimit: 0,
        ttlSecondsAfterFinished: 86_400,
        template: {
          metadata: { labels: { "gcopd/attempt": "gcopd-a-2" } },
          spec: {
            nodeSelector: { gpu: "h20" },
            restartPolicy: "Never",
            containers: [
              {
                name: "gcopd",
                image: "lab/gcopd:1",
                command: [
                  ...["sh", "/work/gcopd-runs/a/run.sh", "run", "/work/gcopd-runs/a/attempt-2"],
                  ...["sh", "/work/gcopd-runs/a/command.sh"],
                ],
                resources: { requests: asked, limits: asked },
                volumeMounts: [{ name: "gcopd-scratch", mountPath: "/work" }],
              },
            ],
            volumes: [
              { name: "shm", emptyDir: { medium: "Memory" } },
              { name: "gcopd-scratch", persistentVolumeClaim: { claimName: "work" } },
            ],
          },
        },
      },
    });
  });
});

describe("ray", () => {
  const place = () => PLACES.ray!();
  const ray = (name: string, there = true) =>
    there ? writeFileSync(at("ray", name), "") : rmSync(at("ray", name));

  it("tells why a job waits; after a stop it does not begin when its turn comes", async () => {
    ray("full");
    const run = new TestRun(place(), 1);
    await run.submit();
    await run.submit();
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "queued",
      reason: expect.stringContaining("waiting for resources"),
      expected: null,
    });
    await run.place.launcher.stop(run);
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "queued", asked: "stop" });
    ray("full", false);
    expect(await run.ended()).toMatchObject({ state: "ended", code: 143, asked: "stop" });
    expect(run.begun()).toEqual([]);
  });

  it("a dashboard that is silent says nothing of a run, and takes none", async () => {
    const run = new TestRun(place(), 1);
    ray("down");
    await expect(run.submit()).rejects.toThrow("box: the run was not submitted: ConnectionError: Failed to");
    expect(await run.place.launcher.status(run, START)).toMatchObject({
      state: "unreachable",
      reason: expect.stringContaining("Ray does not answer: ConnectionError: Failed to connect"),
    });
    ray("down", false);
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "never" });
    await run.submit();
    await run.printed('"start"');
    ray("down");
    expect(await run.place.launcher.status(run, START)).toMatchObject({ state: "running" });
    await run.place.launcher.stop(run);
    await run.printed('"asked"');
    run.go(1);
    expect(await run.ended()).toMatchObject({ state: "ended", code: 143, asked: "stop" });
  });

  it("a run that Ray killed is lost, and Ray's reason is told", async () => {
    const run = new TestRun(place(), 1);
    await run.submit();
    await run.printed('"start"');
    const group = Number(readFileSync(at("ray", "jobs", `gcopd-${run.id}-1`, "pid"), "utf8"));
    process.kill(-group, "SIGKILL");
    // It stood on another host, whose beat is waited for.
    writeFileSync(run.path("beat"), "0\n");
    expect(await run.ended()).toMatchObject({
      state: "lost",
      reason: expect.stringContaining("failed with exit code"),
    });
  });
});

it("output that is longer than one answer comes piece by piece, whole", async () => {
  const lines = 60_000;
  const run = new TestRun(PLACES.ssh!(), 0, {
    command: `i=0; while [ $i -lt ${lines} ]; do echo "line $i of the log and of the output"; i=$((i + 1)); done | tee /dev/stderr`,
  });
  await run.submit();
  await run.ended();
  const file = readFileSync(run.path("stdout.jsonl"));
  let [out, err, answers] = [0, 0, 0];
  for (const read: Uint8Array[] = []; ; answers += 1) {
    const { output, log } = await run.place.launcher.status(run, { out, err });
    read.push(output.bytes);
    [out, err] = [out + output.bytes.length, err + log.bytes.length];
    if (out < output.size || err < log.size) continue;
    expect(Buffer.concat(read).equals(file)).toBe(true);
    expect(err).toBe(file.length);
    break;
  }
  expect(answers).toBe(Math.floor(file.length / 2 ** 20));
});
