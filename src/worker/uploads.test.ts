/** Uploads over HTTP: several at once, ones that end late, names that clash, and clients that stop sending. */
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Harness } from "./testing/harness.ts";

const ID = "train-0123456789ab";
let harness: Harness;
const open: { destroy(): unknown }[] = [];
beforeEach(() => {
  harness = new Harness();
  mkdirSync(inputs(), { recursive: true });
});
afterEach(async () => {
  for (const connection of open.splice(0)) connection.destroy();
  await harness.remove();
});

const inputs = () => join(harness.dataDir, "jobs", ID, "in");
const stored = (path: string) => readFileSync(join(inputs(), path), "utf8");
const whole = async (path: string, body: string) =>
  (await harness.fetch(`/api/jobs/${ID}/inputs?path=${path}`, { method: "PUT", body })).status;

/** A request whose body is sent piece by piece. */
class Sending {
  readonly #request: ClientRequest;
  readonly answer: Promise<{ status: number; body: string }>;

  constructor(method: string, path: string) {
    const headers = { Authorization: `Bearer ${harness.token}`, "Content-Type": "application/json" };
    this.#request = request(`${harness.url}${path}`, { method, headers });
    open.push(this.#request);
    this.answer = new Promise<IncomingMessage>((resolve, reject) => {
      this.#request.on("response", resolve).on("error", reject);
    }).then(async (answer) => {
      let body = "";
      for await (const piece of answer) body += String(piece);
      return { status: answer.statusCode ?? 0, body };
    });
  }

  write(text: string): this {
    this.#request.write(text);
    return this;
  }

  end(text: string): Promise<{ status: number; body: string }> {
    this.#request.end(text);
    return this.answer;
  }
}

/** An upload that has begun: its first piece has reached the disk under some name. */
async function begin(path: string, first: string): Promise<Sending> {
  const before = readdirSync(inputs()).length;
  const sending = new Sending("PUT", `/api/jobs/${ID}/inputs?path=${path}`).write(first);
  await expect.poll(() => readdirSync(inputs()).length).toBe(before + 1);
  return sending;
}

describe("several uploads", () => {
  beforeEach(() => harness.start());

  it("of one name never mix: the one that is complete last stays", async () => {
    const first = await begin("a.jsonl", "first, ");
    const second = await begin("a.jsonl", "second, ");
    expect(await second.end("which is the longer one")).toMatchObject({ status: 201 });
    expect(stored("a.jsonl")).toBe("second, which is the longer one");
    const { status, body } = await first.end("the end");
    expect([status, JSON.parse(body)]).toEqual([201, { path: join(inputs(), "a.jsonl"), bytes: 14 }]);
    expect(stored("a.jsonl")).toBe("first, the end");
    expect(readdirSync(inputs())).toEqual(["a.jsonl"]);
  });

  it("that end after their job was submitted are refused and change nothing", async () => {
    expect(await whole("a.jsonl", "read by the job")).toBe(201);
    const late = await begin("a.jsonl", "too ");
    const later = await begin("b/c.jsonl", "too ");
    const { path, hold } = harness.config({ steps: 1, holdAt: 1 });
    await harness.train(path, { id: ID });
    for (const sending of [late, later]) {
      const { status, body } = await sending.end("late");
      expect([status, JSON.parse(body).error]).toEqual([
        409,
        `job ${ID}: it was submitted before this file was complete; the file is not kept`,
      ]);
    }
    expect(stored("a.jsonl")).toBe("read by the job");
    expect(readdirSync(inputs())).toEqual(["a.jsonl"]);
    harness.release(hold);
    await harness.until(ID, "done");
  });

  it("that end after their job was deleted are refused", async () => {
    const late = await begin("a.jsonl", "too ");
    await harness.train(harness.config({ steps: 1 }).path, { id: ID });
    await harness.until(ID, "done");
    expect((await harness.fetch(`/api/jobs/${ID}`, { method: "DELETE" })).status).toBe(204);
    const { status, body } = await late.end("late");
    expect([status, JSON.parse(body).error]).toEqual([
      409,
      "a.jsonl: its folder was deleted during the upload: send it again",
    ]);
  });

  it("cannot make one name both a file and a folder", async () => {
    expect(await whole("a", "file")).toBe(201);
    expect(await whole("b/c", "below a folder")).toBe(201);
    for (const [path, why] of [
      ["a/b", "a/b: a was sent as a file before"],
      ["b", "b: b was sent as a folder before"],
    ]) {
      const { status, body } = await new Sending("PUT", `/api/jobs/${ID}/inputs?path=${path}`).end("x");
      expect([path, status, JSON.parse(body).error]).toEqual([path, 409, why]);
    }
    const late = await begin("d/e", "below ");
    expect(await whole("d", "a file")).toBe(201);
    expect((await late.end("a file")).status).toBe(409);
    expect([stored("a"), stored("b/c"), stored("d")]).toEqual(["file", "below a folder", "a file"]);
    expect(readdirSync(inputs()).sort()).toEqual(["a", "b", "d"]);
  });
});

it("are removed at a start more than a day after the last of them, not after the first", async () => {
  const old = new Date(Date.now() - 48 * 3600 * 1000);
  const folderOf = (id: string) => join(harness.dataDir, "jobs", id);
  const unused = "train-aaaaaaaaaaaa";
  for (const id of [ID, unused]) {
    const names = ["", "in", "in/below", "in/below/a.jsonl", "in/b.jsonl"].map((name) =>
      join(folderOf(id), name),
    );
    mkdirSync(names[2]!, { recursive: true });
    for (const file of names.slice(3)) writeFileSync(file, "{}");
    for (const name of names) utimesSync(name, old, old);
  }
  // Sent just now, to a form that was opened two days ago.
  const sent = new Date();
  utimesSync(join(inputs(), "below/a.jsonl"), sent, sent);
  await harness.start();
  expect(readdirSync(join(harness.dataDir, "jobs"))).toEqual([ID]);
  expect(readdirSync(inputs())).toEqual(["b.jsonl", "below"]);
});

describe("time", () => {
  it("has no limit for an upload, and one for other bodies", async () => {
    await harness.start({ timeLimits: { bodyMs: 20 } });
    const upload = await begin("a.jsonl", "slow ");
    const late = await new Sending("POST", "/api/jobs").write('{"kind": ').answer;
    expect([late.status, JSON.parse(late.body)]).toEqual([
      408,
      { error: "the body took too long to arrive" },
    ]);
    expect((await upload.end("and steady")).status).toBe(201);
    expect(stored("a.jsonl")).toBe("slow and steady");
  });

  it("has a limit for the pauses of an upload", async () => {
    await harness.start({ timeLimits: { uploadIdleMs: 20 } });
    const upload = new Sending("PUT", `/api/jobs/${ID}/inputs?path=a.jsonl`).write("half of");
    const { status, body } = await upload.answer;
    expect([status, JSON.parse(body).error]).toEqual([
      408,
      "nothing arrived for 0.02 s: the upload was dropped",
    ]);
    expect(readdirSync(inputs())).toEqual([]);
  });

  it("has a limit for headers", async () => {
    await harness.start({ timeLimits: { headersMs: 20 } });
    const socket = connect(Number(new URL(harness.url).port), "127.0.0.1");
    open.push(socket);
    socket.write("GET / HTTP/1.1\r\n");
    let answer = "";
    for await (const piece of socket) answer += String(piece);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });
});
