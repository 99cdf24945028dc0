/** Who may ask, what is refused and how, and the OpenAPI document. */
import { writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVERYTHING, HOSTILE } from "../../test/support/hostile.ts";
import { InputError } from "../core/errors.ts";
import { PACKAGE } from "../node/package-root.ts";
import { DeviceProbe } from "./device/probe.ts";
import { createWorker, defaultDataDir } from "./index.ts";
import { Harness } from "./testing/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = new Harness();
  await harness.start();
});
afterAll(() => harness.remove());

/** A request as bytes, for what no client would send. */
function bytes(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port()), "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.on("data", (chunk) => {
      answer += String(chunk);
    });
    socket.on("end", () => resolve(answer));
    socket.on("error", reject);
  });
}

const raw = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  harness.raw(path, headers, method);
const bearer = () => ({ Authorization: `Bearer ${harness.token}` });
const port = () => new URL(harness.url).port;

describe("who may ask", () => {
  it.each([
    "/api/health",
    "/api/device",
    "/api/jobs",
    "/api/jobs/x",
    "/api/jobs/x/events",
    "/api/jobs/x/results",
    "/api/jobs/x/log",
    "/api/files",
    "/api/shared",
    "/api/none",
  ])("%s asks for the token", async (path) => {
    const wrong = [
      {},
      { Authorization: "Bearer" },
      { Authorization: `Bearer ${harness.token}x` },
      { Authorization: `Bearer ${harness.token.slice(1)}` },
      { Authorization: harness.token },
      { Authorization: `Basic ${harness.token}` },
      { Authorization: `Bearer ${harness.token} more` },
      { Authorization: `Bearer ${harness.token},Bearer ${harness.token}` },
      { Authorization: `Bearer\t${harness.token}` },
      { Authorization: 'Bearer "x"' },
      { Authorization: "Bearer \u00e9" },
    ];
    for (const headers of wrong) {
      const answer = await raw(path, headers as Record<string, string>);
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toMatch(/^Bearer /);
      expect(JSON.parse(answer.body.toString()).error).toMatch(/^Authorization: expected/);
    }
    expect([400, 401]).not.toContain((await raw(path, bearer())).status);
  });

  it("a request that changes something asks for the token before it looks at the body", async () => {
    expect((await raw("/api/jobs", { "Content-Type": "application/json" }, "POST")).status).toBe(401);
  });

  it("refuses what a browser says another site asked for", async () => {
    for (const site of ["cross-site", "same-site"])
      expect((await raw("/api/jobs", { ...bearer(), "Sec-Fetch-Site": site })).status).toBe(403);
    for (const site of ["same-origin", "none"])
      expect((await raw("/api/jobs", { ...bearer(), "Sec-Fetch-Site": site })).status).toBe(200);
    expect((await raw("/", { "Sec-Fetch-Site": "cross-site" })).status).toBe(200);
  });

  it("takes its own names as Host and nothing else", async () => {
    for (const host of [
      `127.0.0.1:${port()}`,
      `localhost:${port()}`,
      `[::1]:${port()}`,
      `LOCALHOST:${port()}`,
    ]) {
      expect((await raw("/api/health", { ...bearer(), Host: host })).status).toBe(200);
    }
    for (const host of ["evil.example", `evil.example:${port()}`, "127.0.0.1", "127.0.0.1:1", "localhost"]) {
      for (const path of ["/api/health", "/", "/assets/index-abc.js", "/api/openapi.json"]) {
        const answer = await raw(path, { ...bearer(), Host: host });
        expect(answer.status, `${host} ${path}`).toBe(403);
        expect(answer.body.toString()).not.toContain(harness.token);
      }
    }
    for (const head of ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"]) {
      const answer = await bytes(head);
      expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
      expect(answer).not.toContain(harness.token);
    }
    const absolute = `GET http://127.0.0.1:${port()}/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`;
    expect(await bytes(absolute)).toMatch(/^HTTP\/1\.1 40[03] /);
  });

  it("takes its own origin and no other", async () => {
    const own = await raw("/api/health", { ...bearer(), Origin: `http://127.0.0.1:${port()}` });
    expect(own.status).toBe(200);
    expect(own.headers["access-control-allow-origin"]).toBeUndefined();
    const foreign = ["https://evil.example", "null", `https://127.0.0.1:${port()}`, "http://127.0.0.1:1"];
    for (const Origin of foreign) {
      for (const path of ["/api/health", "/"]) {
        const answer = await raw(path, { ...bearer(), Origin });
        expect(answer.status).toBe(403);
        expect(JSON.parse(answer.body.toString()).error).toMatch(/^Origin: expected http:\/\/127/);
      }
    }
  });

  it("listens on loopback only", async () => {
    const more = { port: 0, dataDir: join(harness.folder, "other") };
    for (const host of ["0.0.0.0", "::", "192.168.0.1", "example.org"]) {
      await expect(createWorker({ ...more, host })).rejects.toThrow(/^--host: expected a loopback address/);
    }
    await expect(createWorker({ ...more, token: "short" })).rejects.toThrow(/^token: expected at least 16/);
    await expect(createWorker({ ...more, token: `${"x".repeat(20)}"><script>` })).rejects.toThrow(InputError);
  });

  it("says in one line that its port or its data folder is in use", async () => {
    const { pageDir } = harness;
    const elsewhere = join(harness.folder, "elsewhere");
    await expect(createWorker({ port: Number(port()), dataDir: elsewhere, pageDir })).rejects.toThrow(
      `--port: port ${port()} is in use: stop the program that has it or choose another port`,
    );
    await expect(createWorker({ port: 0, dataDir: harness.dataDir, pageDir })).rejects.toThrow(
      `${harness.dataDir}, --data: another worker uses this data folder: stop it or choose another folder`,
    );
    // The failed start left no lock behind.
    await (await createWorker({ port: 0, dataDir: elsewhere, pageDir })).close();
  });
});

