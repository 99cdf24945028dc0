import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
import { EnvironmentError, InputError } from "../../core/errors.ts";
import { LEASE_MS } from "../session-contract.ts";
import { NoSessionError, ScienceWorldService } from "./service.ts";
import { ScienceSimulator } from "./simulator.ts";
import { fakeSimulator } from "./testing/fake-simulator.ts";

const { jar } = fakeSimulator();
/** Each simulator that runs has a folder in it. */
const own = mkdtempSync(join(tmpdir(), "gcopd-service-"));
afterAll(() => rmSync(own, { recursive: true }));
const folders = () => readdirSync(own).length;

let service: ScienceWorldService;
let clock = 0;
const FULL = "all 2 ScienceWorld simulators of the worker are in use";
const OVER = "its ScienceWorld session is over";

beforeEach(async () => {
  vi.stubEnv("TMPDIR", own);
  clock = 0;
  service = await ScienceWorldService.open(jar, { size: 2, now: () => clock });
});
afterEach(async () => {
  await service.shutDown();
  expect(folders()).toBe(0);
});

test("a session plays one task after the other; two do not disturb each other", async () => {
  expect(service.info()).toEqual({
    ...{ file: jar, version: "1.2.3", sha256: expect.stringMatching(/^[0-9a-f]{64}$/), most: 2, open: 0 },
    tasks: [{ name: "tiny", variations: 7 }],
  });
  const start = await service.reset("one", "tiny|0|easy");
  expect(start).toMatchObject({
    description: "Your task is to win.",
    state: { mode: "normal" },
    done: false,
  });
  await service.reset("two", "tiny|1|easy");
  expect(await service.step("one", "win")).toMatchObject({ score: 100, done: true, success: true });
  expect(await service.step("two", "menu")).toMatchObject({ score: 0, state: { mode: "pending_menu" } });
  expect(await service.reset("one", "tiny|2|easy")).toMatchObject({ score: 0, done: false });
  expect(service.info().open).toBe(2);
  await service.close("one");
  await service.close("one");
  await expect(service.step("one", "win")).rejects.toThrow(OVER);
});

test("what a session is asked at the same time is answered in turn; closed, it begins nothing more", async () => {
  await service.reset("one", "tiny|0|easy");
  const asked = ["menu", "0", "win"].map((action) => service.step("one", action));
  expect(await Promise.all(asked)).toMatchObject([
    { state: { mode: "pending_menu" } },
    { status: "binding" },
    { success: true },
  ]);
  const late = expect(service.step("one", "menu")).rejects.toThrow(OVER);
  await service.close("one");
  await late;
});

test("no more sessions than simulators; another try may do, and a plan needs one, too", async () => {
  await service.reset("one", "tiny|0|easy");
  await service.reset("two", "tiny|0|easy");
  const refused = await service.reset("three", "tiny|0|easy").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(EnvironmentError);
  expect(refused).toMatchObject({ message: expect.stringContaining(FULL) });
  await expect(service.plan("tiny|0|easy")).rejects.toThrow(FULL);
  await service.close("two");
  expect(await service.plan("tiny|0|easy")).toEqual(["menu", "0", "win"]);
  expect((await service.reset("three", "tiny|0|easy")).done).toBe(false);
  // One that is open may begin again.
  expect((await service.reset("one", "tiny|3|easy")).done).toBe(false);
});

test("a session ends a minute after its page was last heard of; what it does meanwhile counts", async () => {
  await service.reset("gone", "tiny|0|easy");
  await service.reset("there", "tiny|0|easy");
  clock = LEASE_MS - 1;
  service.renew("there");
  expect((await service.reset("gone", "tiny|0|easy")).done).toBe(false);
  clock = 2 * LEASE_MS - 2;
  await service.step("there", "menu");
  await service.endLate();
  expect(service.info().open).toBe(2);
  clock = 2 * LEASE_MS - 1;
  // Whoever needs a simulator finds that one free.
  await service.reset("next", "tiny|0|easy");
  await expect(service.step("gone", "win")).rejects.toThrow(OVER);
  expect(() => service.renew("gone")).toThrow(OVER);
  expect(await service.step("there", "0")).toMatchObject({ status: "binding" });
  expect(service.info().open).toBe(2);
});

test("simulators that nobody needs end after a while", async () => {
  await service.reset("one", "tiny|0|easy");
  await service.reset("two", "tiny|0|easy");
  clock = LEASE_MS;
  await service.endLate();
  expect([service.info().open, folders()]).toEqual([0, 2]);
  clock = LEASE_MS + 299_999;
  await service.endLate();
  expect(folders()).toBe(2);
  clock = LEASE_MS + 300_000;
  await service.endLate();
  expect(folders()).toBe(0);
  expect((await service.reset("one", "tiny|0|easy")).done).toBe(false);
});

test("a task that is not there leaves no session, and the line says what is wrong", async () => {
  for (const [task, line] of [
    ["tiny", "expected TASK|VARIATION|SIMPLIFICATION"],
    ["tiny|7|easy", "there is no variation 7"],
  ] as const) {
    const refused = await service.reset("one", task).catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: expect.stringContaining(line) });
    expect(refused).toBeInstanceOf(InputError);
    expect(refused).not.toBeInstanceOf(EnvironmentError);
    expect(service.info().open).toBe(0);
  }
});

test("a simulator that dies ends the episode in one line; the session goes on with another", async () => {
  const started = vi.spyOn(ScienceSimulator, "start");
  await service.reset("one", "tiny|0|easy");
  await service.reset("two", "tiny|0|easy");
  const [first] = started.mock.settledResults;
  if (first?.type !== "fulfilled") throw new Error("no simulator was started");
  const simulator = first.value;
  started.mockRestore();
  process.kill(simulator.pid!, "SIGKILL");
  await vi.waitUntil(() => simulator.failed, { timeout: 60_000 });
  expect(await service.step("two", "win")).toEqual({
    unanswered: expect.stringMatching(/a\.jar: the simulator ended \(SIGKILL\)$/),
  });
  expect((await service.reset("two", "tiny|0|easy")).done).toBe(false);
});

test("shut down in the middle of a question, it leaves nothing behind", async () => {
  await service.reset("one", "tiny|0|easy");
  const [answer] = await Promise.allSettled([service.step("one", "menu"), service.shutDown()]);
  expect(folders()).toBe(0);
  expect(answer).toMatchObject({ reason: expect.any(NoSessionError) });
});

test("a file that is not a simulator, and a machine without Java, are one line each", async () => {
  await expect(ScienceWorldService.open(import.meta.filename)).rejects.toThrow(
    "service.test.ts: is not a wheel or JAR",
  );
  await expect(ScienceWorldService.open(jar, { java: "/nowhere/java" })).rejects.toThrow(
    "a.jar: no Java was found: install a Java runtime",
  );
});
