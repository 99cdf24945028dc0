import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readTask } from "../../core/environment/scienceworld/task-name.ts";
import { EnvironmentError, InputError } from "../../core/errors.ts";
import { ScienceWorldEnvironment } from "./environment.ts";
import type { SimulatorJar } from "./jar.ts";
import { type PoolOptions, SimulatorPool } from "./pool.ts";
import { type Answers, type StubGateway, stubGateway, tinyWorld } from "./testing/stub-gateway.ts";

const JAR: SimulatorJar = { file: "a.whl", bytes: new Uint8Array(1), version: "1.2.3", sha256: "" };
const java = join(import.meta.dirname, "testing/fake-java.mjs");

let gateway: StubGateway;
let pool: SimulatorPool;
/** Other tests start simulators, too: these have a folder of their own for temporary files. */
const own = mkdtempSync(join(tmpdir(), "gcopd-pool-"));
afterAll(() => rmSync(own, { recursive: true }));
const folders = () => readdirSync(own);

async function world(answers: Answers = tinyWorld(), options: PoolOptions = {}) {
  gateway = await stubGateway(answers);
  vi.stubEnv("GCOPD_FAKE_JAVA", String(gateway.port));
  pool = new SimulatorPool(JAR, { java, size: 2, ...options });
  return new ScienceWorldEnvironment(pool);
}

beforeEach(() => {
  vi.unstubAllEnvs();
  vi.stubEnv("TMPDIR", own);
});
afterEach(async () => {
  await pool?.close();
  await gateway?.close();
});

describe("an episode", () => {
  test("is what the simulator says, with a locator before every decision", async () => {
    const environment = await world();
    const start = await environment.reset("tiny|0|easy");
    expect(start).toMatchObject({
      description: "Your task is to win.",
      observation: "You see:\n\ta door\\that is shut",
      offered: { templates: ["look at OBJ", "wait"], objects: ["door"] },
      ...{ score: 0, done: false, success: false },
    });
    expect(start.state?.key).toMatch(/^[0-9a-f]{64}$/);
    expect(await environment.step("nonsense")).toMatchObject({ status: "rejected", done: false });
    expect(await environment.step("menu")).toMatchObject({
      status: "executed",
      state: { mode: "pending_menu", options: { 0: "look at a", 1: "look at b" } },
    });
    expect(await environment.step("0")).toMatchObject({ status: "binding", state: { mode: "normal" } });
    // 99.5 is rounded to the even neighbour.
    expect(await environment.step("win")).toMatchObject({ score: 100, done: true, success: true });
    expect(await environment.details()).toEqual({ moves: 4, inventory: "nothing", look: "a room" });
    expect(gateway.pipelined).toBe(0);
    await environment.close();
  });

  test("of a task that is not there", async () => {
    const environment = await world();
    await expect(environment.reset("tiny|7|easy")).rejects.toThrow(
      "task: Task (tiny): there is no variation 7.",
    );
    // The simulator goes on.
    expect((await environment.reset("tiny|0|easy")).done).toBe(false);
    await environment.close();
    expect(() => readTask("boil 1")).toThrow(
      'expected TASK|VARIATION|SIMPLIFICATION as in boil|1|easy, received "boil 1"',
    );
  });
});

