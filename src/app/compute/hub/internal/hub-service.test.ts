import { beforeEach, expect, it, vi } from "vitest";
import { Pending, until } from "../../../../../test/support/fake.ts";
import { FakeDisk } from "../../../../../test/support/fake-origin.ts";
import { InputError } from "../../../../core/errors.ts";
import { OriginCache } from "../../../../engine/hub/index.ts";
import { COMMIT, ENDPOINT, FakeHub } from "../../../../engine/hub/testing/fake-hub.ts";
import { HubService } from "./hub-service.ts";

const NAME = { repository: "owner/model", revision: "main" };
const MODEL = { repository: "owner/model", commit: COMMIT };
const IGNORED = () => undefined;

let hub: FakeHub;
/** Weights that are asked for wait until the test lets them go; null: they come at once. */
let held: Pending | null;
const openCache = vi.fn(async () => new OriginCache(new FakeDisk().handle));
let service: HubService;

beforeEach(() => {
  hub = new FakeHub(
    new Map([
      ["config.json", new TextEncoder().encode("{}")],
      ["model.safetensors", new Uint8Array(300_000)],
    ]),
  );
  held = null;
  openCache.mockClear();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (String(input).endsWith(".safetensors")) await held?.promise;
    return hub.fetch(input, init);
  };
  service = new HubService({ openCache, fetch });
});

it("looks a model up, brings it into the cache, which it opens once, and gives its files out", async () => {
  const listing = await service.look(NAME, ENDPOINT);
  expect(listing).toMatchObject({ name: NAME, endpoint: ENDPOINT, commit: COMMIT, bytes: 300_002, have: 0 });
  await service.bring(listing, IGNORED);
  expect([...(await service.files(MODEL)).keys()]).toEqual(["config.json", "model.safetensors"]);
  expect((await service.look(NAME, ENDPOINT)).have).toBe(300_002);
  await service.remove(MODEL);
  expect(await service.list()).toEqual([]);
  expect(openCache).toHaveBeenCalledOnce();
});

it("refuses a second download while one is under way, and takes one when that was stopped", async () => {
  const listing = await service.look(NAME, ENDPOINT);
  held = new Pending();
  const first = service.bring(listing, IGNORED);
  await expect(service.bring(listing, IGNORED)).rejects.toThrow("another download is under way");
  await expect(service.look(NAME, ENDPOINT)).rejects.toThrow("another download is under way");
  await until(async () => expect((await service.list())[0]?.have).toBe(2));
  service.stop();
  held.resolve();
  await expect(first).rejects.toMatchObject({ name: "AbortError", message: "the download was stopped" });
  expect((await service.list())[0]).toMatchObject({ have: 2, whole: false });
  await service.bring(listing, IGNORED);
  expect((await service.list())[0]).toMatchObject({ have: 300_002, whole: true });
});

it("names the model that it could not ask for, and the page’s way to one that needs an account", async () => {
  const failing = (answer: () => Promise<Response>) =>
    new HubService({ openCache, fetch: answer }).look(NAME, ENDPOINT);
  const unreachable = failing(() => Promise.reject(new Error("the hub is not reachable")));
  await expect(unreachable).rejects.toThrow(InputError);
  await expect(unreachable).rejects.toThrow("hub:owner/model: the hub is not reachable");
  await expect(failing(async () => new Response(null, { status: 401 }))).rejects.toThrow(
    "needs an account's token: download it with `gcopd score --model hub:…`",
  );
});
