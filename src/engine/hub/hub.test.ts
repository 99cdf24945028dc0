import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Pending, until } from "../../../test/support/fake.ts";
import { parseHubName } from "./hub-client.ts";
import { openModelFolder } from "./node.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const weights = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 31) % 251);
const files = new Map<string, Uint8Array>([
  ["config.json", new TextEncoder().encode("{}")],
  ["model.safetensors", weights],
  ["README.md", new TextEncoder().encode("left where it is")],
]);

let server: Server;
let endpoint: string;
let cache: string;
/** What the server was asked for, and how it misbehaves. */
let asked: string[];
let cutAfter: number;
/** The connection that stands still, and how much of its file came up to there. */
let cut: { at: number; now: () => void } | null;
let hash: string;
let honoursRanges: boolean;
/** Files wait until the test lets them go; null: they come at once. */
let held: Pending | null;

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = "", headers } = request;
  asked.push(`${url}${headers.range ? ` ${headers.range}` : ""}`);
  if (url.includes("gated") && headers.authorization !== "Bearer secret")
    return void response.writeHead(401).end();
  if (url.includes("missing")) return void response.writeHead(404).end();
  if (url.startsWith("/api/models/")) {
    const siblings = [...files].map(([rfilename, { length: size }]) => ({
      rfilename,
      size,
      ...(rfilename.endsWith(".safetensors") ? { lfs: { sha256: hash } } : {}),
    }));
    return void response.end(JSON.stringify({ sha: COMMIT, siblings }));
  }
  await held?.promise;
  const content = files.get(url.split("/").at(-1)!)!;
  const start = honoursRanges ? Number(/bytes=(\d+)-/.exec(headers.range ?? "")?.[1] ?? 0) : 0;
  const rest = content.slice(start);
  response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length });
  if (rest.length <= cutAfter) return void response.end(rest);
  cut = { at: start + cutAfter, now: () => response.destroy() };
  response.write(rest.slice(0, cutAfter));
}

/** Cuts a connection when all that it brings has arrived. */
const cutting = {
  onProgress({ done }: { done: number }): void {
    if (cut !== null && done - files.get("config.json")!.length >= cut.at) cut.now();
  },
};

beforeEach(async () => {
  [asked, cutAfter, cut, honoursRanges, held] = [[], Number.POSITIVE_INFINITY, null, true, null];
  hash = createHash("sha256").update(weights).digest("hex");
  cache = mkdtempSync(join(tmpdir(), "hub-"));
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(cache, { recursive: true });
});

const openHub = (name: string, options: object = {}) =>
  openModelFolder(name, { environment: { GCOPD_CACHE: cache, HF_ENDPOINT: endpoint }, pause: 1, ...options });
const kept = () => readdirSync(join(cache, "owner", "model", COMMIT)).sort();

test("a model is downloaded once, with progress; afterwards only the list is asked for", async () => {
  const seen: number[] = [];
  const folder = await openHub("hub:owner/model", {
    onProgress: ({ done }: { done: number }) => seen.push(done),
  });
  expect(await folder.list()).toEqual(["config.json", "model.safetensors"]);
  expect(await folder.read("model.safetensors", 0, weights.length)).toEqual(weights);
  expect(seen.at(-1)).toBe(300_002);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  asked = [];
  await openHub("hub:owner/model@main");
  expect(asked).toEqual(["/api/models/owner/model/revision/main?blobs=true"]);
});

test("what is there whole is opened without the network: a commit always, a branch where the hub is away", async () => {
  await openHub("hub:owner/model");
  asked = [];
  await openHub(`hub:owner/model@${COMMIT}`);
  expect(asked).toEqual([]);
  const notes: string[] = [];
  const away = { endpoint: "http://127.0.0.1:1", onNote: (note: string) => notes.push(note) };
  const folder = await openHub("hub:owner/model", away);
  expect(await folder.read("model.safetensors", 0, weights.length)).toEqual(weights);
  expect(notes).toEqual([
    expect.stringMatching(
      /cannot be reached: .*; taken from the cache as it was last known \(0123456789ab\)$/,
    ),
  ]);
  await openHub("hub:owner/model", { offline: true });
  expect(asked).toEqual([]);
  await expect(openHub("hub:owner/model@v2", { offline: true })).rejects.toThrow("not in the cache whole");
  // A file that was taken away, or cut, is not a whole model.
  rmSync(join(cache, "owner", "model", COMMIT, "model.safetensors"));
  await expect(openHub("hub:owner/model", away)).rejects.toThrow("cannot be reached");
  await openHub(`hub:owner/model@${COMMIT}`);
  expect(asked.some((url) => url.endsWith("/model.safetensors"))).toBe(true);
});

