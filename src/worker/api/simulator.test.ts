import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { fakeSimulator } from "../../simulator/scienceworld/testing/fake-simulator.ts";
import { LEASE_MS, simulatorAnswer, startAnswer, stepAnswer } from "../../simulator/session-contract.ts";
import { createWorker } from "../index.ts";
import { Harness } from "../testing/harness.ts";

const { jar } = fakeSimulator();
let clock = 0;
const harness = new Harness();
beforeAll(() => harness.start({ simulator: jar, now: () => clock }));
afterAll(() => harness.remove());

const at = (session: string, what: string) => `/api/simulator/sessions/${session}/${what}`;
const reset = (session: string, task = "tiny|0|easy") => harness.post(at(session, "reset"), { task });
const step = (session: string, action: string) => harness.post(at(session, "step"), { action });
const close = (session: string) => harness.fetch(`/api/simulator/sessions/${session}`, { method: "DELETE" });
async function info() {
  const { scienceworld } = simulatorAnswer.parse(await (await harness.fetch("/api/simulator")).json());
  return scienceworld!;
}
const open = async () => (await info()).open;
async function refusal(answer: Promise<Response>): Promise<unknown[]> {
  const got = await answer;
  return [got.status, z.object({ error: z.string() }).parse(await got.json()).error];
}

describe("ScienceWorld over the API", () => {
  it("is played in a session that the client names", async () => {
    expect(await (await harness.fetch("/api/simulator")).json()).toEqual({
      scienceworld: {
        ...{ file: jar, version: "1.2.3", sha256: expect.any(String), most: expect.any(Number), open: 0 },
        tasks: [{ name: "tiny", variations: 7 }],
      },
    });
    const start = startAnswer.parse(await (await reset("session-1")).json());
    expect(start).toMatchObject({
      description: "Your task is to win.",
      offered: { templates: ["look at OBJ", "wait"], objects: ["door"] },
      state: { key: expect.stringMatching(/^[0-9a-f]{64}$/), mode: "normal" },
    });
    const turn = stepAnswer.parse(await (await step("session-1", "win")).json());
    expect(turn).toMatchObject({ status: "executed", score: 100, done: true, success: true });
    expect(await open()).toBe(1);
    expect((await close("session-1")).status).toBe(204);
    expect((await close("session-1")).status).toBe(204);
    expect(await open()).toBe(0);
    expect(await (await harness.post("/api/simulator/plan", { task: "tiny|0|easy" })).json()).toEqual({
      actions: ["menu", "0", "win"],
    });
  });

  it("ends a session whose page is gone", async () => {
    await reset("session-2");
    clock += LEASE_MS - 1;
    expect((await harness.post(at("session-2", "renew"))).status).toBe(204);
    clock += LEASE_MS - 1;
    expect((await step("session-2", "menu")).status).toBe(200);
    clock += LEASE_MS;
    await reset("session-3");
    expect(await refusal(step("session-2", "win"))).toEqual([
      404,
      expect.stringContaining("its ScienceWorld session is over"),
    ]);
    expect(await open()).toBe(1);
    await close("session-3");
  });

  it("refuses what cannot be, in one line", async () => {
    expect(await refusal(reset("session-4", "boil"))).toEqual([
      400,
      'task: expected TASK|VARIATION|SIMPLIFICATION as in boil|1|easy, received "boil"',
    ]);
    expect(await refusal(reset("session-4", "tiny|7|easy"))).toEqual([
      400,
      "task: Task (tiny): there is no variation 7.",
    ]);
    expect(await refusal(reset("short"))).toEqual([
      400,
      expect.stringContaining("session: expected 8 to 64"),
    ]);
    expect(await refusal(harness.post(at("session-4", "step"), { act: "win" }))).toEqual([
      400,
      expect.stringContaining("action: expected string, got nothing"),
    ]);
    expect(await refusal(harness.post(at("session-4", "renew")))).toEqual([404, expect.any(String)]);
  });

  it("answers another try may do when all simulators are in use", async () => {
    const { most } = await info();
    const names = Array.from({ length: most }, (_, n) => `all-in-use-${n}`);
    for (const name of names) expect((await reset(name)).status).toBe(200);
    expect(await refusal(reset("one-too-many"))).toEqual([
      503,
      expect.stringContaining(`all ${names.length} ScienceWorld simulators of the worker are in use`),
    ]);
    for (const name of names) await close(name);
  });

  it("is for the worker's own page only", async () => {
    const path = at("session-5", "reset");
    const body = JSON.stringify({ task: "tiny|0|easy" });
    const headers = { "Content-Type": "application/json" };
    const { status } = await harness.raw(path, headers, "POST", { body });
    expect(status).toBe(401);
    const foreign = { ...headers, Authorization: `Bearer ${harness.token}`, Origin: "https://example.org" };
    expect((await harness.raw(path, foreign, "POST", { body })).status).toBe(403);
    expect(await open()).toBe(0);
  });
});

it("a worker without a simulator says so; one whose simulator is none does not start", async () => {
  const plain = new Harness();
  await plain.start();
  try {
    expect(await (await plain.fetch("/api/simulator")).json()).toEqual({ scienceworld: null });
    const refused = await plain.post(at("session-6", "reset"), { task: "tiny|0|easy" });
    expect([refused.status, await refused.json()]).toEqual([
      404,
      { error: "this worker has no simulator: start it with --simulator PATH" },
    ]);
  } finally {
    await plain.remove();
  }
  const dataDir = plain.dataDir;
  await expect(createWorker({ port: 0, dataDir, simulator: import.meta.filename })).rejects.toThrow(
    "simulator.test.ts: is not a wheel or JAR",
  );
});
