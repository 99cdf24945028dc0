/** Plans start processes: how many at once, and what becomes of the others. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { OpenAPIHono } from "@hono/zod-openapi";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DeviceProbe } from "../device/probe.ts";
import { answerError } from "../http/errors.ts";
import { LocalLauncher } from "../job/local-launcher.ts";
import { JobQueue } from "../job/queue.ts";
import { JobStore } from "../job/store.ts";
import { planRoutes } from "./plan.ts";

let folder: string;
let store: JobStore;
let app: OpenAPIHono;
const at = (name: string) => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "gcopd-plans-"));
  for (const name of ["model", "jobs"]) mkdirSync(at(name));
  for (const name of ["records.jsonl", "starts", "hold"]) writeFileSync(at(name), "");
  const plan = {
    ...{ total: 1, items: [], device: { kind: "cpu", adapter: null }, problem: null },
    work: {
      ...{ episodes: 1, decisions: 1, epochs: 1, steps: 1 },
      ...{ teacher_tokens: null, student_tokens: null, response_tokens: null },
    },
  };
  writeFileSync(
    at("cli.mjs"),
    `import { appendFileSync, existsSync } from "node:fs";
     appendFileSync(${JSON.stringify(at("starts"))}, "begins\\n");
     while (existsSync(${JSON.stringify(at("hold"))})) await new Promise((go) => setTimeout(go, 5));
     appendFileSync(${JSON.stringify(at("starts"))}, "ends\\n");
     console.log(${JSON.stringify(JSON.stringify(plan))});`,
  );
  store = new JobStore(at("jobs.sqlite"));
  app = new OpenAPIHono();
  app.onError(answerError);
  planRoutes(app, new JobQueue({ store, launcher: new LocalLauncher(), folder: at("jobs") }), at("cli.mjs"));
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const starts = () => readFileSync(at("starts"), "utf8");

function ask(signal?: AbortSignal): Promise<Response> {
  const records = at("records.jsonl");
  const config = { library: records, episodes: records, teacher: at("model"), student: at("model") };
  const headers = { "Content-Type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify({ config }), signal };
  return Promise.resolve(app.request("/api/plan", request));
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

it("makes one plan at a time, lets eight wait, and refuses the rest", async () => {
  const asked = Array.from({ length: 20 }, () => ask());
  let refused = 0;
  for (const answer of asked)
    void answer.then(({ status }) => {
      if (status === 503) refused += 1;
    });
  await until(() => refused === 11 && starts() !== "");
  expect(starts()).toBe("begins\n");
  rmSync(at("hold"));
  const answers = await Promise.all(asked);
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(9).fill(200), ...Array(11).fill(503)]);
  const no = answers.find(({ status }) => status === 503)!;
  expect(await no.json()).toEqual({ error: "9 plans are under way or wait: try again later" });
  expect(starts()).toBe("begins\nends\n".repeat(9));
});

it("leaves the line when the client does", async () => {
  const first = ask();
  await until(() => starts() !== "");
  const leaving = new AbortController();
  const left = ask(leaving.signal);
  const last = ask();
  leaving.abort();
  expect((await left).status).not.toBe(200);
  rmSync(at("hold"));
  expect([(await first).status, (await last).status]).toEqual([200, 200]);
  expect(starts()).toBe("begins\nends\n".repeat(2));
});

it("looks at the device once for all who ask meanwhile", async () => {
  const probe = new DeviceProbe({ script: at("cli.mjs") });
  const looks = Array.from({ length: 20 }, () => probe.report(true));
  await until(() => starts() !== "");
  looks.push(probe.report(true), probe.report());
  rmSync(at("hold"));
  expect(new Set(await Promise.all(looks)).size).toBe(1);
  expect(starts()).toBe("begins\nends\n");
  await probe.report(true);
  expect(starts()).toBe("begins\nends\n".repeat(2));
  expect(existsSync(at("hold"))).toBe(false);
});