test.each([true, false])(
  "cut connections are taken up where they broke (ranges honoured: %s)",
  async (ranges) => {
    [cutAfter, honoursRanges] = [ranges ? 100_000 : 250_000, ranges];
    const work = openHub("hub:owner/model", cutting);
    if (ranges) {
      const folder = await work;
      expect(await folder.read("model.safetensors", 0, weights.length)).toEqual(weights);
      expect(asked.filter((url) => url.includes("bytes=")).length).toBeGreaterThanOrEqual(2);
    } else {
      await expect(work).rejects.toThrow(
        /the download stopped at \d+ of 300000 bytes: .*run it again to go on/,
      );
      cutAfter = Number.POSITIVE_INFINITY;
      expect(await (await openHub("hub:owner/model")).size("model.safetensors")).toBe(300_000);
    }
  },
);

test("a cache that holds the model whole need not be written to", async () => {
  await openHub("hub:owner/model");
  rmSync(join(cache, "owner", "model", "lock.sqlite"));
  await openHub("hub:owner/model");
  expect(readdirSync(join(cache, "owner", "model")).sort()).toEqual([COMMIT, "cached.json"]);
});

test("of two at once, one downloads the files, and the other waits for it", async () => {
  const notes: string[] = [];
  held = new Pending();
  const both = [1, 2].map(() => openHub("hub:owner/model", { onNote: (note: string) => notes.push(note) }));
  await until(() => expect(notes).toHaveLength(1));
  held.resolve();
  for (const folder of await Promise.all(both))
    expect(await folder.read("model.safetensors", 0, weights.length)).toEqual(weights);
  expect(asked.filter((url) => url.includes("model.safetensors"))).toHaveLength(1);
  expect(notes).toEqual([expect.stringMatching(/^owner\/model: waiting for another process .*lock\.sqlite/)]);
  expect(kept()).toEqual(["config.json", "model.safetensors"]);
});

test("what a stopped download brought is kept for the next", async () => {
  const abort = new AbortController();
  cutAfter = 200_000;
  const stopped = openHub("hub:owner/model", {
    signal: abort.signal,
    onProgress: ({ done }: { done: number }) =>
      done > 50_000 && abort.abort(new Error("stopped by the user")),
  });
  await expect(stopped).rejects.toThrow("stopped by the user");
  expect(kept()).toEqual(["config.json", "model.safetensors.part"]);
  cutAfter = Number.POSITIVE_INFINITY;
  asked = [];
  await openHub("hub:owner/model");
  expect(asked.some((url) => /model\.safetensors bytes=[1-9]/.test(url))).toBe(true);
  expect(readFileSync(join(cache, "owner", "model", COMMIT, "model.safetensors"))).toEqual(
    Buffer.from(weights),
  );
});

test("a file of another hash is thrown away", async () => {
  hash = "0".repeat(64);
  await expect(openHub("hub:owner/model")).rejects.toThrow(
    /^hub:owner\/model\/model\.safetensors: the SHA-256 of what was downloaded is [0-9a-f]{64}, the hub announces 0{64}/,
  );
  expect(kept()).toEqual(["config.json"]);
});

test("what cannot be had is said in one line", async () => {
  await expect(openHub("hub:owner/missing")).rejects.toThrow("hub:owner/missing: the hub has no such model");
  await expect(openHub("hub:owner/gated")).rejects.toThrow(/refuses access \(401\).*HF_TOKEN/);
  await expect(openHub("hub:owner/gated", { token: "secret" })).resolves.toBeDefined();
  await expect(openHub("hub:owner/model", { endpoint: "http://127.0.0.1:1" })).rejects.toThrow(
    /hub:owner\/model: the hub at http:\/\/127\.0\.0\.1:1 cannot be reached/,
  );
  expect(() => parseHubName("hub:no-owner")).toThrow("expected hub:OWNER/NAME");
  expect(() => parseHubName("hub:a/..")).toThrow("expected hub:OWNER/NAME");
  expect(parseHubName("./folder")).toBeNull();
  expect(parseHubName("hub:Qwen/Qwen3-0.6B@v1.0")).toEqual({
    repository: "Qwen/Qwen3-0.6B",
    revision: "v1.0",
  });
});
