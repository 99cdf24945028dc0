/** Ray Jobs: its queue, a dashboard that is silent, and runs that Ray ends. */
import { readFileSync, utimesSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TestRun } from "../../../test/support/launch-contract.ts";
import { at, inLaunchFolders, PLACES, START, setFake } from "../../../test/support/launch-places.ts";

inLaunchFolders();

describe("ray", () => {
  const place = () => PLACES.ray();
  const ray = (name: string, there = true) => setFake("ray", name, there);

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
    utimesSync(run.path("beat"), 0, 0);
    expect(await run.ended()).toMatchObject({
      state: "lost",
      reason: expect.stringContaining("failed with exit code"),
    });
  });
});
