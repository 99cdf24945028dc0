import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";
import { toyCodec } from "../../../test/support/toy-model.ts";
import { collectConfigSchema, type EnvironmentConfig, environmentSchema } from "../../core/loop/index.ts";
import type { Sampler } from "../../core/ports.ts";
import { makeCatalogue } from "../../simulator/webshop/made-catalogue.ts";
import { Harness } from "../../worker/testing/harness.ts";
import { collect } from "./collect.ts";
import { openGames } from "./open-games.ts";

const MODEL = resolve(import.meta.dirname, "../../../test/fixtures/models/tiny-a");
const folder = mkdtempSync(join(tmpdir(), "gcopd-shop-server-"));
const file = join(folder, "shop.json");
const harness = new Harness();
/** Between the client and the worker: notes what is asked, and answers every /close with a failure. */
let proxy: Server;
let url = "";
const asked: { path: string; episode: string }[] = [];

beforeAll(async () => {
  const { name: _, ...catalogue } = makeCatalogue({ seed: 1, products: 12 });
  writeFileSync(file, JSON.stringify(catalogue));
  await harness.start({ shopFile: file });
  process.env.GCOPD_SHOP_TOKEN = harness.token;
  proxy = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = request.url ?? "";
    const answer = await fetch(`${harness.url}/api/shop${path}`, {
      method: request.method ?? "GET",
      headers: { Authorization: request.headers.authorization ?? "", "Content-Type": "application/json" },
      ...(body === "" ? {} : { body }),
    });
    if (path !== "/health") asked.push({ path, episode: body === "" ? "" : JSON.parse(body).episode });
    response.statusCode = path === "/close" ? 500 : answer.status;
    response.end(path === "/close" ? '{"ok":false,"error":"out of order"}' : await answer.text());
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  delete process.env.GCOPD_SHOP_TOKEN;
  proxy.close();
  await harness.remove();
  rmSync(folder, { recursive: true });
});

/** Searches, and then buys what comes last. */
const hasty: Sampler = {
  sample: async (requests) =>
    requests.map(({ id, promptIds }) => {
      const prompt = toyCodec.decode([...promptIds]);
      const last = (pattern: RegExp) => [...prompt.matchAll(pattern)].at(-1)?.[0];
      const action = last(/click\[buy now\]/g) ?? last(/click\[made\d+\]/g) ?? "search[lamp chair shoes mug]";
      const responseIds = [...toyCodec.encode(`<action>${action}</action>`), 0];
      return { id, responseIds, logprobs: new Float32Array(responseIds.length).fill(-1), stop: "stop" };
    }),
};

async function collected(out: string, environment: EnvironmentConfig): Promise<string> {
  await collect({
    out: join(folder, out),
    onNote: () => undefined,
    onProgress: () => undefined,
    signal: new AbortController().signal,
    withPolicy: (work) => work(hasty, toyCodec),
    config: collectConfigSchema.parse({ environment, model: MODEL, repetitions: 2, at_once: 1 }),
  });
  return readFileSync(join(folder, out, "sources.jsonl"), "utf8");
}

it("gives the library that the same shop gives in this process, each session closed before the next begins", async () => {
  const server = { name: "webshop", server: url, server_settings: "any" } as const;
  const library = await collected("served", { ...server, goals: { first: 1, count: 3 } });
  const sessions = asked.filter(({ path }) => path === "/reset" || path === "/close");
  expect(sessions.length).toBeGreaterThanOrEqual(2 * 3 * 3);
  let open: string | null = null;
  for (const { path, episode } of sessions) {
    // A session may begin its task again.
    expect([null, episode]).toContain(open);
    open = path === "/close" ? null : episode;
  }
  expect(open).toBeNull();
  const tasks = ["goal1", "goal2", "goal3"];
  expect(library).toContain('"source":"oracle:16"');
  expect(library).toBe(await collected("own", { name: "webshop", games: file, tasks }));
  expect(await collected("named", { ...server, tasks })).toBe(library);
});

it("a finished library is done without the server", async () => {
  const at = (server: string, first: number) =>
    collected("finished", { name: "webshop", server_settings: "any", server, goals: { first, count: 1 } });
  const library = await at(url, 1);
  expect(await at("http://127.0.0.1:9", 1)).toBe(library);
  await expect(at("http://127.0.0.1:9", 2)).rejects.toThrow("it differs in tasks;");
});

it("is the same run at another address", async () => {
  const digestAt = async (server: string) =>
    (await openGames({ name: "webshop", server, server_settings: "any", tasks: ["goal1"] })).digest;
  expect(await digestAt(url)).toBe(await digestAt(`${harness.url}/api/shop`));
});

it.each([
  [{ tasks: ["goal0"] }, "seed: the server runs with null; expected 42"],
  [{ server_settings: "any" }, "environment.goals: missing; expected the first of the server's 12 goals"],
  [{ server_settings: "any", goals: { first: 10, count: 3 } }, "environment.goals: up to goal12, but"],
  [
    { server_settings: "any", goals: { first: 0, count: 1 }, tasks: ["goal0"] },
    "environment.goals: expected either it or environment.tasks",
  ],
  [{ server_settings: "any", tasks: ["goal12"] }, 'environment.tasks: no game is named "goal12"'],
  [
    { server: undefined, games: "shop.json", server_settings: "any" },
    "environment.server_settings: only applies with environment.server",
  ],
  [{ games: "shop.json" }, "environment.server: expected either it or environment.games"],
] as const)("%j is refused by its key", async (more, message) => {
  await expect(openGames(environmentSchema.parse({ name: "webshop", server: url, ...more }))).rejects.toThrow(
    message,
  );
});

it("is played by hand as the shop in this process is", async () => {
  const actions = join(folder, "actions.jsonl");
  writeFileSync(actions, '"search[lamp]"\n"click[nothing]"\n');
  const play = (...more: string[]) =>
    runCli("play", "--environment", "webshop", "--actions", actions, "--task", "goal2", ...more);
  const served = await play("--server", url);
  expect(served.err).toContain(`${url}: 12 goals, text_rich, seed null`);
  expect(served).toMatchObject({ code: 0, out: (await play("--game", file)).out });
  expect((await play("--server", url, "--game", file)).code).toBe(2);
});
