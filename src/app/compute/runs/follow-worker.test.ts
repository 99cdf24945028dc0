import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import { AT, sent } from "../../../../test/support/train-events.ts";
import { InputError } from "../../../core/errors.ts";
import type { JobState } from "../../../protocol/job-state.ts";
import { WorkerAway } from "../../data/files/read-answer.ts";
import { WorkerFollower } from "./follow-worker.ts";
import { dropRun, getRuns, newRun, putRun, useRuns } from "./runs-store.ts";
import type { Job } from "./worker-answers.ts";
import type { WorkerClient } from "./worker-client.ts";

const ID = "train-00000000000a";
const FILES = { jobs: "/jobs", shared: null, program: ["node"], environment: {}, sample: null };
const job = (state: JobState, over: Partial<Job> = {}): Job => ({
  ...{ id: ID, state, message: null, command: ["gcopd", "train"], created_at: AT, ended_at: null },
  last_event: 1,
  request: { kind: "train", title: "first", config: { method: "opd" } },
  ...over,
});
const scoring = (id: string, state: JobState): Job => job(state, { id, request: { kind: "score" } });

/** A job's stream, as far as a test has written it. */
class Stream {
  readonly #body = new TransformStream<Uint8Array, Uint8Array>();
  readonly #writer = this.#body.writable.getWriter();
  /** @param ids of the event before its first */
  constructor(private ids = 0) {}
  readonly answer = new Response(this.#body.readable);
  send(event: "state" | "progress", data: object): void {
    const text = `id: ${++this.ids}\nevent: ${event}\ndata: ${sent(data, event)}\n\n`;
    void this.#writer.write(new TextEncoder().encode(text));
  }
  end(): void {
    void this.#writer.close();
  }
  break(): void {
    void this.#writer.abort(new TypeError("network error")).catch(() => undefined);
  }
}

let jobs: Job[];
/** What each connection gives; and after which event it was asked for. */
let streams: (Stream | 204)[];
let after: (string | null)[];
let connections: AbortSignal[];
/** Whether each was asked to stay, with the run that it was for. */
let asked: string[];
let client: WorkerClient;
let follower: WorkerFollower;
let leave: () => void;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  [jobs, streams, after, connections, asked] = [[], [], [], [], []];
  client = fake<WorkerClient>({
    servesPage: () => true,
    files: vi.fn(async () => FILES),
    device: async () => ({ device: "cpu" as const, message: "slow" }),
    simulator: async () => null,
    jobs: vi.fn(async () => jobs),
    events: async (id, last, stays, signal) => {
      asked.push(`${id} ${stays ? "stays" : "ends"}`);
      after.push(last);
      connections.push(signal);
      const stream = streams.shift();
      if (stream === undefined) throw new TypeError("fetch failed");
      if (stream === 204) return new Response(null, { status: 204 });
      // A connection that is given up ends what reads it.
      signal.addEventListener("abort", () => stream.break());
      return stream.answer;
    },
  });
  follower = new WorkerFollower(client);
  leave = () => undefined;
});
afterEach(() => {
  leave();
  vi.useRealTimers();
  useRuns.setState(useRuns.getInitialState());
});

const run = () => getRuns().runs[ID]!;
/** Lets what waits for timers go on, and looks again until the check holds. */
const soon = (check: () => void): Promise<void> =>
  until(() => {
    vi.advanceTimersByTime(100);
    check();
  });

it("lists training jobs as runs, and of scoring jobs those that go on", async () => {
  streams = [204];
  jobs = [job("done", { ended_at: AT }), scoring("score-1", "running"), scoring("score-2", "done")];
  leave = follower.follow();
  await soon(() =>
    expect(run()).toMatchObject({ title: "first", where: "worker", state: "done", ended: AT }),
  );
  expect(getRuns().worker).toMatchObject({
    ...{ status: "there", problem: null, device: "slow", files: FILES },
    scoreJobs: [{ id: "score-1", title: "score-1", state: "running" }],
  });
  await soon(() => expect(run().stream).toBe("closed"));
});

