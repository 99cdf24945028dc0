/** What the worker's tests share: a worker on a temporary folder with the fake command line, and ways to ask it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PACKAGE } from "../../node/package-root.ts";
import type { Job } from "../../protocol/job.ts";
import type { JobState } from "../../protocol/job-state.ts";
import { DeviceProbe } from "../device/probe.ts";
import { createWorker, LocalLauncher, type Worker, type WorkerOptions } from "../index.ts";

export const FAKE_CLI = join(PACKAGE.root, "src/worker/testing/fake-cli.mjs");

export interface ServerEvent {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

export class Harness {
  readonly folder = mkdtempSync(join(tmpdir(), "gcopd-worker-"));
  readonly pageDir = join(this.folder, "page");
  readonly dataDir = join(this.folder, "data");
  worker: Worker | null = null;
  url = "";
  token = "";
  #configs = 0;

  constructor() {
    mkdirSync(join(this.pageDir, "assets"), { recursive: true });
    mkdirSync(join(this.pageDir, "sample"), { recursive: true });
    writeFileSync(
      join(this.pageDir, "index.html"),
      "<!doctype html><html><head><title>t</title></head></html>",
    );
    writeFileSync(join(this.pageDir, "assets/index-abc.js"), `console.log("${"x".repeat(3000)}");\n`);
    writeFileSync(join(this.pageDir, "sample/model.safetensors"), Buffer.from([...Array(256).keys()]));
    writeFileSync(join(this.pageDir, "sample/sources.jsonl"), `${JSON.stringify({ a: "y".repeat(3000) })}\n`);
    writeFileSync(join(this.folder, "secret.txt"), "secret");
  }

  async start(options: WorkerOptions = {}): Promise<void> {
    this.worker = await createWorker({
      port: 0,
      pageDir: this.pageDir,
      dataDir: this.dataDir,
      launcher: new LocalLauncher({ cli: FAKE_CLI, graceMs: 400, pollMs: 20 }),
      probe: new DeviceProbe({ script: join(this.folder, "no-such-script.mjs") }),
      ...options,
    });
    this.use(this.worker);
  }

  use(worker: { url: string; token: string }): void {
    this.url = worker.url.replace(/\/$/, "");
    this.token = worker.token;
  }

  async stop(): Promise<void> {
    await this.worker?.close();
    this.worker = null;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * A training config, with what the fake command line does in place of its episodes; `hold` is a file in the way of
   * step `holdAt`.
   *
   * @param more keys of the config
   */
  config(
    settings: { steps: number; holdAt?: number; [key: string]: unknown },
    more: Record<string, unknown> = {},
  ): { path: string; hold: string } {
    this.#configs += 1;
    const path = join(this.folder, `config-${this.#configs}.json`);
    const hold = join(this.folder, `hold-${this.#configs}`);
    writeFileSync(hold, "");
    const episodes = `config-${this.#configs}.fake`;
    const inputs = { episodes, teacher: "page", student: "page" };
    writeFileSync(path, JSON.stringify({ method: "opd", ...inputs, ...more }));
    writeFileSync(join(this.folder, episodes), JSON.stringify({ ...settings, hold }));
    return { path, hold };
  }

  release(hold: string): void {
    rmSync(hold);
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.token}`, ...(init.headers as Record<string, string>) };
    return fetch(`${this.url}${path}`, { ...init, headers });
  }

  /**
   * A request with any headers: `fetch` does not let Host or Origin be set, nor leaves `..` in paths.
   *
   * @param agent keeps connections; by default each request has one of its own, which the worker cannot have just closed
   */
  raw(
    path: string,
    headers: Record<string, string> = {},
    method = "GET",
    { body, agent = false }: { body?: string; agent?: Agent | false } = {},
  ): Promise<RawAnswer> {
    const { hostname, port } = new URL(this.url);
    return new Promise((resolve, reject) => {
      const sent = request({ hostname, port, path, method, headers, agent }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () =>
          resolve({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(chunks) }),
        );
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** A request on a connection of its own: one that `fetch` kept may have been closed by the worker meanwhile. */
  async post(path: string, body?: unknown): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.token}` };
    const answer = await (body === undefined
      ? this.raw(path, headers, "POST")
      : this.raw(path, { ...headers, "Content-Type": "application/json" }, "POST", {
          body: JSON.stringify(body),
        }));
    const { status, body: bytes } = answer;
    const fields = Object.entries(answer.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
      status,
      headers: fields,
    });
  }

  async train(config: string, more: Record<string, unknown> = {}): Promise<Job> {
    const answer = await this.post("/api/jobs", { kind: "train", config, ...more });
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Job;
  }

  async job(id: string): Promise<Job> {
    return (await (await this.fetch(`/api/jobs/${id}`)).json()) as Job;
  }

  async until(id: string, state: JobState, limitMs = 800_000): Promise<Job> {
    return this.untilJob(id, (job) => job.state === state, limitMs);
  }

  async untilJob(id: string, holds: (job: Job) => boolean, limitMs = 800_000): Promise<Job> {
    for (const start = Date.now(); ; await sleep(20)) {
      const job = await this.job(id);
      if (holds(job)) return job;
      if (Date.now() - start > limitMs) throw new Error(`waited too long; the job is ${JSON.stringify(job)}`);
    }
  }

  /** Reads a job's event stream to its end, or until `enough`. */
  async events(
    id: string,
    lastEventId?: number,
    enough?: (event: ServerEvent) => boolean,
    query = "",
  ): Promise<ServerEvent[]> {
    const headers: Record<string, string> = {};
    if (lastEventId !== undefined) headers["Last-Event-ID"] = String(lastEventId);
    const answer = await this.fetch(`/api/jobs/${id}/events${query}`, { headers });
    if (answer.status === 204) return [];
    const events: ServerEvent[] = [];
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of answer.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        if (field("data") === undefined) continue;
        const event = {
          id: Number(field("id")),
          event: field("event")!,
          data: JSON.parse(field("data")!) as Record<string, unknown>,
        };
        events.push(event);
        if (enough?.(event)) return events;
      }
    }
    return events;
  }
}

/** States that a job went through, in order. */
export function states(events: readonly ServerEvent[]): unknown[] {
  return events.filter((event) => event.event === "state").map((event) => event.data.state);
}
