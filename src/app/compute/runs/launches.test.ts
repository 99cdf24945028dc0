import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { launched as launchedRun } from "../../../../test/support/launched.ts";
import { AT } from "../../../../test/support/train-events.ts";
import { InputError } from "../../../core/errors.ts";
import type { CheckStep } from "../../../protocol/target.ts";
import { WorkerAway } from "../../data/files/read-answer.ts";
import { canResume, Launches, takeLaunched, useTargets } from "./launches.ts";
import { getRuns, newRun, putRun, useRuns } from "./runs-store.ts";
import type { Launched } from "./worker-answers.ts";
import type { WorkerClient } from "./worker-client.ts";

const TARGETS = { file: "/data/targets.json", targets: {} };
const id = "launch-1";
const launched = (over: Partial<Launched> = {}): Launched => launchedRun({ id, ...over });
const progress = (step: number) => ({ type: "progress" as const, data: { type: "checkpoint", step } });
const output = { type: "output" as const, data: { text: "a line" } };

/** What each attempt printed: one answer per read, `from` counting them. */
let prints: Record<number, { events: object[]; over?: boolean }[]>;
let asked: [attempt: number, from: number][];
let listed: Launched[];
let client: WorkerClient;
let launches: Launches;

beforeEach(() => {
  [prints, asked, listed] = [{}, [], [launched()]];
  client = fake<WorkerClient>({
    servesPage: () => true,
    targets: async () => TARGETS,
    launches: vi.fn(async () => listed),
    checkTarget: vi.fn(),
    addTarget: async () => TARGETS,
    printed: vi.fn(async (_id, attempt, from) => {
      asked.push([attempt, from]);
      const { events = [], over = false } = prints[attempt]?.[from] ?? {};
      const next = prints[attempt]?.[from] === undefined ? from : from + 1;
      return { events: events as never, next, more: prints[attempt]?.[next] !== undefined && !over, over };
    }),
  });
  launches = new Launches(client);
});
afterEach(() => {
  vi.useRealTimers();
  useRuns.setState(useRuns.getInitialState());
  useTargets.setState(useTargets.getInitialState());
});

const run = () => getRuns().runs[id]!;
const steps = (): unknown[] => run().events.map((event) => event.type === "checkpoint" && event.step);

it("tells a run's state in the scheduler's words, under its name, its config's or its id", async () => {
  listed = [launched({ words: "waits", reason: "Priority", state: "queued" })];
  await launches.refresh();
  expect(run()).toMatchObject({ title: id, where: "target", state: "queued", message: "waits; Priority" });
  listed = [launched({ title: "mine", problem: "the script failed", state: "ended", code: 1 })];
  await launches.refresh();
  expect(run()).toMatchObject({
    title: "mine",
    state: "failed",
    message: "the script failed",
    ended: launched().as_of,
  });
  expect(useTargets.getState()).toMatchObject({ ...TARGETS, problem: null });
});

it("reads what was printed once, chunk by chunk, and then each later attempt from its start", async () => {
  prints = { 1: [{ events: [progress(1), output] }, { events: [progress(2)] }] };
  await launches.refresh();
  expect(steps()).toEqual([1, 2]);
  prints[1]!.push({ events: [progress(3)], over: true });
  prints[2] = [{ events: [progress(4)] }];
  await launches.refresh();
  expect(steps()).toEqual([1, 2, 3]);
  listed = [launched({ attempt: 2 })];
  asked = [];
  await launches.refresh();
  expect(steps()).toEqual([1, 2, 3, 4]);
  expect(asked).toEqual([[2, 0]]);
});

it("asks nothing of a run that its target has not taken", async () => {
  listed = [launched({ submitted: false, state: null, doing: null })];
  await launches.refresh();
  expect(run().state).toBe("lost");
  expect(asked).toEqual([]);
});

it("marks once that it cannot read what a newer version printed, and goes on", async () => {
  const strange = { type: "progress", data: { type: "updated", step: 1 } };
  prints = { 1: [{ events: [strange, progress(1), strange] }] };
  await launches.refresh();
  expect(steps()).toEqual([1]);
  expect(run().figures.marks).toMatchObject([{ kind: "unread", text: expect.stringContaining("“updated”") }]);
});

it("drops a run that is not listed any more, and leaves what is still read of it", async () => {
  putRun(newRun({ id: "page-1", where: "page", title: "", config: {} }));
  const reading = new Pending<{ events: []; next: number; more: boolean; over: boolean }>();
  vi.mocked(client.printed).mockImplementationOnce(() => reading.promise);
  const first = launches.refresh();
  await until(() => expect(run()).toBeDefined());
  listed = [];
  await launches.refresh();
  expect(Object.keys(getRuns().runs)).toEqual(["page-1"]);
  reading.resolve({ events: [], next: 9, more: true, over: false });
  await first;
  expect(asked).toEqual([]);
  // It is there again: read from its start.
  listed = [launched()];
  prints = { 1: [{ events: [progress(1)] }] };
  await launches.refresh();
  expect(steps()).toEqual([1]);
});