it("takes a run's events as they come; while they do, its state is theirs and not the list's", async () => {
  const stream = new Stream();
  streams = [stream];
  jobs = [job("queued")];
  leave = follower.follow();
  await soon(() => expect(run().stream).toBe("live"));
  stream.send("state", { state: "running", message: null });
  await soon(() => expect(run().state).toBe("running"));
  await follower.refresh();
  expect(run().state).toBe("running");
  stream.send("progress", { type: "checkpoint", step: 3 });
  stream.send("state", { state: "done", message: "all steps" });
  stream.end();
  jobs = [job("done", { ended_at: AT })];
  await soon(() => expect(run()).toMatchObject({ state: "done", message: "all steps", stream: "closed" }));
  expect(run().events).toMatchObject([{ type: "checkpoint", step: 3 }]);
  expect(after).toEqual([null]);
});

it("asks a broken stream for what is missing, and marks the gap", async () => {
  const [first, second] = [new Stream(), new Stream()];
  streams = [first];
  follower.takeJob(job("running"));
  await until(() => expect(after).toHaveLength(1));
  first.send("progress", { type: "checkpoint", step: 1 });
  await soon(() => expect(run().events).toHaveLength(1));
  first.break();
  await until(() => expect(run().stream).toBe("lost"));
  // The worker is still away at the next try.
  await vi.advanceTimersByTimeAsync(1500);
  await until(() => expect(after).toHaveLength(2));
  streams = [second];
  await vi.advanceTimersByTimeAsync(1500);
  await soon(() => expect(run().stream).toBe("live"));
  second.send("state", { state: "done", message: null });
  second.end();
  await soon(() => expect(run().stream).toBe("closed"));
  expect(after).toEqual([null, "1", "1"]);
  expect(run().events).toHaveLength(1);
  expect(run().figures.marks).toEqual([
    { step: 0, kind: "gap", text: expect.stringMatching(/^not connected .* UTC/), at: null },
  ]);
});

it("gives up a stream that says nothing for 45 s", async () => {
  streams = [new Stream()];
  follower.takeJob(job("running"));
  await until(() => expect(after).toHaveLength(1));
  await vi.advanceTimersByTimeAsync(44_000);
  expect(run().stream).toBe("live");
  await vi.advanceTimersByTimeAsync(1000);
  await until(() => expect(run().stream).toBe("lost"));
  leave = follower.follow();
});

it("a run that goes on before its stream has ended is followed once, and stays live", async () => {
  const first = new Stream();
  streams = [first, new Stream()];
  follower.takeJob(job("running"));
  await until(() => expect(connections).toHaveLength(1));
  first.send("state", { state: "failed", message: "no device" });
  await soon(() => expect(run().state).toBe("failed"));
  follower.takeJob(job("queued"));
  await until(() => expect(connections).toHaveLength(2));
  expect(connections.map(({ aborted }) => aborted)).toEqual([true, false]);
  await vi.advanceTimersByTimeAsync(3000);
  expect(run()).toMatchObject({ state: "queued", stream: "live" });
  expect(connections).toHaveLength(2);
});

it("follows a run again that went on after its end, from its first event", async () => {
  streams = [204];
  follower.takeJob(job("failed", { message: "no device" }));
  await soon(() => expect(run()).toMatchObject({ state: "failed", stream: "closed" }));
  const again = new Stream();
  streams = [again];
  follower.takeJob(job("queued"));
  await soon(() => expect(run()).toMatchObject({ state: "queued", stream: "live" }));
  again.send("state", { state: "done", message: null });
  again.end();
  await soon(() => expect(run()).toMatchObject({ state: "done", stream: "closed" }));
  expect(after).toEqual([null, null]);
});

/** As many jobs as a list has. */
const full = Array.from({ length: 200 }, (_, n) =>
  job("done", { id: `train-${String(n).padStart(12, "0")}`, ended_at: AT }),
);

