import { afterEach, describe, expect, it, vi } from "vitest";
import { ShopClient } from "./client.ts";
import { serverOracle } from "./server-oracle.ts";

afterEach(() => void vi.unstubAllGlobals());

const HEALTH = { ok: true, goals: 1, products: 1, active_episodes: 0, seed: 42, goal_shuffle_seed: 233 };
const GOAL = { instruction_text: "buy", asin: "B1", attributes: [], price_upper: 9, goal_options: [] };
const ANSWERS: Record<string, object> = {
  "/health": { ...HEALTH, observation_mode: "text_rich" },
  "/goal": { ...GOAL, name: "lamp" },
};
const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status });

/** A server whose answer to one route is another. */
async function against(route: string, answer: () => Response): Promise<ShopClient> {
  vi.stubGlobal("fetch", async (address: string, { redirect }: RequestInit) => {
    expect(redirect).toBe("error");
    const { pathname } = new URL(address);
    return pathname === route ? answer() : json(200, ANSWERS[pathname]);
  });
  return ShopClient.connect("http://shop");
}

describe.each(["/goal", "/replay"])("a server whose %s", (route) => {
  it("is refused has no oracle", async () => {
    const client = await against(route, () => json(500, { ok: false, error: "KeyError: no such route" }));
    expect(await serverOracle(client, 0)).toBeNull();
  });

  it.each<[string, () => Response]>([
    ["is not answered", fail],
    ["is answered by a gateway", () => json(503, { error: "busy" })],
    ["is answered with something else", () => new Response("<html>", { status: 500 })],
  ])("%s may be asked again", async (_name, answer) => {
    const client = await against(route, answer);
    await expect(serverOracle(client, 0)).rejects.toThrow(`http://shop${route}`);
  });
});

function fail(): never {
  throw new TypeError("fetch failed");
}

it("an address with a password is refused, and its password not shown", async () => {
  await expect(ShopClient.connect("http://me:secret@shop")).rejects.toThrow(
    /^(?!.*secret).*has a user or a password/,
  );
});
