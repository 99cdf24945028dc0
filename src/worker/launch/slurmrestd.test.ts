/** Slurm by its REST API, in the versions that its releases speak. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FakeSlurmRest, fakeToken, startFakeSlurmRest } from "../../../test/support/fake-slurmrestd.ts";
import { CONTRACT, type Place, TestRun } from "../../../test/support/launch-contract.ts";
import { at, inLaunchFolders, START, setFake } from "../../../test/support/launch-places.ts";
import { thisMachine } from "./shell.ts";
import { slurmRestLauncher } from "./slurmrestd.ts";
import { minutesOf } from "./slurmrestd-job.ts";
import { sshShell } from "./ssh.ts";

inLaunchFolders();

const slurm = (name: string, there = true) => setFake("slurm", name, there);

describe.each(["v0.0.38", "v0.0.42"])("slurmrestd with the API %s", (version) => {
  let server: FakeSlurmRest;
  const resources = { gpus: 1, partition: "gpu", time: "1-0", sbatch: ["--mem=64G", "--qos=high"] };
  const place = (more: object = {}): Place => ({
    launcher: slurmRestLauncher(sshShell({ host: "box" }), { ...resources, ...more, slurmrestd: server.url }),
    root: at(),
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
  const run = new TestRun(
    { launcher: slurmRestLauncher(thisMachine, { slurmrestd: server.url }), root: at() },
    1,
  );
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