describe("the API", () => {
  it("tells its version and how long it has been up", async () => {
    const health = await (await harness.fetch("/api/health")).json();
    expect(health).toEqual({ version: PACKAGE.version, uptime: expect.any(Number), faults: [] });
  });

  it("answers what is wrong in one line that names place, key and expectation", async () => {
    const { path } = harness.config({ steps: 1 });
    const cases: [unknown, string][] = [
      [{}, 'kind: expected "score" or "train"'],
      [{ kind: "bake" }, 'kind: expected "score" or "train"'],
      [{ kind: "train" }, "config: expected the absolute path of a training config, or the config itself"],
      [
        { kind: "train", config: 3 },
        "config: expected the absolute path of a training config, or the config itself",
      ],
      [{ kind: "train", config: path, resume: "never" }, 'resume: expected "auto" or "manual"'],
      [{ kind: "train", config: path, device: "tpu" }, 'device: expected "auto" or "webgpu" or "cpu"'],
      [{ kind: "train", config: path, lr: 1 }, 'unknown key "lr"'],
      [{ kind: "train", config: "a.json" }, 'config: expected an absolute path, got "a.json"'],
      [
        { kind: "train", config: harness.folder },
        `config: expected a file on the worker's disk; at "${harness.folder}" there is a folder`,
      ],
      [
        { kind: "score", model: "/nowhere", in: path },
        `model: expected a folder on the worker's disk; at "/nowhere" there is nothing`,
      ],
      [
        { kind: "score", model: harness.folder, in: "/nowhere" },
        `in: expected a file on the worker's disk; at "/nowhere" there is nothing`,
      ],
      [[], "expected object, got array"],
    ];
    for (const [body, error] of cases) {
      const answer = await harness.post("/api/jobs", body);
      expect(await answer.json()).toEqual({ error: expect.stringMatching(/^POST \/api\/jobs[,:] [^\n]*$/) });
      expect(answer.status).toBe(400);
      const again = (await (await harness.post("/api/jobs", body)).json()) as { error: string };
      expect(again.error.replace(/^POST \/api\/jobs[,:] /, "")).toBe(error);
    }
    const { jobs } = (await (await harness.fetch("/api/jobs")).json()) as { jobs: unknown[] };
    expect(jobs).toEqual([]);
  });

  it("leaves no connection open under the next request when it answers before it has read the body", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (path: string, length: number, more: Record<string, string> = {}) => {
      const body = "x".repeat(length);
      const answer = await harness.raw(path, { ...bearer(), ...more }, "POST", { body, agent });
      return [answer.status, answer.headers.connection];
    };
    for (const length of [200_000, 900_000]) {
      expect(await ask("/api/nothing", length)).toEqual([404, "close"]);
      expect(await ask("/api/nothing", 0)).toEqual([404, "keep-alive"]);
    }
    expect(await ask("/api/jobs", 200_000, { Host: "evil.example" })).toEqual([403, "close"]);
    // One that was read to its end.
    expect(await ask("/api/jobs", 200_000, { "Content-Type": "application/json" })).toEqual([
      400,
      "keep-alive",
    ]);
    agent.destroy();
  });

  it("refuses bodies that are not JSON or too large, unknown jobs, bad queries and unknown routes", async () => {
    const headers = { "Content-Type": "application/json" };
    const broken = await harness.fetch("/api/jobs", { method: "POST", body: "{", headers });
    expect([broken.status, await broken.json()]).toEqual([
      400,
      { error: "POST /api/jobs: Malformed JSON in request body" },
    ]);
    const text = await harness.fetch("/api/jobs", { method: "POST", body: "kind=train" });
    expect([text.status, await text.json()]).toEqual([
      415,
      { error: "POST /api/jobs: expected Content-Type: application/json" },
    ]);
    const large = await harness.fetch("/api/jobs", { method: "POST", body: "x".repeat(1_100_000), headers });
    expect([large.status, await large.json()]).toEqual([
      413,
      { error: "POST /api/jobs: expected at most 1048576 bytes" },
    ]);
    const unknown = await harness.fetch("/api/jobs/train-none");
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      { error: 'job "train-none": there is no such job' },
    ]);
    for (const part of ["events", "results", "log", "results/file?path=a"]) {
      expect((await harness.fetch(`/api/jobs/train-none/${part}`)).status).toBe(404);
    }
    const query = await harness.fetch("/api/jobs?limit=0");
    expect([query.status, ((await query.json()) as { error: string }).error]).toEqual([
      400,
      expect.stringMatching(/^GET \/api\/jobs, limit: /),
    ]);
    expect((await harness.fetch("/api/none")).status).toBe(404);
    expect((await harness.fetch("/api")).status).toBe(404);
  });

  it("looks at the device in another process and survives what happens there", async () => {
    expect(await (await harness.fetch("/api/device")).json()).toMatchObject({ device: "cpu", adapter: null });
    const scripts = {
      adapter:
        `console.log(JSON.stringify({ vendor: "v", architecture: "a", device: "d", description: "Card 1", ` +
        `software: false, features: ["shader-f16"] }))`,
      software:
        `console.log(JSON.stringify({ vendor: "v", architecture: "a", device: "d", description: "", ` +
        `software: true, features: [] }))`,
      none: "console.log('null')",
      crash: "process.kill(process.pid, 'SIGSEGV')",
      hang: "setInterval(() => {}, 1000)",
      noise: "console.log('hello')",
    };
    const messages: Record<string, string> = {};
    for (const [name, code] of Object.entries(scripts)) {
      const script = join(harness.folder, `${name}.mjs`);
      writeFileSync(script, code);
      const probe = new DeviceProbe({ script, timeoutMs: name === "hang" ? 300 : 600_000 });
      const report = await probe.report();
      messages[name] = report.message;
      expect(report.device).toBe(name === "adapter" ? "webgpu" : "cpu");
      expect(await probe.report()).toBe(report);
      if (name === "none") expect(await probe.report(true)).not.toBe(report);
    }
    expect(messages).toEqual({
      adapter: "Card 1",
      software: "d is a software adapter: jobs compute in plain TypeScript unless they ask for webgpu",
      none: "No WebGPU adapter was found: jobs compute on the processor, slowly",
      crash: "WebGPU cannot be used here: the driver's process was ended by SIGSEGV",
      hang: "WebGPU cannot be used here: no answer within 0.3 s",
      noise: "WebGPU cannot be used here: the adapter's description could not be read",
    });
  });
});

