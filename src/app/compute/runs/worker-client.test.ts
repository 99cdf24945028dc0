import { beforeEach, describe, expect, it, vi } from "vitest";
import { fake } from "../../../../test/support/fake.ts";
import fc from "../../../../test/support/property.ts";
import { InputError } from "../../../core/errors.ts";
import { WorkerAway } from "../../data/files/read-answer.ts";
import { WorkerClient } from "./worker-client.ts";

const JOB = {
  id: "train-00000000000a",
  state: "running",
  request: { kind: "train", config: { method: "gc-opd" }, title: "first", resume: "auto" },
  command: ["gcopd", "train"],
  attempt: 1,
  message: null,
  created_at: "2026-01-02T03:04:05.678Z",
  ended_at: null,
  last_event: 1,
};
const CALL = { sequences: 1, tokens: 453, seconds: 1.9 };
const PLAN = {
  total: 9,
  items: [{ name: "student", part: "weights", bytes: 9 }],
  work: {
    episodes: 1,
    decisions: 2,
    epochs: 3,
    steps: 4,
    teacher_tokens: 5,
    student_tokens: 6,
    response_tokens: null,
  },
  device: { kind: "cpu", adapter: null },
  problem: null,
  time: { low: 1, high: 2, preparing: 0, teacher: [CALL], student: [CALL] },
};
const FILES = { jobs: "/d/jobs", shared: null, program: ["node"], environment: { A: "b" }, sample: null };
const { id } = JOB;
const { signal } = new AbortController();

let answered: { status: number; body: string };
let sent: { address: string; init: RequestInit }[];
const worker = new WorkerClient({
  readToken: () => "the token",
  fetch: async (address, init) => {
    sent.push({ address, init });
    return new Response(answered.body, { status: answered.status });
  },
});
beforeEach(() => {
  sent = [];
});

const inputError = (message: string) => ({ name: "InputError", message });
const answer = (value: unknown, status = 200): void => {
  answered = { status, body: typeof value === "string" ? value : JSON.stringify(value) };
};

/** Each question whose answer is read: its route, an answer, and one that is wrong at one key. */
const QUESTIONS: readonly [string, () => Promise<unknown>, unknown, unknown, string][] = [
  [
    "GET /api/files",
    worker.files,
    FILES,
    { ...FILES, program: "node" },
    "program: expected array, received string",
  ],
  [
    "GET /api/device",
    worker.device,
    { device: "cpu", message: "slow" },
    { device: "tpu", message: "" },
    'device: expected "webgpu" or "cpu", received "tpu"',
  ],
  [
    "GET /api/jobs",
    worker.jobs,
    { jobs: [JOB] },
    { jobs: [JOB, { ...JOB, state: "asleep" }] },
    'jobs[1].state: expected "queued" or "starting" or "running" or "cancelling" or "cancelled" or "failed" or "lost" ' +
      'or "done", received "asleep"',
  ],
  [
    "POST /api/plan",
    () => worker.plan({}, true, signal),
    PLAN,
    { ...PLAN, work: { ...PLAN.work, steps: null } },
    "work.steps: expected number, received null",
  ],
  [
    "POST /api/jobs",
    () => worker.submit({ kind: "train", config: {} }),
    JOB,
    { ...JOB, command: undefined },
    "command: missing; expected array",
  ],
  [
    `POST /api/jobs/${id}/stop`,
    () => worker.act(id, "stop"),
    JOB,
    { ...JOB, id: 7 },
    "id: expected string, received number",
  ],
  [
    `PATCH /api/jobs/${id}`,
    () => worker.rename(id, "second"),
    JOB,
    { ...JOB, request: { ...JOB.request, title: 2 } },
    "request.title: expected string, received number",
  ],
  [
    `PUT /api/jobs/${id}/inputs`,
    () => worker.input(id, "a.jsonl", new Blob(["{}"])),
    { path: "/d/a.jsonl", bytes: 2 },
    { bytes: 2 },
    "path: missing; expected string",
  ],
  [
    `GET /api/jobs/${id}/results`,
    () => worker.results({ id, where: "worker" }),
    { folder: "/d/out", files: [{ path: "a", bytes: 2 }] },
    { folder: "/d/out", files: [{ path: "a", bytes: -1 }] },
    "files[0].bytes: expected at least 0, received -1",
  ],
];

