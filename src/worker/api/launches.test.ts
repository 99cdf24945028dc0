/** Targets and launched runs over the API, with a program in the place of ssh and one in the place of `gcopd train`. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { InputError } from "../../core/errors.ts";
import type { LaunchedRun, Printed } from "../../protocol/launched-run.ts";
import { LaunchedRuns } from "../launch/runs.ts";
import { Harness } from "../testing/harness.ts";

const BIN = resolve(import.meta.dirname, "../../../test/support/launch-bin");

type Run = z.infer<typeof LaunchedRun>;

/** Takes two steps, each when it may, and goes on after those that were taken. */
const TRAINER = `
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
const args = process.argv.slice(2);
const config = JSON.parse(readFileSync(args[args.indexOf("--config") + 1], "utf8"));
readFileSync(config.library);
mkdirSync("out/student", { recursive: true });
const print = (event) => console.log(JSON.stringify(event));
let asked = false;
process.on("SIGTERM", () => { asked = true; print({ type: "asked" }); });
console.error("device cpu");
let step = existsSync("out/steps") ? Number(readFileSync("out/steps", "utf8")) : 0;
print({ type: "start", from: step });
while (step < 2 && !asked) {
  await new Promise((go) => setTimeout(go, 5));
  if (!existsSync(process.env.GO + (step + 1))) continue;
  step += 1;
  writeFileSync("out/steps", String(step));
  print({ type: "step", step });
}
writeFileSync("out/student/config.json", "{}");
print({ type: asked ? "stopped" : "done" });
process.exit(asked ? 143 : 0);
`;

let harness: Harness;
const at = (...path: string[]) => join(harness.folder, ...path);

beforeEach(async () => {
  harness = new Harness();
  for (const name of ["ssh", "slurm", "scratch"]) mkdirSync(at(name));
  writeFileSync(at("trainer.mjs"), TRAINER);
  for (const name of ["sources.jsonl", "episodes.jsonl"]) writeFileSync(at(name), "{}\n");
  for (const name of ["teacher", "student"]) mkdirSync(at(name));
  vi.stubEnv("PATH", [BIN, process.env.PATH].join(delimiter));
  vi.stubEnv("FAKE_SSH", at("ssh"));
  vi.stubEnv("FAKE_SLURM", at("slurm"));
  vi.stubEnv("XDG_CONFIG_HOME", at("config"));
  vi.stubEnv("GO", at("go-"));
  await harness.start({ askEveryMs: 0 });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await harness.remove();
});

const fault = (text: string) => writeFileSync(at("ssh", "fault"), `${text}\n`);
const go = (step: number) => writeFileSync(at(`go-${step}`), "");
const config = (changes: object = {}) => ({
  ...{ library: at("sources.jsonl"), episodes: at("episodes.jsonl") },
  ...{ teacher: at("teacher"), student: at("student") },
  ...changes,
});
const gcopd = () => `'${process.execPath}' '${at("trainer.mjs")}'`;
const add = (name: string, target: object = {}, more: object = {}) =>
  harness.post("/api/targets", {
    name,
    target: { scratch: at("scratch"), gcopd: gcopd(), ...target },
    ...more,
  });
const box = (target: object = {}) => add("box", { host: "box", ...target });
async function answer<T>(asked: Promise<Response>): Promise<[number, T]> {
  const got = await asked;
  return [got.status, (await got.json()) as T];
}
const launch = async (target = "box", changes: object = {}): Promise<Run> => {
  const [status, run] = await answer<Run>(harness.post("/api/launches", { target, config: config(changes) }));
  expect(status, JSON.stringify(run)).toBe(202);
  return run;
};
const runs = async () => (await answer<{ launches: Run[] }>(harness.fetch("/api/launches")))[1].launches;
async function until(id: string, holds: (run: Run) => boolean): Promise<Run> {
  for (;;) {
    const run = (await runs()).find((each) => each.id === id)!;
    if (holds(run)) return run;
    await sleep(10);
  }
}
const act = (id: string, what: string, body?: object) =>
  answer<Run>(harness.post(`/api/launches/${id}/${what}`, body));
