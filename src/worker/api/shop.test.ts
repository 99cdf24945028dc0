import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { fixtureFolder } from "../../../test/support/environment-fixture.ts";
import { EnvironmentError } from "../../core/errors.ts";
import { readCatalogue } from "../../simulator/webshop/catalogue.ts";
import { ShopClient, type ShopClientOptions } from "../../simulator/webshop/client.ts";
import { ShopEnvironment, ShopServerEnvironment } from "../../simulator/webshop/environment.ts";
import { oracleActions } from "../../simulator/webshop/oracle.ts";
import { Shop } from "../../simulator/webshop/shop.ts";
import { Harness } from "../testing/harness.ts";

const FILE = join(fixtureFolder("live/webshop"), "shop.json");
const shop = new Shop(readCatalogue(readFileSync(FILE, "utf8"), FILE));
const harness = new Harness();
const connect = (options: ShopClientOptions = {}) =>
  ShopClient.connect(`${harness.url}/api/shop`, { token: harness.token, expect: "any", ...options });

beforeAll(() => harness.start({ shopFile: FILE }));
afterAll(() => harness.remove());

describe("the worker's shop, asked by the client", () => {
  it("answers what the shop answers, up to the purchase", async () => {
    const client = await connect();
    const [goal, episode] = [6, shop.open(6)];
    const start = await client.reset("e", goal);
    expect(start).toMatchObject({
      obs: episode.observation,
      goal,
      instruction: episode.goal.instruction_text,
    });
    const actions = oracleActions(shop, goal)!;
    for (const action of actions) {
      const { reward, done } = episode.step(action);
      expect(await client.step("e", action)).toMatchObject({
        obs: episode.observation,
        reward,
        done,
        available_actions: episode.actions,
        state: { strict_key: episode.key, page_type: episode.page.page_type },
      });
    }
    expect(episode.done).toBe(true);
    const replay = await client.replay(goal, [...actions, "search[more]"]);
    expect(replay.n_executed).toBe(actions.length);
    expect(replay.rewards.at(-1)).toBe(1);
    expect(replay.obs).toHaveLength(actions.length + 1);
    expect(replay.states.at(-1)?.strict_key).toBe(episode.key);
    expect(await client.goal(goal)).toMatchObject({
      asin: episode.goal.asin,
      price_upper: episode.goal.price_upper,
    });
    await client.close("e");
    await expect(client.step("e", "search[lamp]")).rejects.toThrow(
      /\/api\/shop\/step: refused with status 500: episode: no episode "e" is open$/,
    );
  });

  it("is an environment that answers as the shop in this process does", async () => {
    const server = new ShopServerEnvironment(await connect());
    const own = new ShopEnvironment(shop);
    expect(await server.reset("goal6")).toEqual(await own.reset("goal6"));
    for (const action of ["click[nothing]", ...oracleActions(shop, 6)!])
      expect(await server.step(action)).toEqual(await own.step(action));
    expect(await server.step("search[more]")).toEqual({
      unanswered: expect.stringContaining("the episode is over"),
    });
    await server.close();
    await expect(server.reset("6")).rejects.toThrow('expected goal0, goal1, ..., received "6"');
  });

  it("is an environment whose reset may be tried again where the server refuses it", async () => {
    const server = new ShopServerEnvironment(await connect());
    await expect(server.reset("goal99999")).rejects.toBeInstanceOf(EnvironmentError);
    await expect(server.reset("6")).rejects.not.toBeInstanceOf(EnvironmentError);
  });

  it("ends its episode, and can be closed, while the server does not answer", async () => {
    const server = new ShopServerEnvironment(await connect());
    await server.reset("goal0");
    vi.stubGlobal("fetch", () => Promise.reject(new Error("gone")));
    try {
      expect(await server.step("search[lamp]")).toEqual({ unanswered: expect.stringContaining("gone") });
      await server.close();
    } finally {
      vi.unstubAllGlobals();
    }
    expect((await server.reset("goal0")).done).toBe(false);
    await server.close();
  });

  it("counts its open episodes; one of the same name begins again", async () => {
    const client = await connect();
    await client.reset("a", 0);
    await client.step("a", "search[lamp]");
    expect((await client.reset("a", 1)).goal).toBe(1);
    expect(await client.health()).toMatchObject({ goals: 94, products: 120, active_episodes: 1 });
    await client.close("a");
    await client.close("a");
    expect((await client.health()).active_episodes).toBe(0);
  });

  it("refuses a goal that is not there, and a body that is not one", async () => {
    const client = await connect();
    await expect(client.reset("e", 94)).rejects.toThrow(
      "refused with status 500: goal: expected a goal from 0 to 93",
    );
    const answer = await harness.post("/api/shop/step", { episode: "e" });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: "POST /api/shop/step, action: expected string, got nothing",
    });
  });

  it("is not taken for the paper's server", async () => {
    await expect(connect({ expect: undefined })).rejects.toThrow(
      /\/api\/shop, seed: the server runs with null; expected 42$/,
    );
  });

  it("asks for the token, like every route", async () => {
    await expect(connect({ token: undefined })).rejects.toThrow(
      "refused with status 401: Authorization: expected",
    );
  });
});

