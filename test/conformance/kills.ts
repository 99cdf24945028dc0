/**
 * kill -9 of everything that remote training consists of, at random points, over real servers: `npm run build && npm run
 * conformance -- kills --skyrl VENV/bin/python --vllm VENV/bin/vllm [--times 20]`. Runs of a few steps are launched over ssh
 * until page, worker, tunnel, driver, SkyRL and vLLM were each killed that often. Every run must end with the figures of
 * one that nothing happened to, each step once; what the worker says of a run must be so within one poll; and nothing of a
 * run may stay alive. `npm run conformance -- slurm` kills the scheduler.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BrowserServer, chromium } from "@playwright/test";
import { uniforms } from "../../src/core/seeded.ts";
import type { ToldRun } from "../../src/worker/launch/followed-runs.ts";
import { adapterDifferences, readAdapter } from "../support/adapters.ts";
import { figureDifference, figuresOf, RANK, RealRemote, remoteOptions, say } from "../support/real-remote.ts";

const options = remoteOptions("kills");
const remote = await RealRemote.start(options);
const uniform = uniforms(1);
const random = (limit: number) => Math.floor(uniform() * limit);

/** A run as the worker's API tells it. */
interface Told {
  id: string;
  folder: string;
  attempt: number;
  state: ToldRun["state"];
  as_of: string | null;
  unreached: string | null;
  code: number | null;
  words: string;
  doing: object | null;
  problem: string | null;
}