it("a run that the worker does not list any more is gone; where the list is full it may be further down", async () => {
  putRun(newRun({ id: ID, where: "worker", title: "", config: {}, state: "done" }));
  putRun(newRun({ id: "page-1", where: "page", title: "", config: {} }));
  jobs = full;
  streams = full.map(() => 204);
  await follower.refresh();
  expect(run()).toBeDefined();
  await soon(() => expect(after).toHaveLength(200));
  jobs = full.slice(1);
  await follower.refresh();
  expect(run()).toBeUndefined();
  expect(getRuns().runs["page-1"]).toBeDefined();
});

it("the stream of a run that is gone from the list is given up", async () => {
  streams = [new Stream()];
  follower.takeJob(job("running"));
  await until(() => expect(connections).toHaveLength(1));
  await follower.refresh();
  expect(run()).toBeUndefined();
  expect(connections[0]!.aborted).toBe(true);
  await until(() => expect(vi.getTimerCount()).toBe(0));
});

it("a worker that is gone is lost without a word, one that answers nonsense with the reason", async () => {
  vi.mocked(client.jobs).mockRejectedValue(new WorkerAway());
  await follower.refresh();
  expect(getRuns().worker).toMatchObject({ status: "lost", problem: null });
  vi.mocked(client.jobs).mockRejectedValue(new InputError("jobs[0].state: expected …"));
  await follower.refresh();
  expect(getRuns().worker).toMatchObject({ status: "lost", problem: "jobs[0].state: expected …" });
  // It is asked for everything again once it is back: it may be another one.
  vi.mocked(client.jobs).mockResolvedValue([]);
  await follower.refresh();
  expect(getRuns().worker.status).toBe("there");
  expect(client.files).toHaveBeenCalledTimes(3);
});

it("once it is left, nothing is asked and no stream goes on", async () => {
  streams = [new Stream()];
  jobs = [job("running")];
  leave = follower.follow();
  await soon(() => expect(run().stream).toBe("live"));
  leave();
  await vi.advanceTimersByTimeAsync(60_000);
  await until(() => expect(vi.getTimerCount()).toBe(0));
  expect([vi.mocked(client.jobs).mock.calls.length, after.length]).toEqual([1, 1]);
});

it("a run that ended while the list was on its way is not as the list says; one that was taken away stays away", async () => {
  const listed = new Pending<Job[]>();
  vi.mocked(client.jobs).mockImplementationOnce(() => listed.promise);
  putRun(newRun({ id: ID, where: "worker", title: "", config: {}, state: "running" }));
  putRun(newRun({ id: "train-2", where: "worker", title: "", config: {}, state: "done" }));
  const reading = follower.refresh();
  await until(() => expect(client.jobs).toHaveBeenCalledOnce());
  putRun({ ...run(), state: "done" });
  dropRun("train-2");
  listed.resolve([job("running"), job("done", { id: "train-2", ended_at: AT })]);
  await reading;
  expect(Object.values(getRuns().runs).map(({ id, state }) => [id, state])).toEqual([[ID, "done"]]);
});

it("a run that was submitted while the list was on its way stays", async () => {
  const listed = new Pending<Job[]>();
  vi.mocked(client.jobs).mockImplementationOnce(() => listed.promise);
  const reading = follower.refresh();
  await until(() => expect(client.jobs).toHaveBeenCalledOnce());
  streams = [new Stream()];
  follower.takeJob(job("running"));
  listed.resolve([]);
  await reading;
  expect(run()).toMatchObject({ state: "running", stream: "live" });
  await follower.refresh();
  expect(run()).toBeUndefined();
});

it("a run that goes on while its broken stream waits to be asked again is followed once, and stays live", async () => {
  const [first, second] = [new Stream(), new Stream()];
  streams = [first];
  follower.takeJob(job("running"));
  await until(() => expect(after).toHaveLength(1));
  first.send("state", { state: "failed", message: "no device" });
  await soon(() => expect(run().state).toBe("failed"));
  first.break();
  await until(() => expect(run().stream).toBe("lost"));
  streams = [second];
  follower.takeJob(job("queued"));
  await soon(() => expect(run()).toMatchObject({ state: "queued", stream: "live" }));
  await vi.advanceTimersByTimeAsync(1500);
  expect(run().stream).toBe("live");
  expect(after).toEqual([null, null]);
});