describe("the OpenAPI document", () => {
  it("is open, lists every route, and holds together", async () => {
    const answer = await raw("/api/openapi.json");
    expect(answer.status).toBe(200);
    const document = JSON.parse(answer.body.toString()) as OpenApi;
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info).toMatchObject({ title: expect.any(String), version: PACKAGE.version });
    expect(document.components.securitySchemes.token).toMatchObject({ type: "http", scheme: "bearer" });
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, path, operation })),
    );
    expect(operations.map(({ name }) => name).sort()).toEqual([
      "delete /api/jobs/{id}",
      "delete /api/launches/{id}",
      "delete /api/simulator/sessions/{session}",
      "get /api/device",
      "get /api/files",
      "get /api/health",
      "get /api/jobs",
      "get /api/jobs/{id}",
      "get /api/jobs/{id}/events",
      "get /api/jobs/{id}/log",
      "get /api/jobs/{id}/results",
      "get /api/jobs/{id}/results/file",
      "get /api/launches",
      "get /api/launches/{id}/events",
      "get /api/launches/{id}/log",
      "get /api/launches/{id}/results",
      "get /api/launches/{id}/results/file",
      "get /api/shared",
      "get /api/shared/content/{path}",
      "get /api/shop/goal",
      "get /api/shop/health",
      "get /api/simulator",
      "get /api/targets",
      "patch /api/jobs/{id}",
      "patch /api/launches/{id}",
      "post /api/jobs",
      "post /api/jobs/{id}/cancel",
      "post /api/jobs/{id}/resume",
      "post /api/jobs/{id}/stop",
      "post /api/launches",
      "post /api/launches/import",
      "post /api/launches/plan",
      "post /api/launches/script",
      "post /api/launches/{id}/cancel",
      "post /api/launches/{id}/fetch",
      "post /api/launches/{id}/resume",
      "post /api/launches/{id}/stop",
      "post /api/plan",
      "post /api/shop/close",
      "post /api/shop/replay",
      "post /api/shop/reset",
      "post /api/shop/step",
      "post /api/simulator/plan",
      "post /api/simulator/sessions/{session}/renew",
      "post /api/simulator/sessions/{session}/reset",
      "post /api/simulator/sessions/{session}/step",
      "post /api/targets",
      "post /api/targets/{name}/check",
      "put /api/jobs/{id}/inputs",
    ]);
    for (const { name, path, operation } of operations) {
      expect(operation.security, name).toEqual([{ token: [] }]);
      expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(["401", "403", "503"]));
      for (const response of Object.values(operation.responses)) expect(response.description).not.toBe("");
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect(
        declared.map((parameter) => parameter.name),
        name,
      ).toEqual(inPath);
      expect(
        declared.every((parameter) => parameter.required),
        name,
      ).toBe(true);
    }
    const references = [...answer.body.toString().matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(5);
    for (const [, schema] of references) expect(document.components.schemas).toHaveProperty(schema!);
  });

  interface OpenApi {
    openapi: string;
    info: unknown;
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
  }
  interface Operation {
    security: unknown;
    responses: Record<string, { description: string }>;
    parameters?: { name: string; in: string; required?: boolean }[];
  }
});