describe("simulators", () => {
  test("are reused, as many as there are environments, and end with the pool", async () => {
    const one = await world();
    await one.reset("tiny|0|easy");
    await one.close();
    const two = new ScienceWorldEnvironment(pool);
    await two.reset("tiny|0|easy");
    expect(folders()).toHaveLength(1);
    await one.reset("tiny|0|easy");
    expect(folders()).toHaveLength(2);
    const third = new ScienceWorldEnvironment(pool);
    const waits = third.reset("tiny|0|easy");
    await one.close();
    expect((await waits).done).toBe(false);
    expect(folders()).toHaveLength(2);
    await two.close();
    await pool.close();
    expect(folders()).toHaveLength(1);
    await third.close();
    expect(folders()).toHaveLength(0);
  });

  test("that die end the episode for a technical reason, and are replaced", async () => {
    const environment = await world();
    const simulator = await pool.acquire();
    await pool.release(simulator);
    await environment.reset("tiny|0|easy");
    process.kill(simulator.pid!, "SIGKILL");
    await vi.waitUntil(() => simulator.failed, { timeout: 60_000 });
    expect(await environment.step("win")).toEqual({ unanswered: "a.whl: the simulator ended (SIGKILL)" });
    expect((await environment.reset("tiny|0|easy")).done).toBe(false);
    expect(folders()).toHaveLength(1);
    await environment.close();
  });

  test("that fail in a reset may be tried again; a task that is not there may not", async () => {
    const answers = tinyWorld();
    const { getTaskDescription } = answers;
    const environment = await world(answers);
    await environment.reset("tiny|0|easy");
    answers.getTaskDescription = () => "!xsthe simulator is broken";
    await expect(environment.reset("tiny|0|easy")).rejects.toBeInstanceOf(EnvironmentError);
    Object.assign(answers, { getTaskDescription });
    expect((await environment.reset("tiny|0|easy")).done).toBe(false);
    const unknown = await environment.reset("tiny|7|easy").catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(InputError);
    expect(unknown).not.toBeInstanceOf(EnvironmentError);
    await environment.close();
  });

  test("of any number share one hook on the end of this process", async () => {
    await world(tinyWorld(), { size: 11 });
    const before = process.listenerCount("exit");
    const lent = await Promise.all(Array.from({ length: 11 }, () => pool.acquire()));
    expect(folders()).toHaveLength(11);
    expect(process.listenerCount("exit")).toBe(before + 1);
    for (const simulator of lent) await pool.release(simulator);
    await pool.close();
    expect(process.listenerCount("exit")).toBe(before);
  });

  test("of a closed pool are refused, also to those that wait for one", async () => {
    await world(tinyWorld(), { size: 1 });
    const lent = await pool.acquire();
    const waits = expect(pool.acquire()).rejects.toThrow("the pool of simulators is closed");
    await pool.close();
    await waits;
    await pool.release(lent);
    await expect(pool.acquire()).rejects.toThrow("the pool of simulators is closed");
    expect(folders()).toEqual([]);
  });

  test("that start while the pool is closed are ended", async () => {
    await world();
    vi.stubEnv("GCOPD_FAKE_JAVA", "silent");
    const starts = expect(pool.acquire()).rejects.toThrow("the pool of simulators is closed");
    expect(folders()).toHaveLength(1);
    await pool.close();
    await starts;
    expect(folders()).toEqual([]);
  });

  test("that hang are ended", async () => {
    const environment = await world({}, { replyMs: 200 });
    await expect(environment.reset("tiny|0|easy")).rejects.toThrow(
      "a.whl: the simulator hangs: no reply within 0.2 s",
    );
    expect(folders()).toEqual([]);
  });

  test.each([
    [
      "complain",
      "Error: Could not find or load main class",
      "a.whl: the simulator ended (exit code 1): Error: Could not find or load main class",
    ],
    ["say nothing", "silent", "a.whl: the simulator did not start within 0.5 s"],
    ["have no gateway", "1", "a.whl: cannot connect: connect ECONNREFUSED 127.0.0.1:1"],
  ])("that %s at the start leave nothing behind", async (_name, what, expected) => {
    const environment = await world(tinyWorld(), what === "silent" ? { startMs: 500 } : {});
    vi.stubEnv("GCOPD_FAKE_JAVA", what);
    await expect(environment.reset("tiny|0|easy")).rejects.toThrow(expected);
    expect(folders()).toEqual([]);
  });

  test("need Java", async () => {
    gateway = await stubGateway();
    pool = new SimulatorPool(JAR, { java: "/nowhere/java" });
    await expect(pool.acquire()).rejects.toThrow("a.whl: no Java was found: install a Java runtime");
    expect(folders()).toEqual([]);
  });
});