describe("of many runs that go on", () => {
  const named = (id: string, state: JobState, last = 1): Job => job(state, { id, last_event: last });
  const state = (id: string) => getRuns().runs[id]?.state;

  /** The worker's next answer, which does not stay. */
  function answers(event: "state" | "progress", data: object, id = 1): void {
    const stream = new Stream(id - 1);
    stream.send(event, data);
    stream.end();
    streams.push(stream);
  }

  it("one has a connection that stays; others are read where the list has more of them", async () => {
    const others = ["b", "c", "d", "e", "f", "g"];
    const live = new Stream();
    streams = [live];
    for (const _ of others) answers("state", { state: "running", message: null });
    jobs = ["a", ...others].map((id) => named(id, "starting"));
    leave = follower.follow();
    await soon(() => expect(others.map(state)).toEqual(others.map(() => "running")));
    expect(asked).toEqual(["a stays", ...others.map((id) => `${id} ends`)]);
    // One has gone on, and one has ended.
    answers("progress", { type: "checkpoint", step: 1 }, 2);
    answers("state", { state: "done", message: null }, 2);
    jobs = [named("a", "running", 2), ...others.map((id) => named(id, "running", "ce".includes(id) ? 2 : 1))];
    await soon(() => expect(getRuns().runs.e).toMatchObject({ state: "done", stream: "closed" }));
    expect(asked.slice(7)).toEqual(["c ends", "e ends"]);
    expect(after.slice(7)).toEqual(["1", "1"]);
    expect(getRuns().runs.c!.events).toHaveLength(1);
    // The next takes the place of the one that ends.
    streams = [new Stream()];
    jobs = others.filter((id) => id !== "e").map((id) => named(id, "running", id === "c" ? 2 : 1));
    live.send("state", { state: "done", message: null });
    live.end();
    await soon(() => expect(asked.at(-1)).toBe("b stays"));
    expect(asked).toHaveLength(10);
  });

  it("one that waits gives way to one that runs", async () => {
    streams = [new Stream(), new Stream()];
    follower.takeJob(named("a", "queued"));
    follower.takeJob(named("b", "running"));
    await until(() => expect(asked).toEqual(["a stays", "b stays"]));
    expect(connections.map(({ aborted }) => aborted)).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(3000);
    expect([asked.length, getRuns().runs.a!.stream]).toEqual([2, "live"]);
  });

  it("one that is further down than the list goes is read all the same", async () => {
    streams = [new Stream()];
    answers("state", { state: "running", message: null });
    jobs = [named("a", "running"), named("b", "running")];
    leave = follower.follow();
    await soon(() => expect(asked).toEqual(["a stays", "b ends"]));
    streams.push(...full.map(() => 204 as const));
    answers("state", { state: "done", message: null }, 2);
    jobs = full;
    await soon(() => expect(getRuns().runs.b).toMatchObject({ state: "done", stream: "closed" }));
    expect(getRuns().runs.a).toMatchObject({ state: "running", stream: "live" });
  });

  it("those without one are lost with the list, and the gap is marked", async () => {
    streams = [new Stream()];
    answers("state", { state: "running", message: null });
    jobs = [named("a", "running"), named("b", "starting")];
    leave = follower.follow();
    await soon(() => expect(state("b")).toBe("running"));
    vi.mocked(client.jobs).mockRejectedValueOnce(new TypeError("fetch failed"));
    answers("progress", { type: "checkpoint", step: 1 }, 2);
    await soon(() => expect(getRuns().runs.b!.stream).toBe("lost"));
    expect(getRuns().runs.a!.stream).toBe("live");
    await soon(() => expect(getRuns().runs.b).toMatchObject({ stream: "live", events: [{ step: 1 }] }));
    expect(getRuns().runs.b!.figures.marks).toMatchObject([{ kind: "gap" }]);
  });
});