/** Takes a run out of the list, as soon as nothing is done with it. */
async function remove(id: string): Promise<void> {
  for (;;) {
    const { status } = await harness.fetch(`/api/launches/${id}`, { method: "DELETE" });
    if (status === 204) return;
    expect(status).toBe(409);
    await sleep(10);
  }
}
/** All that an attempt printed, piece by piece, to its end. */
async function printed(id: string, attempt: number): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let from = 0; ; ) {
    const path = `/api/launches/${id}/events?attempt=${attempt}&from=${from}`;
    const [, { events, next, over }] = await answer<z.infer<typeof Printed>>(harness.fetch(path));
    all.push(...events.map(({ data }) => data));
    if (over) return all;
    from = next;
    await sleep(10);
  }
}

describe("targets", () => {
  it("are those of the command line's file; what does not fit is named", async () => {
    const file = at("config", "gcopd", "targets.json");
    expect(await answer(harness.fetch("/api/targets"))).toEqual([200, { file, targets: {} }]);
    const [status, all] = await answer<{ targets: object }>(box({ gpus: 2, price_per_gpu_hour: 3 }));
    expect(status).toBe(201);
    expect(all.targets).toMatchObject({ box: { host: "box", scheduler: "none", gpus: 2 } });
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(all.targets);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await answer(box())).toEqual([400, { error: expect.stringContaining("box: already exists") }]);
    expect((await add("box", {}, { replace: true })).status).toBe(201);
    expect(await answer(add("b", { scratch: "here" }))).toEqual([
      400,
      { error: 'scratch: expected an absolute path of plain characters, received "here"' },
    ]);
    expect(await answer(add("b", { password: "x" }))).toEqual([
      400,
      { error: expect.stringContaining("password") },
    ]);
  });

  it("are checked step by step, with what to do", async () => {
    await box({ gcopd: "no-such-gcopd" });
    type Steps = { steps: { step: string; verdict: string; text: string }[] };
    const check = () => answer<Steps>(harness.post("/api/targets/box/check"));
    const [, { steps }] = await check();
    expect(steps).toContainEqual({ step: "shell", verdict: "ok", text: "box answers" });
    expect(steps).toContainEqual({
      ...{ step: "gcopd", verdict: "missing" },
      text: expect.stringContaining("install gcopd there and name its command"),
    });
    fault("unknown-key");
    expect((await check())[1].steps).toEqual([
      { step: "shell", verdict: "missing", text: expect.stringContaining("its host key is not known") },
    ]);
    expect((await harness.post("/api/targets/none/check")).status).toBe(400);
  });

  it("and runs are for the worker's own page only", async () => {
    for (const [path, method] of [
      ["/api/targets", "POST"],
      ["/api/targets/box/check", "POST"],
      ["/api/launches", "GET"],
      ["/api/launches", "POST"],
      ["/api/launches/x/cancel", "POST"],
    ] as const) {
      const headers = { "Content-Type": "application/json" };
      const sent = method === "POST" ? { body: "{}" } : {};
      expect((await harness.raw(path, headers, method, sent)).status).toBe(401);
      const foreign = { ...headers, Authorization: `Bearer ${harness.token}`, Origin: "https://example.org" };
      expect((await harness.raw(path, foreign, method, sent)).status).toBe(403);
    }
  });
});

