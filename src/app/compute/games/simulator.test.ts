import { afterEach, expect, it, vi } from "vitest";
import { EnvironmentError, InputError } from "../../../core/errors.ts";
import { WorkerAway } from "../../data/files/read-answer.ts";
import { getRuns, useRuns, type WorkerState } from "../runs/runs-store.ts";
import type { worker as client } from "../runs/worker-client.ts";
import {
  checkSimulatorTasks,
  simulatorProblem,
  simulatorSessions,
  variationTasks,
  WorkerSessions,
} from "./simulator.ts";

const TASKS = [
  { name: "boil", variations: 3 },
  { name: "melt", variations: 2 },
];
const SIMULATOR = { file: "/a.whl", version: "1.2.3", sha256: "", most: 2, open: 1, tasks: TASKS };

function withWorker(change: Partial<WorkerState>): WorkerState {
  useRuns.setState(({ worker }) => ({ worker: { ...worker, ...change } }));
  return getRuns().worker;
}

afterEach(() => {
  useRuns.setState(useRuns.getInitialState());
  vi.unstubAllGlobals();
});

it("says what to do where the worker has no simulator", () => {
  expect(simulatorProblem()).toContain("is being asked");
  for (const status of ["none", "there"] as const)
    expect(simulatorProblem(withWorker({ status }))).toContain("start the worker with --simulator PATH");
  expect(() => checkSimulatorTasks([])).toThrow("start the worker with --simulator PATH");
  expect(simulatorProblem(withWorker({ status: "lost" }))).toContain("does not answer");
  expect(simulatorProblem(withWorker({ status: "there", simulator: SIMULATOR }))).toBeNull();
});

it("names variations as far as there are any, and refuses tasks that are not there", () => {
  withWorker({ status: "there", simulator: SIMULATOR });
  const of = (name: string, first: number, count: number) =>
    variationTasks({ name, first, count, simplification: "easy" });
  expect(of("boil", 1, 1)).toEqual(["boil|1|easy"]);
  expect(of("", 1, 9)).toEqual(["boil|1|easy", "boil|2|easy", "melt|1|easy"]);
  expect(() => of("melt", 2, 1)).toThrow("the variations of melt are 0 to 1");
  expect(() => of("", 3, 1)).toThrow("no task has a variation 3: the last one of any is 2");
  checkSimulatorTasks(["boil|2|", "melt|0|easy"]);
  expect(() => checkSimulatorTasks(["boil|3|"])).toThrow("boil|3|: the variations of boil are 0 to 2");
  expect(() => checkSimulatorTasks(["go"])).toThrow("expected TASK|VARIATION|SIMPLIFICATION");
});

it("tells what may be tried again from what may not", async () => {
  vi.stubGlobal("document", { querySelector: () => ({ content: "token" }) });
  const answer = vi.fn();
  vi.stubGlobal("fetch", answer);
  const refused = (status: number) => new Response(JSON.stringify({ error: "no" }), { status });
  const fault = () => simulatorSessions.reset("session-1", "boil|0|easy").catch((error: unknown) => error);
  answer.mockResolvedValueOnce(refused(503));
  expect(await fault()).toBeInstanceOf(EnvironmentError);
  answer.mockRejectedValueOnce(new TypeError("Failed to fetch"));
  expect(await fault()).toEqual(new WorkerAway());
  answer.mockResolvedValueOnce(refused(400));
  const bad = await fault();
  expect(bad).toBeInstanceOf(InputError);
  expect(bad).not.toBeInstanceOf(EnvironmentError);
  answer.mockResolvedValueOnce(new Response(JSON.stringify({ observation: 1 })));
  expect(await fault()).toMatchObject({
    message: expect.stringMatching(/^POST \/api\/simulator\/sessions\/session-1\/reset, observation: /),
  });
});

it("ends with the page the sessions that were begun and not closed", async () => {
  const worker = {
    beginTask: vi.fn(async () => Promise.reject(new WorkerAway())),
    closeSession: vi.fn(async () => undefined),
  } as Partial<typeof client> as typeof client;
  const sessions = new WorkerSessions(worker);
  sessions.end();
  for (const session of ["one", "two"])
    await expect(sessions.reset(session, "boil|0|easy")).rejects.toThrow(EnvironmentError);
  await sessions.close("one");
  sessions.end();
  sessions.end();
  expect(vi.mocked(worker.closeSession).mock.calls).toEqual([["one"], ["two", { keepalive: true }]]);
});
