import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EnvironmentError, InputError } from "../../../../core/errors.ts";
import { plannedSource } from "../../../../core/loop/index.ts";
import { tryReset } from "../../../../core/loop/try-reset.ts";
import { ScienceWorldService } from "../../../../simulator/scienceworld/service.ts";
import { fakeSimulator } from "../../../../simulator/scienceworld/testing/fake-simulator.ts";
import { LEASE_MS } from "../../../../simulator/session-contract.ts";
import { GamesService } from "./games-service.ts";
import { RemoteEnvironment } from "./remote-environment.ts";
import { SimulatorEnvironment, type SimulatorSessions } from "./simulator-environment.ts";

const { jar } = fakeSimulator();
let service: ScienceWorldService;
let sessions: SimulatorSessions;

beforeEach(async () => {
  service = await ScienceWorldService.open(jar, { size: 2 });
  sessions = {
    reset: (session, task) => service.reset(session, task),
    step: (session, action) => service.step(session, action),
    renew: async (session) => service.renew(session),
    close: (session) => service.close(session),
    plan: (task) => service.plan(task),
    free: async () => service.info().most - service.info().open,
  };
});
afterEach(() => service.shutDown());

test("the games of a page and the worker's tasks are played alike: plans, records, their replays", async () => {
  const games = new GamesService();
  await games.make("alfworld", { count: 1, seed: 0 });
  const tasks = games.openSimulator(sessions, ["tiny|0|easy", "tiny|1|easy"], "a");
  expect(tasks.slice(1)).toEqual([
    { environment: "scienceworld", task: "tiny|0|easy", type: "tiny" },
    { environment: "scienceworld", task: "tiny|1|easy", type: "tiny" },
  ]);
  const name = tasks[1]!;
  const remote = {
    openSession: async (environment: string) => games.openSession(environment),
    reset: games.reset.bind(games),
    step: games.step.bind(games),
    closeSession: games.closeSession.bind(games),
  };
  const environment = new RemoteEnvironment(remote, "scienceworld");
  const record = await plannedSource(environment, name, (await games.plan(name))!, {
    ...{ source: "planner:1000000", repetition: 1_000_000, origin: { kind: "planner" } },
  });
  expect(record).toMatchObject({ outcome: { success: true, score: 100, verified: true } });
  await environment.close();
  expect(service.info().open).toBe(0);
  const digest = (sha256: string) => {
    games.openSimulator(sessions, ["tiny|0|easy"], sha256);
    return games.digest("scienceworld", ["tiny|0|easy"]);
  };
  expect(await digest("b")).not.toBe(await digest("a"));
  expect(await games.verify(record!)).toBeNull();
  const altered = { ...record!, decisions: record!.decisions.map((each) => ({ ...each, score: 1 })) };
  expect(await games.verify(altered)).toBe("decision 0: score");
  expect(service.info().open).toBe(0);
});

test("as many are played at once as the worker has free; none is an error", async () => {
  const games = new GamesService();
  expect(await games.atOnce("alfworld")).toBe(Number.POSITIVE_INFINITY);
  games.openSimulator(sessions, ["tiny|0|easy"], "a");
  const first = games.openSession("scienceworld", "compute");
  await games.reset(first, "tiny|0|easy");
  expect(await games.atOnce("scienceworld")).toBe(1);
  await games.reset(games.openSession("scienceworld", "compute"), "tiny|0|easy");
  await expect(games.atOnce("scienceworld")).rejects.toThrow("all ScienceWorld simulators");
  // The worker of the page that played in them was ended.
  await games.closeSessionsOf("compute");
  expect(await games.atOnce("scienceworld")).toBe(2);
});