describe("the data folder", () => {
  it("is the user's own unless said otherwise", () => {
    expect(defaultDataDir({ XDG_DATA_HOME: "/data" })).toBe("/data/gcopd");
    expect(defaultDataDir({ XDG_DATA_HOME: "relative" })).toMatch(/\.local\/share\/gcopd$/);
    expect(defaultDataDir({})).toMatch(/\.local\/share\/gcopd$/);
  });
});

it("answers hostile requests in one line of JSON or plain text that nothing obeys", async () => {
  const headers = { ...bearer(), "Content-Type": "application/json" };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const obeyed = /[\0-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
  for (const body of [
    { kind: EVERYTHING },
    { kind: "train", config: EVERYTHING },
    { kind: "train", config: { method: "gc-opd", [EVERYTHING]: EVERYTHING } },
    { kind: "score", model: `/${EVERYTHING}`, in: "/none" },
    { [EVERYTHING]: 1 },
  ]) {
    const answer = await fetch(`${harness.url}/api/jobs`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const { error } = (await answer.json()) as { error: string };
    expect(error).not.toMatch(obeyed);
  }
  for (const path of [HOSTILE.terminal, HOSTILE.bidi]) {
    for (const under of ["/api/jobs/", "/api/shared/content/", "/"]) {
      const answer = await fetch(`${harness.url}${under}${encodeURIComponent(path)}`, { headers: bearer() });
      expect([400, 404]).toContain(answer.status);
      expect(answer.headers.get("content-type")).toMatch(/^(application\/json|text\/plain)/);
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      expect((await answer.text()).trimEnd()).not.toMatch(obeyed);
    }
  }
});