describe("answers of the worker", () => {
  it.each(QUESTIONS)("%s is read, asked with the token", async (route, ask, right) => {
    answer(right);
    await expect(ask()).resolves.toBeDefined();
    expect(sent).toHaveLength(1);
    const { address, init } = sent[0]!;
    expect(`${init.method ?? "GET"} ${address.replace(/^\./, "").split("?")[0]}`).toBe(route);
    expect(new Headers(init.headers).get("Authorization")).toBe("Bearer the token");
  });

  it.each(QUESTIONS)(
    "%s in another form is one error that names route and key",
    async (route, ask, _, wrong, what) => {
      answer(wrong);
      await expect(ask()).rejects.toMatchObject(
        inputError(`${route}, ${what}: is the worker of another version?`),
      );
      answer("<!doctype html>");
      await expect(ask()).rejects.toMatchObject(
        inputError(`${route}: expected an answer in JSON: is the worker of another version?`),
      );
      answer(3);
      await expect(ask()).rejects.toThrow(`${route}: expected object, received number`);
    },
  );

  it("are an InputError or of the form, whatever comes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...QUESTIONS), fc.json(), async ([route, ask], body) => {
        answer(body);
        await ask().catch((error: unknown) => {
          expect(error).toBeInstanceOf(InputError);
          expect(String(error)).toContain(route);
        });
      }),
    );
  });

  it("keep what a newer worker tells beside them to themselves", async () => {
    answer({ ...FILES, colour: "blue" });
    expect(await worker.files()).toEqual(FILES);
  });
});

describe("a refusal", () => {
  it("is the worker's own line", async () => {
    answer({ error: "job x: there is no such job" }, 404);
    await expect(worker.results({ id: "x", where: "worker" })).rejects.toMatchObject(
      inputError("job x: there is no such job"),
    );
  });

  it.each(["", "<html>", "[]", "null", '{"error":3}'])(
    "that is not its own (%s) is its status",
    async (body) => {
      answer(body, 502);
      await expect(worker.jobs()).rejects.toMatchObject(inputError("GET /api/jobs: the worker answered 502"));
    },
  );
});

const clientOf = (fetch: () => Promise<Response>) => new WorkerClient({ readToken: () => "t", fetch });

it("a file that changed since it was opened is told as one, and not as a worker that is away", async () => {
  const gone = new Blob(["x"]);
  vi.spyOn(gone, "slice").mockReturnValue(
    fake<Blob>({ arrayBuffer: () => Promise.reject(new DOMException("changed", "NotReadableError")) }),
  );
  const client = clientOf(() => Promise.reject(new TypeError("Failed to fetch")));
  const message = "student/a: cannot be read any more: open it again";
  await expect(client.input("train-1", "student/a", gone)).rejects.toMatchObject(inputError(message));
  await expect(client.input("train-1", "student/a", new Blob(["x"]))).rejects.toThrow(WorkerAway);
});

describe("a worker that is away", () => {
  const away = { ...inputError(new WorkerAway().message), constructor: WorkerAway };
  /** An answer whose body ends with a fault after its first byte. */
  const broken = (fault: Error, status = 200) =>
    new Response(
      new ReadableStream({
        start: (body) => body.enqueue(new Uint8Array([123])),
        pull: (body) => body.error(fault),
      }),
      { status },
    );
  const stopped = new DOMException("stopped", "AbortError");
  const run = { id, where: "worker" } as const;

  it("is one line, and a request that was stopped is not", async () => {
    await expect(
      clientOf(() => Promise.reject(new TypeError("Failed to fetch"))).jobs(),
    ).rejects.toMatchObject(away);
    await expect(clientOf(() => Promise.reject(stopped)).jobs()).rejects.toBe(stopped);
  });

  it("is the same line where it goes while its answer, its refusal or a file is read", async () => {
    const fault = new TypeError("network error");
    const cut = clientOf(async () => broken(fault));
    await expect(cut.jobs()).rejects.toMatchObject(away);
    await expect(cut.file(run, "a")).rejects.toMatchObject(away);
    await expect(cut.log(run)).rejects.toMatchObject(away);
    await expect(clientOf(async () => broken(fault, 400)).jobs()).rejects.toMatchObject(away);
    await expect(clientOf(async () => broken(stopped)).file(run, "a")).rejects.toBe(stopped);
  });

  it("is the same line where it goes before the token is read again", async () => {
    const answers = [
      async () => new Response("{}", { status: 401 }),
      () => Promise.reject(new TypeError("gone")),
    ];
    await expect(clientOf(() => answers.shift()!()).jobs()).rejects.toMatchObject(away);
  });
});

