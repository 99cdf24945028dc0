/** The launchers against the contract, and what any of them meets when something breaks. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CONTRACT, TestRun } from "../../../test/support/launch-contract.ts";
import { at, inLaunchFolders, PLACES, START } from "../../../test/support/launch-places.ts";
import { processLauncher } from "./process.ts";
import { quoted, type Shell, script, thisMachine, Unreachable } from "./shell.ts";
import { sshProblem } from "./ssh.ts";

inLaunchFolders();

describe.each(Object.entries(PLACES))("%s", (_, place) => {
  it.each(CONTRACT)("$name", ({ check }) => check(place()));
});

/** What goes wrong with the next connection; see launch-bin/ssh. */
const fault = (text: string) => writeFileSync(at("ssh", "fault"), `${text}\n`);

describe("a connection that fails", () => {
  it.each([
    ["unknown-key", /box: its host key is not known: connect once by hand \(ssh box\)/],
    ["unreachable", /box: it does not answer/],
    ["refused", /box: no ssh server answers there/],
    ["cut-output 20", /box: the connection broke/],
  ])("%s is not the run's failure, and the next answer is right", async (what, why) => {
    const run = new TestRun(PLACES.ssh(), 1);
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
    const run = new TestRun(PLACES.ssh(), 1);
    fault(`cut-input ${bytes}`);
    await expect(run.put()).rejects.toThrow("the connection broke");
    expect(existsSync(join(run.folder, "run.json"))).toBe(false);
    run.go(1);
    await run.submit();
    expect(await run.ended()).toMatchObject({ code: 0 });
  });

  it.each(["ssh", "slurm", "ray"] as const)("once %s has submitted doubles nothing", async (name) => {
    const run = new TestRun(PLACES[name](), 1);
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

it("a stop is not lost when it is asked for again while the first is passed on", async () => {
  program("mkdir", '[ "$1" != told ] || sleep 0.5');
  const run = new TestRun(PLACES["this machine"](), 9);
  await run.submit();
  run.go(2);
  await run.printed('"step":2');
  await run.place.launcher.stop(run);
  await run.place.launcher.stop(run);
  await run.printed('"asked"');
  run.go(3);
  expect(await run.ended()).toMatchObject({ code: 143, asked: "stop" });
});

describe("the script of a run, killed", () => {
  const local = () => PLACES["this machine"]();

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
  const run = new TestRun(PLACES["this machine"](), 1);
  run.go(1);
  await run.submit();
  expect(await run.ended()).toMatchObject({ state: "ended", code: 0 });
  expect(run.begun()).toHaveLength(1);
});

it("a run on another host, whose clock is an hour off, lives as long as it beats", async () => {
  const run = new TestRun(PLACES["this machine"](), 1);
  await run.put();
  mkdirSync(run.path());
  const state = async () => (await run.place.launcher.status(run, START)).state;
  const now = Date.now() / 1000;
  const elsewhere = (name: "claim" | "beat", clock: number, ago: number) => {
    const [time, file] = [Math.round(clock), run.path(name)];
    writeFileSync(file, name === "beat" ? `${time}\n` : `1 2 other-host ${time} -\n`);
    utimesSync(file, now - ago, now - ago);
  };
  elsewhere("claim", now - 3600, 0);
  expect(await state()).toBe("running");
  elsewhere("beat", now - 3600, 20);
  expect(await state()).toBe("running");
  elsewhere("beat", now + 3600, 90);
  expect(await state()).toBe("lost");
  expect(readdirSync(run.path()).sort()).toEqual(["beat", "claim"]);
  // No file can be written, or the time of one not be read: the clocks count.
  program("hostname", "echo no/such");
  expect(await state()).toBe("running");
  program("date", '[ "$1" = -r ] && exit 1; exec /bin/date "$@"');
  expect(await state()).toBe("running");
});

it("what is there and cannot be read is not told as a run that never began", async () => {
  const run = new TestRun(PLACES["this machine"](), 1);
  await run.put();
  const state = async () => (await run.place.launcher.status(run, START)).state;
  expect(await state()).toBe("never");
  symlinkSync("attempt-1", run.path());
  await expect(state()).rejects.toThrow(
    /the run's folder was not read: .*[Tt]oo many levels of symbolic links/,
  );
  rmSync(run.path());
  mkdirSync(run.path("claim"), { recursive: true });
  await expect(state()).rejects.toThrow(/the run's folder was not read: .*claim: Is a directory/);
});

it("a copy of an attempt beside it is not an attempt", async () => {
  const run = new TestRun(PLACES["this machine"](), 1);
  run.go(1);
  await run.submit();
  for (const name of ["attempt-1.bak", "attempt-x", "attempt-12345678901"]) mkdirSync(join(run.folder, name));
  expect(await run.ended()).toMatchObject({ state: "ended", latest: 1 });
});

describe("fetch", () => {
  const fetched = async () => {
    const run = new TestRun(PLACES.ssh(), 1);
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
    expect(readdirSync(at()).filter((name) => name.startsWith("got"))).toEqual([]);
  });
});

it("a command that obeys no signal is killed", async () => {
  const run = new TestRun(PLACES["this machine"](), 0, {
    command: "trap '' TERM; echo deaf; while :; do sleep 1; done",
  });
  await run.submit();
  await run.printed("deaf");
  await run.place.launcher.cancel(run);
  expect(await run.ended()).toMatchObject({ state: "ended", code: 137, asked: "cancel" });
});

it.each(["stop", "cancel"] as const)("what is asked to %s before it began does not begin", async (what) => {
  const run = new TestRun(PLACES["this machine"](), 1);
  await run.place.launcher[what](run);
  await run.submit();
  expect(await run.ended()).toMatchObject({ state: "ended", code: 143, asked: what, text: "" });
  expect(run.begun()).toEqual([]);
});

it("a script that hangs is given up, even if something it started keeps its pipes open", async () => {
  const limits: unknown[] = [];
  const shell: Shell = {
    place: "host",
    exec(args, streams) {
      limits.push(streams?.limit);
      return thisMachine.exec(args, { ...streams, limit: { ms: 200, place: "host" } });
    },
  };
  const asked = script(shell, "sleep 30 & wait");
  await expect(asked).rejects.toThrow("host: no answer within");
  await expect(asked).rejects.toBeInstanceOf(Unreachable);
  expect(limits).toEqual([{ ms: 300_000, place: "host" }]);
  expect(await thisMachine.exec(["echo", "soon"], { limit: { ms: 60_000, place: "" } })).toMatchObject({
    code: 0,
  });
});

it("an answer that the script did not give is refused", async () => {
  const run = new TestRun(
    {
      launcher: processLauncher({
        ...thisMachine,
        exec: async () => ({ code: 0, out: Buffer.from("Hello\n"), err: "" }),
      }),
      root: at(),
    },
    1,
  );
  await expect(run.place.launcher.status(run, START)).rejects.toThrow("gave no answer from the run's script");
});

it("output that is longer than one answer comes piece by piece, whole", async () => {
  const lines = 60_000;
  const run = new TestRun(PLACES.ssh(), 0, {
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