async function api<T>(path: string, body?: object): Promise<T> {
  const token = readFileSync(remote.at("data", "token"), "utf8").trim();
  const response = await fetch(new URL(path, remote.worker.url), {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${path}: ${response.status} ${response.statusText}`);
  return JSON.parse(await response.text());
}

async function told(id: string): Promise<Told> {
  const { launches } = await api<{ launches: Told[] }>("api/launches");
  const run = launches.find((each) => each.id === id);
  assert.ok(run !== undefined, `run ${id} is not listed`);
  return run;
}

/** Ids of the living processes that name a path in their command line, or work in it. */
function processesOf(path: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        // What is dead and was not waited for has neither.
        const places = [readFileSync(`/proc/${pid}/cmdline`, "utf8"), readlinkSync(`/proc/${pid}/cwd`)];
        return places.some((text) => text.includes(path));
      } catch {
        return false;
      }
    });
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
}

/** Id of the first word of a file of an attempt. */
const pidIn = (run: Told, file: string): number[] => {
  const path = join(run.folder, `attempt-${run.attempt}`, file);
  const [pid] = existsSync(path) ? readFileSync(path, "utf8").split(" ") : [];
  return pid === undefined ? [] : [Number(pid)];
};

let browser: BrowserServer | null = null;
remote.onClose(() => browser?.kill());

/** Opens the page at a run in a new browser, and waits until it shows how far the run is. */
async function openPage({ id }: Told): Promise<void> {
  browser = await chromium.launchServer({
    executablePath: process.env.GCOPD_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  const page = await (await chromium.connect(browser.wsEndpoint())).newPage();
  await page.goto(`${remote.worker.url}#/runs?run=${id}`);
  const state = /queued|running|lost|ended|failed|done|submitted|step \d+ of \d+/;
  await page.getByTestId("run-detail").getByText(state).first().waitFor({ timeout: 120_000 });
}

const VICTIMS: Record<string, (run: Told) => Promise<void>> = {
  async page(run) {
    if (browser === null) await openPage(run);
    const killed = browser;
    assert.ok(killed !== null);
    killed.process().kill("SIGKILL");
    await once(killed.process(), "exit");
    await openPage(run);
  },
  async worker() {
    remote.worker.process.kill("SIGKILL");
    await once(remote.worker.process, "exit");
    await remote.startWorker();
  },
  async tunnel() {
    // In the middle of a question, which the worker asks when it is asked.
    await api("api/launches");
    killAll(processesOf(remote.at("sshd", "ssh_config")));
  },
  async driver(run) {
    const [wrapper, command] = [pidIn(run, "claim"), pidIn(run, "pid")];
    const whole = processesOf(run.folder);
    killAll([command, [...wrapper, ...command], wrapper, whole][random(4)] ?? []);
  },
  async vllm() {
    await remote.vllm.close();
    await sleep(random(10_000));
    await remote.startVllm();
  },
  async skyrl() {
    await remote.skyrl.kill();
    await sleep(random(10_000));
    await remote.skyrl.startAgain();
  },
};

/** What is so of a run, by its processes and its folder. */
function truth(run: Told): Told["state"] {
  const [pid] = pidIn(run, "pid");
  if (pid !== undefined && processesOf(run.folder).includes(pid)) return "running";
  return existsSync(join(run.folder, `attempt-${run.attempt}`, "exit")) ? "ended" : "lost";
}

/** The first answer about a run that was heard after a moment. */
async function heardAfter(id: string, moment: number): Promise<Told> {
  for (;;) {
    const run = await told(id);
    // A run that has ended or is lost is not asked about again.
    if (
      run.state === "ended" ||
      run.state === "lost" ||
      (run.as_of !== null && Date.parse(run.as_of) > moment)
    )
      return run;
    await sleep(200);
  }
}

/** Checks that the next poll says what is so. */
async function checkState(id: string): Promise<void> {
  for (;;) {
    const before = truth(await told(id));
    const run = await heardAfter(id, Date.now());
    // It may change while it is looked at.
    if (truth(run) !== before) continue;
    assert.equal(run.state, before, `${run.words}; unreached: ${run.unreached}`);
    return;
  }
}

/** Waits until nothing is being done with a run. @throws when that failed for another reason than a broken connection */
async function settled(id: string): Promise<Told> {
  for (;;) {
    const run = await told(id);
    if (run.doing === null) return run;
    await sleep(200);
  }
}

const config = {
  ...{ library: remote.at("sources.jsonl"), episodes: remote.at("episodes.jsonl") },
  ...{ teacher: remote.vllm.url, calibrate_with: remote.teacher },
  ...{
    student: remote.student,
    tokenizer: remote.student,
    tinker: { url: remote.skyrl.url, lora_rank: RANK },
  },
  ...{ method: "gc-opd", epochs: [1, 2], batch_size: 1, device: "cpu" },
};

/** Launches a run and sees it through to its end, killing one thing after the other. */
async function oneRun(kills: string[], most: number): Promise<{ out: string; killed: string[] }> {
  const { id } = await api<Told>("api/launches", { target: "box", config });
  await settled(id);
  const killed: string[] = [];
  for (;;) {
    await sleep(random(8000));
    let run = await settled(id);
    if (run.state === "ended" && run.code === 0) {
      // What its end leaves: nothing.
      for (let left = processesOf(run.folder); left.length > 0; left = processesOf(run.folder)) {
        const wrapper = pidIn(run, "claim");
        assert.ok(
          left.every((pid) => wrapper.includes(pid)) || Date.parse(String(run.as_of)) > Date.now() - 20_000,
          `processes of ${id} are left: ${left.join(", ")}`,
        );
        await sleep(500);
      }
      return { out: join(run.folder, "out"), killed };
    }
    if (run.state === "ended" || run.state === "lost" || run.state === null) {
      const moment = Date.now();
      await api(`api/launches/${id}/resume`, {});
      run = await settled(id);
      say(
        `        ${id}: ${run.words}${run.problem === null ? "" : `; ${run.problem}`}; attempt ${run.attempt}`,
      );
      await heardAfter(id, moment);
      continue;
    }
    const name = killed.length < most ? kills.pop() : undefined;
    const victim = name === undefined ? undefined : VICTIMS[name];
    if (name === undefined || victim === undefined) continue;
    killed.push(name);
    await victim(run);
    await checkState(id);
    say(`        ${id}: ${name} was killed, and the state is right`);
  }
}

try {
  await api("api/targets", {
    name: "box",
    target: { host: "box", scratch: remote.at("scratch"), gcopd: remote.target["gcopd command"] },
  });
  const whole = await oneRun([], 0);
  const expected = figuresOf(whole.out);
  const adapter = await readAdapter(join(whole.out, "student"));
  say(`ok      undisturbed: ${expected.length} steps`);
  const names = Object.keys(VICTIMS).flatMap((name) => Array.from({ length: options.times }, () => name));
  const kills = names
    .map((name) => ({ name, at: uniform() }))
    .sort((a, b) => a.at - b.at)
    .map(({ name }) => name);
  const counts: Record<string, number> = {};
  let [runs, loss, weights] = [0, 0, 0];
  while (kills.length > 0) {
    const { out, killed } = await oneRun(kills, 5);
    runs += 1;
    for (const name of killed) counts[name] = (counts[name] ?? 0) + 1;
    loss = Math.max(loss, figureDifference("loss", figuresOf(out), expected));
    const found = adapterDifferences(await readAdapter(join(out, "student")), adapter, adapter);
    weights = Math.max(weights, found.weights);
    say(
      `ok      run ${runs} after ${killed.join(", ") || "nothing"}: losses within ${loss.toExponential(1)}, adapter ${weights.toExponential(1)}`,
    );
    assert.ok(loss < 1e-3 && weights < 1e-3);
  }
  say(
    `ok      ${runs} runs, killed: ${Object.entries(counts)
      .map(([name, n]) => `${name} ${n} times`)
      .join(", ")}`,
  );
} finally {
  await remote.close();
}