it("a run that was launched while the list was on its way stays", async () => {
  const list = new Pending<Launched[]>();
  vi.mocked(client.launches).mockImplementationOnce(() => list.promise);
  const reading = launches.refresh();
  takeLaunched(launched());
  list.resolve([]);
  await reading;
  expect(run()).toBeDefined();
});

it("looks again a while after each answer; once it is left, what comes late is dropped, and it can begin again", async () => {
  vi.useFakeTimers();
  prints = { 1: [{ events: [progress(1)] }] };
  const leave = launches.follow();
  await vi.advanceTimersByTimeAsync(0);
  expect(steps()).toEqual([1]);
  prints[1]!.push({ events: [progress(2)] });
  const late = new Pending<Awaited<ReturnType<typeof client.printed>>>();
  vi.mocked(client.printed).mockImplementationOnce(() => late.promise);
  await vi.advanceTimersByTimeAsync(4000);
  leave();
  late.resolve({ events: [progress(9)] as never, next: 9, more: true, over: false });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(steps()).toEqual([1]);
  expect([vi.mocked(client.launches).mock.calls.length, vi.getTimerCount()]).toEqual([2, 0]);
});

it("a page that no worker serves asks for nothing", () => {
  client.servesPage = () => false;
  launches.follow()();
  expect(client.launches).not.toHaveBeenCalled();
});

it("keeps what it knows of the targets while the worker is away, and says what is wrong with an answer", async () => {
  await launches.refresh();
  vi.mocked(client.launches).mockRejectedValue(new WorkerAway());
  await launches.refresh();
  expect(useTargets.getState()).toMatchObject({ ...TARGETS, problem: null });
  vi.mocked(client.launches).mockRejectedValue(new InputError("launches[0].state: expected …"));
  await launches.refresh();
  expect(useTargets.getState().problem).toBe("launches[0].state: expected …");
  expect(run()).toBeDefined();
});

it("a check that is not answered says why beside what the one before found", async () => {
  const ended = new Pending<CheckStep[]>();
  vi.mocked(client.checkTarget).mockImplementationOnce(() => ended.promise);
  const checking = launches.checkTarget("cluster");
  expect(useTargets.getState().checks).toEqual({ cluster: { steps: null, isGoing: true, problem: null } });
  const steps: CheckStep[] = [{ step: "reach", verdict: "ok", text: "answers" }];
  ended.resolve(steps);
  await checking;
  expect(useTargets.getState().checks).toEqual({ cluster: { steps, isGoing: false, problem: null } });
  vi.mocked(client.checkTarget).mockRejectedValueOnce(new WorkerAway());
  await launches.checkTarget("cluster");
  const problem = new WorkerAway().message;
  expect(useTargets.getState().checks).toEqual({ cluster: { steps, isGoing: false, problem } });
  // The next one begins without it.
  vi.mocked(client.checkTarget).mockImplementationOnce(() => new Promise(() => undefined));
  void launches.checkTarget("cluster");
  expect(useTargets.getState().checks).toEqual({ cluster: { steps, isGoing: true, problem: null } });
});

it("what a check says of a target that was saved meanwhile is dropped", async () => {
  const pending = () => new Pending<CheckStep[]>();
  const [old, between, last] = [pending(), pending(), pending()];
  const step = (text: string): CheckStep[] => [{ step: "reach", verdict: "ok", text }];
  vi.mocked(client.checkTarget)
    .mockImplementationOnce(() => old.promise)
    .mockImplementationOnce(() => between.promise)
    .mockImplementationOnce(() => last.promise);
  const first = launches.checkTarget("cluster");
  await launches.saveTarget("cluster", {}, true);
  old.resolve(step("the host before"));
  await first;
  expect(useTargets.getState().checks).toEqual({});
  const second = launches.checkTarget("cluster");
  await launches.saveTarget("cluster", {}, true);
  const third = launches.checkTarget("cluster");
  between.resolve(step("the host between"));
  await second;
  expect(useTargets.getState().checks.cluster).toMatchObject({ steps: null, isGoing: true });
  last.resolve(step("the host now"));
  await third;
  expect(useTargets.getState().checks.cluster).toMatchObject({ steps: step("the host now"), isGoing: false });
});

it("a run can go on unless something is being done with it", () => {
  const lost = newRun({ id, where: "target", title: "", config: {}, state: "lost" });
  expect(canResume(lost)).toBe(true);
  expect(canResume({ ...lost, launched: launched() })).toBe(true);
  const doing = { what: "resume", since: AT } as const;
  expect(canResume({ ...lost, launched: launched({ doing }) })).toBe(false);
  expect(canResume({ ...lost, state: "running" })).toBe(false);
});