it("a worker without a shop says how to serve one", async () => {
  const other = new Harness();
  await other.start();
  try {
    await expect(ShopClient.connect(`${other.url}/api/shop`, { token: other.token })).rejects.toThrow(
      "refused with status 404: this worker serves no shop: start it with --shop FILE",
    );
  } finally {
    await other.remove();
  }
});

it("a file that is not a catalogue keeps the worker from starting", async () => {
  const other = new Harness();
  try {
    await expect(other.start({ shopFile: join(other.folder, "secret.txt") })).rejects.toThrow(
      /secret\.txt: not JSON/,
    );
  } finally {
    await other.remove();
  }
});

describe("a server that", () => {
  /** Answers every request with `answer`; null answers none. */
  async function against(answer: string | null, options: ShopClientOptions = {}): Promise<string> {
    const server = createServer((_request, response) => {
      if (answer !== null) response.end(answer);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    try {
      await ShopClient.connect(`http://127.0.0.1:${port}/`, options);
      return "connected";
    } catch (error) {
      return String(error).replace(String(port), "PORT");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }
  const paper = {
    ok: true,
    goals: 1,
    products: 1,
    active_episodes: 0,
    seed: 42,
    goal_shuffle_seed: 233,
    observation_mode: "text_rich",
  };

  it("runs with the paper's settings is taken", async () => {
    expect(await against(JSON.stringify(paper))).toBe("connected");
  });

  it.each([
    ["hangs", null, "no answer within 0.2 s"],
    ["speaks no JSON", "<html>", "expected JSON, received status 200: <html>"],
    ["speaks another contract", "{}", "ok: missing; expected true"],
    [
      "shuffles goals otherwise",
      JSON.stringify({ ...paper, goal_shuffle_seed: 42 }),
      "goal_shuffle_seed: the server runs with 42; expected 233",
    ],
    [
      "shows plain text",
      JSON.stringify({ ...paper, observation_mode: "text" }),
      'observation_mode: the server runs with "text"; expected "text_rich"',
    ],
    [
      "refuses with a traceback",
      JSON.stringify({ ok: false, error: "Traceback:\n  a\nKeyError: 'e'\n" }),
      "refused with status 200: KeyError: 'e'",
    ],
  ])("%s ends in one line", async (_name, answer, expected) => {
    const line = await against(answer, { timeoutMs: answer === null ? 200 : 60_000 });
    expect(line).toContain(expected);
    expect(line).toMatch(/^InputError: http:\/\/127\.0\.0\.1:PORT/);
    expect(line).not.toContain("\n");
  });

  it("is not there ends in one line", async () => {
    await expect(ShopClient.connect("http://127.0.0.1:1")).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:1\/health: no answer: /,
    );
    await expect(ShopClient.connect("127.0.0.1:1")).rejects.toThrow(
      "expected http://HOST:PORT of a WebShop server",
    );
  });
});