describe("a launched run", () => {
  it("is launched, followed, stopped, resumed, fetched, and taken out of the list", async () => {
    await box({ gpus: 2, price_per_gpu_hour: 3600 });
    const { id, folder } = await launch();
    const running = await until(id, ({ state, doing }) => state === "running" && doing === null);
    expect(running).toMatchObject({
      ...{ target: "box", host: "box", attempt: 1, submitted: true, words: "running", unreached: null },
      config: config(),
      command: expect.stringMatching(/train --config config.json --out out --progress json$/),
    });
    expect(running).toMatchObject({ title: null, gpus: 2, price_per_gpu_hour: 3600 });
    go(1);
    await until(id, () =>
      readFileSync(join(folder, "attempt-1", "stdout.jsonl"), "utf8").includes('"step":1'),
    );
    expect(await act(id, "stop")).toMatchObject([202, { doing: { what: "stop" } }]);
    const stopped = await until(id, ({ state }) => state === "ended");
    expect(stopped).toMatchObject({ words: "stopped (exit code 143)", code: 143, asked: "stop" });
    const { seconds, gpu_hours: hours, price } = stopped;
    expect(hours).toBeCloseTo((2 * seconds!) / 3600, 10);
    expect(price).toBeCloseTo(2 * seconds!, 6);
    go(2);
    await until(id, ({ doing }) => doing === null);
    expect((await act(id, "resume"))[0]).toBe(202);
    expect(await until(id, ({ state, attempt }) => attempt === 2 && state === "ended")).toMatchObject({
      ...{ words: "done", code: 0 },
    });
    const first = [
      { type: "start", from: 0 },
      { type: "step", step: 1 },
      { type: "asked" },
      { type: "stopped" },
    ];
    const second = [{ type: "start", from: 1 }, { type: "step", step: 2 }, { type: "done" }];
    expect([await printed(id, 1), await printed(id, 2)]).toEqual([first, second]);

    expect((await harness.fetch(`/api/launches/${id}/results`)).status).toBe(404);
    await until(id, ({ doing }) => doing === null);
    expect(await act(id, "fetch", {})).toMatchObject([202, { doing: { what: "fetch" } }]);
    await until(id, ({ fetched_at: fetched }) => fetched !== null);
    const path = `/api/launches/${id}/results`;
    const [, { files }] = await answer<{ files: { path: string }[] }>(harness.fetch(path));
    expect(files.map(({ path: name }) => name)).toEqual(["student/config.json"]);
    expect(await (await harness.fetch(`${path}/file?path=student/config.json`)).text()).toBe("{}");
    expect((await harness.fetch(`${path}/file?path=../run.json`)).status).toBe(400);
    expect(await (await harness.fetch(`/api/launches/${id}/log?attempt=1`)).text()).toBe("device cpu\n");
    await until(id, ({ doing }) => doing === null);
    await act(id, "resume");
    expect((await until(id, ({ doing }) => doing === null)).problem).toBe(
      `run ${id} is done: there is nothing to resume`,
    );

    // What is known is known to the next worker, which asks nobody for it.
    await harness.stop();
    await harness.start({ askEveryMs: 0 });
    fault("always unreachable");
    expect(await runs()).toMatchObject([{ id, state: "ended", words: "done", attempt: 2 }]);
    expect(await printed(id, 1)).toEqual(first);
    await remove(id);
    expect(await runs()).toEqual([]);
    expect(existsSync(folder)).toBe(true);
    rmSync(at("ssh", "fault"));
    expect(await answer(harness.post("/api/launches/import", { target: "box", folder }))).toMatchObject([
      201,
      { id, state: "ended", words: "done", attempt: 2, config: { library: "in/1-sources.jsonl" } },
    ]);
    expect(await printed(id, 1)).toEqual(first);
  });

  it("has a name for people, which can be changed and comes with its folder", async () => {
    await box();
    const named = (title: unknown) =>
      answer<Run>(harness.post("/api/launches", { target: "box", config: config(), title }));
    const [status, { id, folder, title }] = await named("  A first run ");
    expect([status, title]).toEqual([202, "A first run"]);
    const rename = (to: unknown, of = id) =>
      harness.fetch(`/api/launches/${of}`, {
        method: "PATCH",
        body: JSON.stringify({ title: to }),
        headers: { "Content-Type": "application/json" },
      });
    expect(await answer(rename("Another name"))).toMatchObject([200, { id, title: "Another name" }]);
    expect(await runs()).toMatchObject([{ title: "Another name" }]);
    for (const bad of [" ", "x".repeat(201), null]) {
      expect((await rename(bad)).status).toBe(400);
      expect((await named(bad))[0]).toBe(400);
    }
    expect((await rename("x", "20000101-000000-000000")).status).toBe(404);
    go(1);
    go(2);
    await until(id, ({ state, doing }) => state === "ended" && doing === null);
    await remove(id);
    const again = answer(harness.post("/api/launches/import", { target: "box", folder }));
    expect(await again).toMatchObject([201, { id, title: "A first run" }]);
  });

  it("answers at once while its target does not, and keeps what it knows", async () => {
    await box();
    writeFileSync(at("ssh", "hold"), "");
    const { id, doing, submitted } = await launch();
    expect({ doing: doing?.what, submitted }).toEqual({ doing: "launch", submitted: false });
    expect(await runs()).toMatchObject([{ id, state: null, doing: { what: "launch" } }]);
    expect(await act(id, "cancel")).toEqual([409, { error: `run ${id}: another launch is under way` }]);
    rmSync(at("ssh", "hold"));
    await until(id, ({ state }) => state === "running");
    fault("always unreachable");
    const away = await until(id, ({ unreached }) => unreached !== null);
    expect(away).toMatchObject({
      ...{ state: "running", words: "running", problem: null, code: null },
      unreached: expect.stringContaining("it does not answer"),
    });
    await act(id, "stop");
    expect((await until(id, ({ doing: now }) => now === null)).problem).toContain("it does not answer");
    rmSync(at("ssh", "fault"));
    expect(await until(id, ({ unreached }) => unreached === null)).toMatchObject({ state: "running" });
    await act(id, "cancel");
    expect(await until(id, ({ state }) => state === "ended")).toMatchObject({
      words: "cancelled (exit code 143)",
    });
  });

  it("that its target never heard of is submitted by resume; what is missing there is named", async () => {
    await box({ models: { big: "/none/big" } });
    fault("always unreachable");
    const { id } = await launch();
    expect(await until(id, ({ doing }) => doing === null)).toMatchObject({
      ...{ submitted: false, state: null, words: "not submitted; Resume submits it" },
      problem: expect.stringContaining("it does not answer"),
    });
    rmSync(at("ssh", "fault"));
    [1, 2].forEach(go);
    await act(id, "resume");
    expect(await until(id, ({ state }) => state === "ended")).toMatchObject({ words: "done", attempt: 1 });

    const { id: other, folder } = await launch("box", { teacher: "target:big" });
    expect(await until(other, ({ doing }) => doing === null)).toMatchObject({
      ...{
        submitted: false,
        problem: "POST /api/launches, teacher: /none/big is neither here nor on target box",
      },
    });
    expect(existsSync(folder)).toBe(false);
    // The reason is known to the next worker, and goes once the run is submitted.
    await harness.stop();
    await harness.start({ askEveryMs: 0 });
    const stayed = (await runs()).find((each) => each.id === other)!;
    expect(stayed.problem).toBe("POST /api/launches, teacher: /none/big is neither here nor on target box");
    await act(other, "resume");
    expect((await until(other, ({ doing }) => doing === null)).problem).toBe(
      `POST /api/launches/${other}/resume, teacher: /none/big is neither here nor on target box`,
    );
    await remove(other);
    expect((await runs()).map((each) => each.id)).toEqual([id]);
    expect(
      await answer(harness.post("/api/launches", { target: "box", config: config({ library: "a.jsonl" }) })),
    ).toEqual([
      400,
      { error: 'POST /api/launches: expected an absolute path, or target:PATH, got "a.jsonl"' },
    ]);
    expect(
      await answer(harness.post("/api/launches", { target: "box", config: config({ batch_size: 0 }) })),
    ).toMatchObject([400, { error: expect.stringContaining("config.batch_size") }]);
  });

  it("whose files could not be packed says why, after a restart, too, and is packed by resume", async () => {
    await box();
    vi.spyOn(LaunchedRuns.prototype, "pack").mockRejectedValueOnce(
      new InputError("no space left on the device", { file: "payload.tar" }),
    );
    const { id, folder } = await launch();
    const problem = "payload.tar: no space left on the device";
    expect(await until(id, ({ doing }) => doing === null)).toMatchObject({ submitted: false, problem });
    await harness.stop();
    await harness.start({ askEveryMs: 0 });
    expect(await runs()).toMatchObject([{ id, submitted: false, problem }]);
    [1, 2].forEach(go);
    await act(id, "resume");
    expect(await until(id, ({ state }) => state === "ended")).toMatchObject({ words: "done", problem: null });
    expect(readFileSync(join(folder, "in", "1-sources.jsonl"), "utf8")).toBe("{}\n");
  });

  it("tells why it waits and when it may start, where Slurm says it", async () => {
    await box({ scheduler: "slurm", gpus: 1 });
    writeFileSync(at("slurm", "full"), "");
    const { id } = await launch();
    expect(await until(id, ({ state }) => state === "queued")).toMatchObject({
      ...{ words: "waiting in the queue", reason: "Resources", expected: "2026-12-01T10:00:00" },
    });
    await act(id, "stop");
    expect(await until(id, ({ state }) => state === "never")).toMatchObject({
      words: "stopped before it began",
    });
  });

  it("takes what the page sent with it, on this machine too", async () => {
    await add("here");
    const sent = await harness.fetch("/api/jobs/train-0123456789ab/inputs?path=sources.jsonl", {
      ...{ method: "PUT", body: "{}\n" },
    });
    const { path } = z.object({ path: z.string() }).parse(await sent.json());
    [1, 2].forEach(go);
    const { id, folder } = await launch("here", { library: path });
    expect(await until(id, ({ state }) => state === "ended")).toMatchObject({
      words: "done",
    });
    expect(readFileSync(join(folder, "in", "1-sources.jsonl"), "utf8")).toBe("{}\n");
    const read: unknown = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
    expect(read).toMatchObject({ library: "in/1-sources.jsonl", episodes: at("episodes.jsonl") });
  });
});

