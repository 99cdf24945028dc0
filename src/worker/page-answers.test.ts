/** What the page reads of the API's answers is what the API gives: by its schemas, and by a worker's real answers. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, expectTypeOf, it, vi } from "vitest";
import { z } from "zod";
import {
  deviceAnswer,
  inputAnswer,
  jobAnswer,
  jobsAnswer,
  launchAnswer,
  planAnswer,
  resultsAnswer,
  targetsAnswer,
} from "../app/compute/runs/worker-answers.ts";
import { worker } from "../app/compute/runs/worker-client.ts";
import { readAnswer } from "../app/data/files/read-answer.ts";
import { DeviceReport } from "../protocol/device.ts";
import { Files, ResultFile } from "../protocol/files.ts";
import { Job } from "../protocol/job.ts";
import { JOB_STATES } from "../protocol/job-state.ts";
import { LaunchedRun } from "../protocol/launched-run.ts";
import { Plan } from "../protocol/plan.ts";
import { Targets } from "../protocol/target.ts";
import { Harness } from "./testing/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = new Harness();
  await harness.start();
});
afterAll(() => harness.remove());

it("has the schemas of the API in it, key by key", () => {
  expectTypeOf<z.output<typeof Job>>().toExtend<z.input<typeof jobAnswer>>();
  expectTypeOf<z.output<typeof Plan>>().toExtend<z.input<typeof planAnswer>>();
  expectTypeOf<z.output<typeof DeviceReport>>().toExtend<z.input<typeof deviceAnswer>>();
  expectTypeOf<z.output<typeof ResultFile>>().toExtend<z.input<typeof resultsAnswer>["files"][number]>();
  expectTypeOf<z.output<typeof LaunchedRun>>().toExtend<z.input<typeof launchAnswer>>();
  expectTypeOf<z.output<typeof Targets>>().toExtend<z.input<typeof targetsAnswer>>();
  expect(jobAnswer.shape.state.options).toEqual(JOB_STATES);
  for (const [read, given] of [
    [jobAnswer, Job],
    [planAnswer, Plan],
    [deviceAnswer, DeviceReport],
    [launchAnswer, LaunchedRun],
    [targetsAnswer, Targets],
    [z.object(resultsAnswer.shape.files.element.shape), ResultFile],
  ] as const)
    expect(Object.keys(given.shape)).toEqual(expect.arrayContaining(Object.keys(read.shape)));
});

it("needs no key that the page does not read, and passes over keys of a later version", () => {
  const device = { device: "cpu", message: "m" };
  expect(deviceAnswer.parse({ ...device, later: 1 })).toEqual(device);
  const time = { low: 1, high: 2, teacher: [], student: [] };
  expect(planAnswer.shape.time.parse({ ...time, later: 1 })).toEqual(time);
  // A target is sent back whole, also with what the page cannot read.
  const target = { scheduler: "none", modules: [], scratch: "/s", models: {}, pod: 3, later: 1 };
  expect(targetsAnswer.parse({ file: "f", targets: { a: target } }).targets).toEqual({ a: target });
});

it("reads a worker's real answers", async () => {
  const read = async <T>(schema: z.ZodType<T>, route: string, answer: Promise<Response>): Promise<T> => {
    const got = await answer;
    expect(got.ok, route).toBe(true);
    return readAnswer(schema, route, await got.text());
  };
  const get = <T>(schema: z.ZodType<T>, path: string) => read(schema, `GET ${path}`, harness.fetch(path));
  const files = await get(Files, "/api/files");
  expect(files).toMatchObject({ jobs: join(harness.dataDir, "jobs"), shared: null, sample: null });
  expect(await get(deviceAnswer, "/api/device")).toMatchObject({ device: "cpu" });

  const id = "train-0123456789ab";
  const path = `/api/jobs/${id}/inputs?path=episodes.jsonl`;
  const input = await read(inputAnswer, "PUT", harness.fetch(path, { method: "PUT", body: "{}\n" }));
  expect(input.path).toBe(join(files.jobs, id, "in", "episodes.jsonl"));

  const { path: config } = harness.config({ steps: 2 });
  const request = { kind: "train", id, title: "first", config };
  const job = await read(jobAnswer, "POST /api/jobs", harness.post("/api/jobs", request));
  expect(job).toMatchObject({ id, request: { kind: "train", title: "first" }, ended_at: null });
  expect(job.request).toMatchObject({ config: { method: "opd" } });
  await harness.until(id, "done");
  const { jobs } = await get(jobsAnswer, "/api/jobs?limit=200");
  expect(jobs).toMatchObject([{ id, state: "done", ended_at: expect.any(String) }]);
  const results = await get(resultsAnswer, `/api/jobs/${id}/results`);
  expect(results.files).toContainEqual({ path: "checkpoint.json", bytes: expect.any(Number) });

  const body = JSON.stringify({ title: "second" });
  const headers = { "Content-Type": "application/json" };
  const renamed = harness.fetch(`/api/jobs/${id}`, { method: "PATCH", body, headers });
  expect((await read(jobAnswer, "PATCH", renamed)).request.title).toBe("second");
});

it("reads the token of a worker that was started again from its page", async () => {
  const send = fetch;
  vi.stubGlobal("document", { querySelector: () => ({ content: "the-token-before" }) });
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => send(new URL(path, `${harness.url}/`), init));
  try {
    expect((await worker.files()).jobs).toBe(join(harness.dataDir, "jobs"));
  } finally {
    vi.unstubAllGlobals();
  }
});
