/** Slurm by its commands: queue, accounting, time limit, and the script that is submitted. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TestRun } from "../../../test/support/launch-contract.ts";
import { at, inLaunchFolders, PLACES, START, setFake } from "../../../test/support/launch-places.ts";
import { batchScript, slurmLauncher } from "./slurm.ts";
import { sshShell } from "./ssh.ts";

inLaunchFolders();

const slurm = (name: string, there = true) => setFake("slurm", name, there);

describe("slurm", () => {
  const place = () => PLACES.slurm();

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
    const run = new TestRun({ launcher: slurmLauncher(sshShell({ host: "box" }), resources), root: at() }, 1);
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