it("resumes a job as it was, or within other memory and hours", async () => {
  answer(JOB, 202);
  await worker.resume(id);
  await worker.resume(id, { memory_limit_gib: 2.5, hours: 12 });
  expect(sent.map(({ address }) => address)).toEqual(Array(2).fill(`./api/jobs/${id}/resume`));
  expect(sent.map(({ init: { method, body } }) => [method, body])).toEqual([
    ["POST", undefined],
    ["POST", '{"memory_limit_gib":2.5,"hours":12}'],
  ]);
});

describe("the token", () => {
  const page = (token: string): string => `<head><meta name="gcopd-token" content="${token}" /></head>`;

  /** A worker whose token is `token()` now, as its index says it; and what it was asked, under which token. */
  function workerWith(token: () => string, index = () => page(token())) {
    const asked: string[] = [];
    const client = new WorkerClient({
      readToken: () => "first",
      fetch: async (address, { headers, method }) => {
        if (address === "./") {
          asked.push("index");
          return new Response(index());
        }
        const given = new Headers(headers).get("Authorization")?.replace("Bearer ", "") ?? "";
        asked.push(`${method} ${given}`);
        const isRight = given === token();
        return new Response(JSON.stringify(isRight ? JOB : { error: "not the token" }), {
          status: isRight ? 200 : 401,
        });
      },
    });
    return { client, asked };
  }

  it("is read again once the worker has another one, and what was asked is asked again", async () => {
    let token = "first";
    const { client, asked } = workerWith(() => token);
    await client.act("x", "stop");
    token = "second";
    await expect(client.act("x", "stop")).resolves.toMatchObject({ id });
    await client.act("x", "stop");
    expect(asked).toEqual(["POST first", "POST first", "index", "POST second", "POST second"]);
  });

  it("is read again by each of several questions that were refused at once", async () => {
    let token = "first";
    const { client, asked } = workerWith(() => token);
    await client.act("x", "stop");
    token = "second";
    await expect(Promise.all([client.act("x", "stop"), client.act("x", "cancel")])).resolves.toHaveLength(2);
    expect(asked.filter((each) => each === "POST second")).toHaveLength(2);
  });

  it.each([
    ["the same token", page("first"), 1],
    ["no token", "<head></head>", 1],
    ["another that is wrong too", page("third"), 2],
  ])("is read again once for each refusal, which is told where the index has %s", async (_, index, times) => {
    const { client, asked } = workerWith(
      () => "second",
      () => index,
    );
    await expect(client.act("x", "stop")).rejects.toMatchObject(inputError("not the token"));
    expect(asked.filter((each) => each === "index")).toHaveLength(1);
    expect(asked.filter((each) => each.startsWith("POST"))).toHaveLength(times);
  });

  it("of a page that no worker serves is looked for again; nothing is sent", async () => {
    let token: string | null = null;
    const client = new WorkerClient({
      readToken: () => token,
      fetch: () => Promise.reject(new Error("sent")),
    });
    expect(client.servesPage()).toBe(false);
    await expect(client.jobs()).rejects.toMatchObject(
      inputError("no worker serves this page: start it with `npm start`"),
    );
    token = "the token";
    expect(client.servesPage()).toBe(true);
  });
});
