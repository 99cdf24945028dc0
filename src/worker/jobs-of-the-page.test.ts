/** What the page asks of the worker: configs sent with the request, inputs before it, stopping, logs, taking away. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Job } from "../protocol/job.ts";
import { Harness } from "./testing/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = new Harness();
  await harness.start();
});
afterAll(() => harness.remove());

const ID = "train-0123456789ab";
const put = (id: string, path: string, body: string) =>
  harness.fetch(`/api/jobs/${id}/inputs?path=${encodeURIComponent(path)}`, { method: "PUT", body });
const error = async (answer: Response) => ((await answer.json()) as { error: string }).error;

function config(changes: object = {}): Record<string, unknown> {
  const model = join(harness.folder, "model");
  mkdirSync(model, { recursive: true });
  const records = join(harness.folder, "records.jsonl");
  writeFileSync(records, "");
  return { library: records, episodes: records, teacher: model, student: "hub:Qwen/Qwen3-0.6B", ...changes };
}

it("runs a config that comes with the request, over inputs that were sent before", async () => {
  // Larger than other bodies may be.
  const records = `${"x".repeat(3 << 20)}\n`;
  const sent = await put(ID, "episodes.jsonl", records);
  expect(sent.status).toBe(201);
  const { path, bytes } = (await sent.json()) as { path: string; bytes: number };
  expect(path).toBe(join(harness.dataDir, "jobs", ID, "in", "episodes.jsonl"));
  expect(bytes).toBe(records.length);
  expect(readFileSync(path, "utf8")).toBe(records);
  expect((await put(ID, "student/config.json", "{}")).status).toBe(201);

  const asked = { kind: "train", id: ID, title: "first", config: config({ episodes: path, device: "cpu" }) };
  const answer = await harness.post("/api/jobs", asked);
  expect(answer.status).toBe(201);
  const job = (await answer.json()) as Job;
  const folder = join(harness.dataDir, "jobs", ID);
  expect(job).toMatchObject({ id: ID, request: { title: "first", config: asked.config } });
  expect(job.command).toEqual([
    ...["gcopd", "train", "--config", join(folder, "config.json"), "--out", join(folder, "out")],
    ...["--progress", "json"],
  ]);
  expect(JSON.parse(readFileSync(join(folder, "config.json"), "utf8"))).toEqual(asked.config);
  await harness.until(ID, "done");

  expect((await harness.post("/api/jobs", asked)).status).toBe(409);
  expect((await put(ID, "more.jsonl", "")).status).toBe(409);
  expect((await harness.fetch(`/api/jobs/${ID}`, { method: "DELETE" })).status).toBe(204);
  expect((await harness.fetch(`/api/jobs/${ID}`)).status).toBe(404);
  expect(existsSync(folder)).toBe(false);
});

it("checks a config in a file as one that comes with the request", async () => {
  const at = (name: string) => join(harness.folder, name);
  const path = at("train.json");
  const submit = (text: string) => {
    writeFileSync(path, text);
    return harness.post("/api/jobs", { kind: "train", config: path });
  };
  const write = (changes: object) => JSON.stringify(config({ student: "model", ...changes }));
  writeFileSync(at("broken-method.json"), "{");
  const stage = { name: "mine", epochs: 1, evidence: { kind: "none" } };
  writeFileSync(at("method.json"), JSON.stringify({ name: "mine", stages: [stage] }));
  for (const [text, reason] of [
    ["{", /^: not JSON: /],
    ["[]", /^: expected object/],
    [write({ batchsize: 4 }), /^: unknown key "batchsize"$/],
    [write({ library: "../none" }), /^, library: expected a file .* at "\/.*\/none" there is nothing$/],
    [write({ teacher: "no-model" }), /^, teacher: expected a folder .*\/no-model" there is nothing$/],
    [write({ method: "sft" }), /^, method: .*\/sft: no such file$/],
    [write({ method: "broken-method.json" }), /^, method: .*\/broken-method\.json: not JSON: /],
    [write({ engines: { a: { command: "x", ready: "http://127.0.0.1:1/" } } }), /^, engines: names commands/],
  ] as const) {
    const answer = await submit(text);
    const said = await error(answer);
    expect(answer.status, said).toBe(400);
    const place = `POST /api/jobs, config: ${path}`;
    expect(said.slice(0, place.length)).toBe(place);
    expect(said.slice(place.length)).toMatch(reason);
  }
  for (const changes of [
    { library: "records.jsonl", episodes: [at("records.jsonl")], device: "cpu" },
    { method: "method.json", teacher: "student", device: "cpu" },
  ]) {
    const job = (await (await submit(write(changes))).json()) as Job;
    expect(job).toMatchObject({ request: { config_file: path, device: "cpu" } });
    await harness.until(job.id, "done");
  }
  mkdirSync(at("student"), { recursive: true });
  const ambiguous = await error(await submit(write({ teacher: "student" })));
  expect(ambiguous).toContain(`${path}, teacher: ambiguous: write "./student"`);
});

it("runs a config's file as it was when its job was submitted", async () => {
  const { path, hold } = harness.config({ steps: 2, holdAt: 1, crashAt: 2 }, { seed: 1 });
  const first = await harness.train(path);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), seed: 2 }));
  const second = await harness.train(path);
  writeFileSync(path, "{");
  harness.release(hold);
  for (const [{ id }, seed] of [
    [first, 1],
    [second, 2],
  ] as const) {
    // It goes on after a kill.
    await harness.until(id, "done");
    const { request, command, attempt } = await harness.job(id);
    const file = join(harness.dataDir, "jobs", id, "config.json");
    expect(command).toContain(file);
    expect(attempt).toBe(2);
    const kept = JSON.parse(readFileSync(file, "utf8"));
    expect(kept).toMatchObject({ seed, student: join(harness.folder, "page") });
    expect(request).toMatchObject({ config: kept, config_file: path });
  }
});

it("takes inputs under plain names only", async () => {
  for (const path of ["../x", "a/b/c", "/etc/passwd", "", ".hidden", "a/../b", "a\\b", "a\0", "ü"]) {
    const answer = await put("train-00000000000a", path, "x");
    expect(answer.status, path).toBe(400);
    expect(await error(answer)).toContain("path: expected a file name");
  }
  for (const id of ["..", "train-1", "score-0123456789ab"])
    expect([400, 404], id).toContain((await put(id, "x", "x")).status);
});

it("names the key of a config that is wrong", async () => {
  const cases: [object, RegExp][] = [
    [{ batch_size: 0 }, /config\.batch_size: /],
    [{ method: "sft" }, /config\.method: /],
    [{ library: undefined }, /config\.library: missing/],
    [{ library: [] }, /config\.library: expected at least 1 entry/],
    [
      { library: [join(harness.folder, "records.jsonl"), join(harness.folder, "none")] },
      /config\.library\[1\]: expected a file .* there is nothing/,
    ],
    [{ epochs: [0, 0] }, /config\.epochs: at least one stage/],
    [{ teacher: "models/teacher" }, /config\.teacher: expected an absolute path/],
    [{ teacher: join(harness.folder, "none") }, /config\.teacher: expected a folder .* there is nothing/],
    [{ student: "hub:x" }, /config\.student: /],
    [{ colour: 1 }, /config: .*colour/],
  ];
  for (const [changes, message] of cases) {
    for (const [route, body] of [
      ["/api/jobs", { kind: "train", config: config(changes) }],
      ["/api/plan", { config: config(changes) }],
    ] as const) {
      const answer = await harness.post(route, body);
      expect(answer.status).toBe(400);
      expect(await error(answer)).toMatch(message);
    }
  }
});

it("a stop waits for the step, and a cancel after it does not", async () => {
  const { path, hold } = harness.config({ steps: 3, holdAt: 1, ignoreTerm: true });
  const first = await harness.train(path);
  const other = harness.config({ steps: 3, holdAt: 1, ignoreTerm: true });
  const second = await harness.train(other.path, { device: "cpu" });
  for (const { id } of [first, second]) await harness.untilJob(id, ({ progress }) => progress?.step === 1);
  const stop = (id: string) => harness.post(`/api/jobs/${id}/stop`);
  expect((await (await stop(first.id)).json()) as Job).toMatchObject({
    state: "cancelling",
    message: "it ends after its present step",
  });
  await stop(second.id);
  expect((await harness.fetch(`/api/jobs/${second.id}`, { method: "DELETE" })).status).toBe(409);
  await harness.post(`/api/jobs/${second.id}/cancel`);
  await harness.until(second.id, "cancelled");
  // It took as long as a process is given; the first, which was asked before, still has its step.
  expect((await harness.job(first.id)).state).toBe("cancelling");
  harness.release(hold);
  await harness.until(first.id, "done");
  expect((await stop(first.id)).status).toBe(409);
});

it("gives the end of a log and how long the whole of it is", async () => {
  const { path } = harness.config({ steps: 1, failAt: 1 });
  const { id } = await harness.train(path);
  await harness.until(id, "failed");
  const tail = await harness.fetch(`/api/jobs/${id}/log?tail=1`);
  const whole = await harness.fetch(`/api/jobs/${id}/log`);
  const text = await whole.text();
  expect(text).toContain("expected a number");
  expect(await tail.text()).toBe(text);
  expect(tail.headers.get("Log-Bytes")).toBe(String(Buffer.byteLength(text)));
});

it("tells where jobs lie, and that there is no sample", async () => {
  expect(await (await harness.fetch("/api/files")).json()).toEqual({
    jobs: join(harness.dataDir, "jobs"),
    shared: null,
    program: [process.execPath, expect.stringMatching(/bin\/gcopd\.js$/)],
    environment: expect.not.objectContaining({ HF_TOKEN: expect.anything() }),
    sample: null,
  });
});

it("gives a training job another title, whatever its state, and keeps it", async () => {
  const { path, hold } = harness.config({ steps: 2, holdAt: 1 });
  const { id } = await harness.train(path);
  await harness.untilJob(id, ({ progress }) => progress?.step === 1);
  const rename = (of: string, body: object) =>
    harness.fetch(`/api/jobs/${of}`, {
      method: "PATCH",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    });
  expect((await rename(id, { title: "a ‘first’ run" })).status).toBe(200);
  harness.release(hold);
  const { request } = await harness.until(id, "done");
  expect(request).toMatchObject({ config_file: path, title: "a ‘first’ run" });
  expect((await rename(id, { title: "" })).status).toBe(400);
  expect((await rename(id, { title: "x", state: "queued" })).status).toBe(400);
  expect((await rename("train-00000000000f", { title: "x" })).status).toBe(404);
});

it("takes no probe beside a job that has the device", async () => {
  const { path, hold } = harness.config({ steps: 2, holdAt: 1 });
  const { id } = await harness.train(path);
  await harness.untilJob(id, ({ progress }) => progress?.step === 1);
  const answer = await harness.post("/api/plan", { config: config(), probe: true });
  expect(answer.status).toBe(409);
  expect(await error(answer)).toBe(
    `job ${id} has the device: a probe beside it would measure both; wait or stop it`,
  );
  harness.release(hold);
  await harness.until(id, "done");
});

it("says how a model of the hub is named, where a path was expected", async () => {
  const answer = await harness.post("/api/plan", { config: config({ teacher: "Qwen/Qwen3-8B" }) });
  expect(await error(answer)).toContain('or a model of the hub by its name, as "hub:Qwen/Qwen3-8B"');
});
