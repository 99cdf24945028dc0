/** The life of jobs over HTTP, with real processes that stand for the command line. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Pending, until } from "../../../test/support/fake.ts";
import { FAKE_CLI, Harness, states } from "../testing/harness.ts";
import { JobFolders } from "./job-folders.ts";
import { LocalLauncher } from "./local-launcher.ts";

let harness: Harness;
beforeEach(async () => {
  harness = new Harness();
  await harness.start();
});
afterEach(() => harness.remove());

const runs = (id: string) =>
  readFileSync(join(harness.dataDir, "jobs", id, "out", "runs"), "utf8")
    .trimEnd()
    .split("\n");

describe("a job", () => {
  it("is queued, starts, runs and is done; its output becomes events with increasing ids", async () => {
    const { path } = harness.config({ steps: 3 });
    const submitted = await harness.train(path);
    expect(["queued", "starting", "running"]).toContain(submitted.state);

    const events = await harness.events(submitted.id);
    expect(states(events)).toEqual(["queued", "starting", "running", "done"]);
    const ids = events.map((event) => event.id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    const progress = events.filter((event) => event.event === "progress").map((event) => event.data);
    expect(progress.map(({ event, step, steps, attempt }) => ({ event, step, steps, attempt }))).toEqual(
      [1, 2, 3].map((step) => ({ event: "step", step, steps: 3, attempt: 1 })),
    );
    const output = events.filter((event) => event.event === "output").map((event) => event.data.text);
    expect(output).toEqual(["starting at 0", "the end, without a newline"]);

    const job = await harness.job(submitted.id);
    expect(job).toMatchObject({ state: "done", attempt: 1, exit_code: 0, last_event: ids.at(-1) });
    expect(job.progress).toMatchObject({ step: 3 });
    expect(runs(job.id)).toHaveLength(1);
    expect(runs(job.id)[0]).toMatch(
      / train --config .*\/config\.json --out .*\/out --device auto --progress json$/,
    );
  });

  it("gives what its command printed whole, also where it has the stream's own keys", async () => {
    const fault = { type: "fault", step: 1, fault: "lost", message: "gone", attempt: 2, attempts: 3 };
    const own = { type: "own", at: "noon", printed: [1] };
    const { path } = harness.config({ steps: 1, prints: [fault, own] });
    const { id } = await harness.train(path);
    const events = await harness.events(id);
    const progress = events.filter((event) => event.event === "progress").map((event) => event.data);
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(progress).toEqual([
      // The job's attempt stands where it always did.
      { ...fault, attempt: 1, at, printed: fault },
      { ...own, attempt: 1, at, printed: own },
      { event: "step", step: 1, steps: 1, attempt: 1, at },
    ]);
  });

  it("fails with the command's own last line, and resumes from its checkpoint", async () => {
    const { path } = harness.config({ steps: 4, failAt: 2 });
    const { id } = await harness.train(path);
    const failed = await harness.until(id, "failed");
    expect(failed.message).toBe("gcopd: config.json, lr: expected a number (exit code 1)");
    expect(failed.exit_code).toBe(1);
    expect(await (await harness.fetch(`/api/jobs/${id}/log`)).text()).toContain("lr: expected a number");
    const other = await harness.fetch(`/api/jobs/${id}/log?attempt=2`);
    expect([other.status, await other.json()]).toEqual([
      400,
      { error: `GET /api/jobs/${id}/log, attempt: expected at most 1, the number of attempts` },
    ]);
    const late = await harness.post(`/api/jobs/${id}/cancel`);
    expect([late.status, await late.json()]).toEqual([409, { error: `job ${id}: it has already failed` }]);

    const resumed = await harness.post(`/api/jobs/${id}/resume`);
    expect(resumed.status).toBe(202);
    const events = await harness.events(id, failed.last_event);
    expect(states(events)).toEqual(["queued", "starting", "running", "done"]);
    expect(events.find((event) => event.event === "output")?.data).toMatchObject({
      text: "starting at 2",
      attempt: 2,
    });
    expect(await harness.job(id)).toMatchObject({ state: "done", attempt: 2, exit_code: 0, message: null });
  });

  it("that fails after it was asked to stop has failed, and says why", async () => {
    const { path, hold } = harness.config({ steps: 4, holdAt: 1, failAt: 2, ignoreTerm: true });
    const { id } = await harness.train(path);
    await harness.untilJob(id, (job) => job.progress?.step === 1);
    await harness.post(`/api/jobs/${id}/stop`);
    await harness.events(id, undefined, ({ data }) => data.text === "asked to stop");
    rmSync(hold);
    expect(await harness.until(id, "failed")).toMatchObject({
      ...{ exit_code: 1, message: "gcopd: config.json, lr: expected a number (exit code 1)" },
    });
  });

  it("is neither resumed nor deleted again while it is being deleted", async () => {
    const { id } = await harness.train(harness.config({ steps: 4, failAt: 2 }).path);
    await harness.until(id, "failed");
    const aside = new Pending();
    const remove = vi.spyOn(JobFolders.prototype, "remove").mockImplementationOnce(async (_, unlist) => {
      await aside.promise;
      unlist();
    });
    const ask = async (): Promise<Response> => harness.fetch(`/api/jobs/${id}`, { method: "DELETE" });
    const deleting = ask();
    await until(() => expect(remove).toHaveBeenCalledOnce());
    for (const answer of [await harness.post(`/api/jobs/${id}/resume`), await ask()])
      expect([answer.status, await answer.json()]).toEqual([
        409,
        { error: `job ${id}: it is being deleted` },
      ]);
    aside.resolve();
    expect((await deleting).status).toBe(204);
    expect((await harness.post(`/api/jobs/${id}/resume`)).status).toBe(404);
    remove.mockRestore();
  });

  it("whose process is killed from outside is lost, as it is when no worker sees it, and goes on by itself", async () => {
    const { path } = harness.config({ steps: 4, crashAt: 1 });
    const { id } = await harness.train(path);
    const events = await harness.events(id);
    expect(states(events)).toEqual([
      ...["queued", "starting", "running", "lost"],
      ...["queued", "starting", "running", "done"],
    ]);
    const lost = events.find((event) => event.data.state === "lost");
    expect(lost?.data.message).toBe("it was killed, perhaps for memory (ended by SIGKILL)");
  });

  it("is resumed with a lower memory limit, which its command and its request have", async () => {
    const { path } = harness.config({ steps: 2, failAt: 1 });
    const { id } = await harness.train(path, { memory_limit_gib: 8 });
    await harness.until(id, "failed");
    const refused = await harness.post(`/api/jobs/${id}/resume`, { memory_limit_gib: 0 });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { error: `POST /api/jobs/${id}/resume, memory_limit_gib: expected a positive number of GiB` },
    ]);
    expect((await harness.post(`/api/jobs/${id}/resume`, { memory_limit_gib: 2.5 })).status).toBe(202);
    expect(await harness.until(id, "done")).toMatchObject({ request: { memory_limit_gib: 2.5 } });
    expect(runs(id).map((line) => /--memory-limit \S+/.exec(line)?.[0])).toEqual([
      "--memory-limit 8",
      "--memory-limit 2.5",
    ]);
  });

  it("that its budget ended is neither failed nor done, and goes on with more hours", async () => {
    const { path } = harness.config({ steps: 2, budgetAt: 1 });
    const { id } = await harness.train(path);
    expect(await harness.until(id, "cancelled")).toMatchObject({
      message: "ended by its budget after step 1 of 2",
      exit_code: 3,
    });
    expect((await harness.post(`/api/jobs/${id}/resume`, { hours: 12 })).status).toBe(202);
    expect(await harness.until(id, "done")).toMatchObject({ request: { hours: 12 } });
    expect(runs(id).map((line) => /--hours \S+/.exec(line)?.[0])).toEqual([undefined, "--hours 12"]);
  });

  it("that is interrupted from outside is lost, and goes on by itself", async () => {
    const { path, hold } = harness.config({ steps: 4, holdAt: 2 });
    const { id } = await harness.train(path);
    const { run } = await harness.untilJob(id, (job) => job.progress?.step === 2);
    process.kill(Number(run!.split(" ")[1]), "SIGTERM");
    harness.release(hold);
    const events = await harness.events(id);
    expect(states(events)).toEqual([
      ...["queued", "starting", "running", "lost"],
      ...["queued", "starting", "running", "done"],
    ]);
    const lost = events.find((event) => event.data.state === "lost");
    expect(lost?.data.message).toBe("it was interrupted from outside (ended by SIGTERM)");
  });

  it("that is interrupted again and again without progress waits for a person", async () => {
    const { path } = harness.config({ steps: 1, interrupted: true });
    const { id } = await harness.train(path);
    const lost = await harness.untilJob(id, (job) => job.message?.includes("resume it by hand") ?? false);
    expect(lost).toMatchObject({
      state: "lost",
      attempt: 4,
      message: "lost 4 times without progress: resume it by hand",
    });
    expect(runs(id)).toHaveLength(4);
    expect(await (await harness.post(`/api/jobs/${id}/resume`)).json()).toMatchObject({ attempt: 5 });
  });

  it("is cancelled: asked, then confirmed", async () => {
    const { path } = harness.config({ steps: 5, holdAt: 2 });
    const { id } = await harness.train(path);
    await harness.untilJob(id, (job) => job.progress?.step === 2);
    const asked = await harness.post(`/api/jobs/${id}/cancel`);
    expect(asked.status).toBe(202);
    expect(await asked.json()).toMatchObject({ state: "cancelling" });
    const cancelled = await harness.until(id, "cancelled");
    expect(cancelled.ended_at).not.toBeNull();
    expect(states(await harness.events(id))).toEqual([
      "queued",
      "starting",
      "running",
      "cancelling",
      "cancelled",
    ]);

    const again = await harness.post(`/api/jobs/${id}/cancel`);
    expect(again.status).toBe(409);
    expect(await again.json()).toEqual({ error: `job ${id}: it is already cancelled` });
  });

  it("that does not listen is ended after the time of grace", async () => {
    const graceMs = 3_600_000;
    const graces: (() => void)[] = [];
    const { setTimeout: timeout } = globalThis;
    // A time of grace is over when the test says so: not before the process has heard the signal, however slow it is.
    const timer = vi.spyOn(globalThis, "setTimeout").mockImplementation(((
      run: () => void,
      ms?: number,
      ...rest: unknown[]
    ) => {
      if (ms !== graceMs) return timeout(run, ms, ...rest);
      graces.push(run);
      return undefined;
    }) as typeof setTimeout);
    try {
      await harness.stop();
      await harness.start({ launcher: new LocalLauncher({ cli: FAKE_CLI, graceMs }) });
      const { path } = harness.config({ steps: 5, holdAt: 1, ignoreTerm: true });
      const { id } = await harness.train(path);
      await harness.untilJob(id, (job) => job.progress?.step === 1);
      await harness.post(`/api/jobs/${id}/cancel`);
      for (const times of [1, 2]) {
        let heard = 0;
        await harness.events(id, undefined, ({ data }) => data.text === "asked to stop" && ++heard === times);
        expect((await harness.job(id)).state).toBe("cancelling");
        const early = await harness.fetch(`/api/jobs/${id}`, { method: "DELETE" });
        expect([early.status, await early.json()]).toEqual([
          409,
          { error: `job ${id}: it is cancelling: wait until it is cancelled` },
        ]);
        graces.shift()!();
      }
      await harness.until(id, "cancelled");
      const output = (await harness.events(id)).filter((event) => event.event === "output");
      expect(output.map((event) => event.data.text)).toEqual([
        "starting at 0",
        "asked to stop",
        "asked to stop",
      ]);
    } finally {
      timer.mockRestore();
    }
  });

  it("waits for its device, and can be cancelled there; another device does not wait", async () => {
    const first = harness.config({ steps: 2, holdAt: 1 });
    const { id } = await harness.train(first.path);
    const second = await harness.train(harness.config({ steps: 1 }).path);
    const third = await harness.train(harness.config({ steps: 1 }).path);
    const elsewhere = await harness.train(harness.config({ steps: 1 }).path, { device: "cpu" });
    await harness.until(elsewhere.id, "done");
    // The config's own device counts, too.
    const itself = await harness.train(harness.config({ steps: 1 }, { device: "cpu" }).path);
    await harness.until(itself.id, "done");
    expect((await harness.job(second.id)).state).toBe("queued");

    expect(await (await harness.post(`/api/jobs/${second.id}/cancel`)).json()).toMatchObject({
      state: "cancelled",
      attempt: 0,
    });
    harness.release(first.hold);
    await harness.until(third.id, "done");
    expect((await harness.job(id)).state).toBe("done");
    const { jobs } = (await (await harness.fetch("/api/jobs")).json()) as { jobs: { id: string }[] };
    expect(jobs.map((job) => job.id)).toEqual([itself.id, elsewhere.id, third.id, second.id, id]);
    const done = (await (await harness.fetch("/api/jobs?state=cancelled")).json()) as {
      jobs: { id: string }[];
    };
    expect(done.jobs.map((job) => job.id)).toEqual([second.id]);
  });

  it("cannot be resumed while it runs or when it is done", async () => {
    const { path } = harness.config({ steps: 1 });
    const { id } = await harness.train(path);
    await harness.until(id, "done");
    const answer = await harness.post(`/api/jobs/${id}/resume`);
    expect(answer.status).toBe(409);
    expect(await answer.json()).toEqual({ error: `job ${id}: it is done; expected cancelled, failed, lost` });
  });
});

describe("closing the worker", () => {
  it("stops its runs; automatic ones go on at the next start, the others wait for a person", async () => {
    const auto = harness.config({ steps: 4, holdAt: 2 });
    const manual = harness.config({ steps: 4, holdAt: 2 });
    const first = await harness.train(auto.path);
    const second = await harness.train(manual.path, { device: "cpu", resume: "manual" });
    for (const { id } of [first, second]) await harness.untilJob(id, (job) => job.progress?.step === 2);
    await harness.stop();
    harness.release(auto.hold);
    harness.release(manual.hold);

    await harness.start();
    const done = await harness.until(first.id, "done");
    expect(done.attempt).toBe(2);
    const events = await harness.events(first.id);
    expect(states(events)).toEqual([
      ...["queued", "starting", "running", "lost"],
      ...["queued", "starting", "running", "done"],
    ]);
    const steps = events.filter((event) => event.event === "progress").map((event) => event.data.step);
    expect(steps).toEqual([1, 2, 3, 4]);

    expect(await harness.job(second.id)).toMatchObject({
      state: "lost",
      attempt: 1,
      message: "stopped because the worker was closed",
    });
    await harness.post(`/api/jobs/${second.id}/resume`);
    await harness.until(second.id, "done");
  });
});

describe("following a job", () => {
  it("goes on after Last-Event-ID without a gap or a repetition", async () => {
    const { path, hold } = harness.config({ steps: 6, holdAt: 3 });
    const { id } = await harness.train(path);
    const first = await harness.events(id, undefined, (event) => event.data.step === 2);
    const rest = harness.events(id, first.at(-1)!.id);
    harness.release(hold);
    const all = await harness.events(id);
    expect([...first, ...(await rest)]).toEqual(all);
    expect(all.filter((event) => event.event === "progress").map((event) => event.data.step)).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
  });

  it("with follow=false ends once all that has happened was sent", async () => {
    const { path, hold } = harness.config({ steps: 6, holdAt: 3 });
    const { id } = await harness.train(path);
    const first = await harness.events(id, undefined, (event) => event.data.step === 2);
    const ended = (after?: number) => harness.events(id, after, undefined, "?follow=false");
    const soFar = await ended();
    expect(soFar.slice(0, first.length)).toEqual(first);
    expect(states(await ended(soFar.at(-1)!.id))).toEqual([]);
    expect((await harness.job(id)).state).toBe("running");
    const bad = await harness.fetch(`/api/jobs/${id}/events?follow=no`);
    expect(bad.status).toBe(400);
    harness.release(hold);
    expect(await harness.events(id)).toEqual(await ended());
  });

  it("answers 204 to a client that has everything, and refuses what is not an id", async () => {
    const { path } = harness.config({ steps: 1 });
    const { id } = await harness.train(path);
    const { last_event } = await harness.until(id, "done");
    const headers = { "Last-Event-ID": String(last_event) };
    expect((await harness.fetch(`/api/jobs/${id}/events`, { headers })).status).toBe(204);
    const bad = await harness.fetch(`/api/jobs/${id}/events`, { headers: { "Last-Event-ID": "x" } });
    expect(bad.status).toBe(400);
    expect(await bad.json()).toEqual({
      error: `GET /api/jobs/${id}/events, last-event-id: expected the id of an event, a whole number`,
    });
  });

  it("ends the stream when the worker closes", async () => {
    const { path } = harness.config({ steps: 2, holdAt: 1 });
    const { id } = await harness.train(path);
    await harness.untilJob(id, (job) => job.progress?.step === 1);
    const following = harness.events(id);
    await harness.events(id, undefined, (event) => event.event === "progress");
    await harness.stop();
    expect(states(await following).slice(0, 3)).toEqual(["queued", "starting", "running"]);
  });
});