describe("the script to run by hand", () => {
  const script = async (target: string) =>
    answer<{ script: string; bytes: number }>(
      harness.post("/api/launches/script", { target, config: config() }),
    );

  it("holds what is sent and asked of Slurm, and contacts nothing", async () => {
    await box({ scheduler: "slurm", gpus: 4, time: "1:00:00", port: 2222, user: "me", modules: ["cuda"] });
    const [, { script: text, bytes }] = await script("box");
    expect(bytes).toBe(6);
    const folder = at("scratch", "gcopd-runs", "by-hand");
    for (const line of [
      "#SBATCH --gres=gpu:4",
      "#SBATCH --signal=B:TERM@120",
      `# ssh -p 2222 me@box mkdir -p ${folder}/in`,
      `# scp -r -P 2222 '${at("sources.jsonl")}' me@box:${folder}/in/1-sources.jsonl`,
      "module load 'cuda' || exit 72",
      `exec ${gcopd()} train --config config.json --out out --progress json`,
    ])
      expect(text.split("\n")).toContain(line);
    expect(existsSync(at("ssh", "calls"))).toBe(false);
  });

  it("takes the run", async () => {
    await add("here");
    [1, 2].forEach(go);
    const [, { script: text }] = await script("here");
    const out = execFileSync("sh", ["-c", text], { encoding: "utf8" });
    expect(out).toMatch(/"done"}\n$/);
    expect(existsSync(at("scratch", "gcopd-runs", "by-hand", "out", "student", "config.json"))).toBe(true);
  });
});
