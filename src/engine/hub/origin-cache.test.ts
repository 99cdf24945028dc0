import { beforeEach, expect, test } from "vitest";
import { FakeDisk } from "../../../test/support/fake-origin.ts";
import { bringModel, fetchModel } from "./bring-model.ts";
import { listHubFiles } from "./hub-client.ts";
import { OriginCache } from "./origin-cache.ts";
import { COMMIT, ENDPOINT, FakeHub } from "./testing/fake-hub.ts";

const weights = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31) % 251);
const name = { repository: "owner/model", revision: "main" };
const model = { repository: "owner/model", commit: COMMIT };

let hub: FakeHub;
let disk: FakeDisk;
let cache: OriginCache;

beforeEach(() => {
  hub = new FakeHub(
    new Map([
      ["config.json", new TextEncoder().encode("{}")],
      ["model.safetensors", weights],
    ]),
  );
  disk = new FakeDisk();
  cache = new OriginCache(disk.handle);
});

const options = (more: object = {}) => ({ endpoint: ENDPOINT, fetch: hub.fetch, pause: 1, ...more });
const bring = (more: object = {}) => bringModel(name, cache, options(more));
const kept = () => disk.read(`owner/model/${COMMIT}/model.safetensors`);
const keptWhole = async () => Buffer.from((await kept()) ?? []).equals(weights);

test("a model is kept whole, listed with its size, and opened without the network", async () => {
  expect(await cache.list()).toEqual([]);
  await bring();
  expect(await keptWhole()).toBe(true);
  expect(await cache.list()).toEqual([
    expect.objectContaining({ ...model, revisions: ["main"], bytes: 300_002, have: 300_002, whole: true }),
  ]);
  hub.asked.length = 0;
  const files = await cache.files(model);
  expect([...files.keys()]).toEqual(["config.json", "model.safetensors"]);
  const slice = files.get("model.safetensors")!.slice(1000, 1100);
  expect(new Uint8Array(await slice.arrayBuffer())).toEqual(weights.subarray(1000, 1100));
  expect(hub.asked).toEqual([]);
});

test("a part is kept over a stop, named in the list, and gone on with by range from its commit", async () => {
  const stop = new AbortController();
  const stopped = bring({
    signal: stop.signal,
    onProgress: ({ done }: { done: number }) => done > 100_000 && stop.abort(new Error("stopped")),
  });
  await expect(stopped).rejects.toThrow("stopped");
  // As after a reload: nothing but the disk is left.
  cache = new OriginCache(disk.handle);
  const [part] = await cache.list();
  expect(part).toMatchObject({ ...model, bytes: 300_002, whole: false });
  expect(part!.have).toBeGreaterThan(100_000);
  await expect(cache.files(model)).rejects.toThrow("owner/model: is not kept in this browser whole");
  hub.asked.length = 0;
  const pinned = { repository: model.repository, revision: COMMIT };
  await fetchModel(pinned, { commit: COMMIT, files: part!.files }, cache, options());
  expect(hub.asked).toEqual([
    `/owner/model/resolve/${COMMIT}/model.safetensors bytes=${part!.have - "{}".length}-`,
  ]);
  expect(await keptWhole()).toBe(true);
  expect((await cache.list())[0]).toMatchObject({ whole: true, revisions: [] });
});

test("connections that break are taken up where they broke", async () => {
  hub.cutAfter = 120_000;
  await bring();
  expect(await keptWhole()).toBe(true);
  expect(hub.asked.filter((url) => url.includes("bytes="))).toHaveLength(2);
});

test("a file of another hash is thrown away and is not the model's", async () => {
  hub.announced = "0".repeat(64);
  await expect(bring()).rejects.toThrow(/model\.safetensors: the SHA-256 of what was downloaded is/);
  expect(await kept()).toBeNull();
  expect((await cache.list())[0]).toMatchObject({ whole: false, have: 2 });
});

test("a branch leads to a new commit only when that is whole", async () => {
  await bring();
  hub.commit = "f".repeat(40);
  hub.announced = "0".repeat(64);
  await expect(bring()).rejects.toThrow("SHA-256");
  const { commit } = await bring({ offline: true });
  expect(commit).toBe(COMMIT);
});

test("no room left is one line with what to do, and what came stays", async () => {
  disk.quota = 150_000;
  await expect(bring()).rejects.toThrow(
    /^model\.safetensors: this browser gives the page no more storage; \d+ bytes of it are kept: remove other models/,
  );
  const [part] = await cache.list();
  expect(part!.have).toBeGreaterThan(90_000);
  disk.quota = Number.POSITIVE_INFINITY;
  await bring();
  expect(await keptWhole()).toBe(true);
});

test("two tabs do not write one file", async () => {
  const { commit, files } = await listHubFiles(name, options());
  const store = await cache.store(name.repository, commit);
  const [, file] = files;
  async function* none(): AsyncGenerator<Uint8Array> {}
  async function* meanwhile() {
    yield new Uint8Array(8);
    await expect(store.append(file!, 0, none())).rejects.toThrow("is being written by another tab");
  }
  await store.append(file!, 0, meanwhile());
});

test("a removed model leaves nothing", async () => {
  await bring();
  await cache.remove(model);
  expect(await cache.list()).toEqual([]);
  expect(disk.root.entries.size).toBe(0);
  await cache.remove(model);
});