test("a session is renewed while nobody acts, until it is closed", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const renewed: string[] = [];
    const environment = new SimulatorEnvironment({
      ...sessions,
      renew: async (session) => void renewed.push(session),
    });
    await environment.reset("tiny|0|easy");
    vi.advanceTimersByTime(LEASE_MS);
    expect(renewed).toHaveLength(4);
    await environment.reset("tiny|1|easy");
    vi.advanceTimersByTime(LEASE_MS / 4);
    expect(new Set(renewed).size).toBe(1);
    expect(renewed).toHaveLength(5);
    await environment.close();
    vi.advanceTimersByTime(LEASE_MS);
    expect(renewed).toHaveLength(5);
    expect(service.info().open).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("a session that is closed while its task begins is closed for good", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    const renewed = vi.fn(async () => undefined);
    const asked: string[] = [];
    const environment = new SimulatorEnvironment({
      ...{ ...sessions, renew: renewed },
      reset: async (session, task) => {
        // Of a slow start, and of a closing that overtakes it.
        await new Promise((resolve) => setTimeout(resolve, 50));
        asked.push("reset");
        return sessions.reset(session, task);
      },
      close: (session) => {
        asked.push("close");
        return sessions.close(session);
      },
    });
    const beginning = environment.reset("tiny|0|easy");
    await environment.close();
    await beginning;
    vi.advanceTimersByTime(LEASE_MS);
    expect(renewed).not.toHaveBeenCalled();
    expect(asked).toEqual(["reset", "close"]);
    expect(service.info().open).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("nothing is opened in a session that was closed on the way to another task", async () => {
  const games = new GamesService();
  games.openSimulator(sessions, ["tiny|0|easy", "tiny|1|easy"], "a");
  const session = games.openSession("scienceworld", "compute");
  await games.reset(session, "tiny|0|easy");
  const next = games.reset(session, "tiny|1|easy");
  await Promise.all([expect(next).rejects.toThrow("no session"), games.closeSessionsOf("compute")]);
  expect(service.info().open).toBe(0);
});

test("what the worker does not answer ends the episode, and a reset may be tried again", async () => {
  const environment = new SimulatorEnvironment({
    ...sessions,
    step: () => Promise.reject(new InputError("the worker does not answer")),
    close: () => Promise.reject(new EnvironmentError("the worker does not answer")),
  });
  await environment.reset("tiny|0|easy");
  expect(await environment.step("win")).toEqual({ unanswered: "the worker does not answer" });
  await environment.close();
  const full = Array.from({ length: 2 }, () => new SimulatorEnvironment(sessions));
  await full[0]!.reset("tiny|0|easy");
  await expect(full[1]!.reset("tiny|0|easy")).rejects.toBeInstanceOf(EnvironmentError);
});

test("a run waits for a worker that is away; a person hears of it at once", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
  try {
    const away = new EnvironmentError("the worker does not answer");
    let isAway = true;
    const asked = vi.fn();
    const reached = async <T>(work: () => Promise<T>): Promise<T> => {
      asked();
      if (isAway) throw away;
      return work();
    };
    const games = new GamesService();
    const flaky: SimulatorSessions = {
      ...sessions,
      reset: (session, task) => reached(() => sessions.reset(session, task)),
      free: () => reached(sessions.free),
    };
    games.openSimulator(flaky, ["tiny|0|easy"], "a");
    await expect(games.reset(games.openSession("scienceworld"), "tiny|0|easy")).rejects.toThrow(away);
    expect(asked).toHaveBeenCalledTimes(1);
    const played = (session: number) => ({
      ...{ reset: (task: string) => games.reset(session, task), step: games.step.bind(games, session) },
      ...{ close: () => games.closeSession(session) },
    });
    const environment = played(games.openSession("scienceworld", "compute"));
    const trying = tryReset(environment, "tiny|0|easy");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.mock.calls.length).toBeGreaterThan(30);
    isAway = false;
    await vi.advanceTimersByTimeAsync(1500);
    vi.useRealTimers();
    expect(await trying).toMatchObject({ done: false });
    await environment.close();

    // The run is ended meanwhile.
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    isAway = true;
    const other = games.openSession("scienceworld", "compute");
    const ended = expect(games.reset(other, "tiny|0|easy")).rejects.toThrow(away);
    await vi.advanceTimersByTimeAsync(1500);
    await games.closeSessionsOf("compute");
    await vi.advanceTimersByTimeAsync(1500);
    await ended;
    // It is given up in the end: the tries of an episode have one patience.
    const last = tryReset(played(games.openSession("scienceworld", "compute")), "tiny|0|easy");
    await vi.advanceTimersByTimeAsync(5 * 60_000);
    expect(await last).toEqual({ unanswered: away.message });
  } finally {
    vi.useRealTimers();
  }
});
