import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorker } from "../index.ts";
import { Harness } from "../testing/harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = new Harness();
  const shared = join(harness.folder, "shared");
  mkdirSync(join(shared, "runs"), { recursive: true });
  mkdirSync(join(shared, ".hidden"));
  writeFileSync(join(shared, ".hidden", "key"), "secret");
  writeFileSync(join(shared, ".env"), "secret");
  writeFileSync(join(shared, "sources.jsonl"), "0123456789");
  writeFileSync(join(shared, "runs", "a b#?.jsonl"), "inner");
  symlinkSync(join(harness.folder, "secret.txt"), join(shared, "out.jsonl"));
  symlinkSync(harness.folder, join(shared, "above"));
  symlinkSync(join(shared, "runs"), join(shared, "same"));
  symlinkSync(join(shared, ".env"), join(shared, "environment"));
  symlinkSync(join(shared, ".hidden"), join(shared, "shown"));
  await harness.start({ filesDir: shared });
});
afterAll(() => harness.remove());

const listed = async (path: string) => {
  const answer = await harness.fetch(`/api/shared?path=${encodeURIComponent(path)}`);
  return {
    status: answer.status,
    body: (await answer.json()) as { entries: { name: string }[]; error?: string },
  };
};

it("lists folders first, and only what is inside and not hidden", async () => {
  const { body } = await listed("");
  expect(body).toMatchObject({ path: "", more: 0 });
  expect(body.entries.map(({ name }) => name)).toEqual(["runs", "same", "sources.jsonl"]);
  expect(body.entries.at(-1)).toMatchObject({ kind: "file", bytes: 10 });
  expect((await listed("runs")).body.entries.map(({ name }) => name)).toEqual(["a b#?.jsonl"]);
  expect((await listed("nothing")).status).toBe(404);
});

it("serves files whole and by range, with validators", async () => {
  const whole = await harness.fetch("/api/shared/content/sources.jsonl");
  expect([whole.status, await whole.text()]).toEqual([200, "0123456789"]);
  const part = await harness.fetch("/api/shared/content/sources.jsonl", { headers: { Range: "bytes=2-4" } });
  expect([part.status, await part.text()]).toEqual([206, "234"]);
  expect(part.headers.get("content-range")).toBe("bytes 2-4/10");
  expect(part.headers.get("last-modified")).not.toBeNull();
  const beyond = await harness.fetch("/api/shared/content/sources.jsonl", {
    headers: { Range: "bytes=99-" },
  });
  expect(beyond.status).toBe(416);
  const inner = await harness.fetch(`/api/shared/content/runs/${encodeURIComponent("a b#?.jsonl")}`);
  expect(await inner.text()).toBe("inner");
});

it("does not lead out of the folder, nor to hidden files", async () => {
  const headers = { Authorization: `Bearer ${harness.token}` };
  for (const path of [
    "../secret.txt",
    "..%2fsecret.txt",
    "%2e%2e/secret.txt",
    "runs/../../secret.txt",
    "runs%2f..%2f..%2fsecret.txt",
    "..%5csecret.txt",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "out.jsonl",
    "above/secret.txt",
    "environment",
    "shown/key",
    ".env",
    ".hidden/key",
    "runs",
    "a%00b",
    "%ff",
  ]) {
    const answer = await harness.raw(`/api/shared/content/${path}`, headers);
    expect([400, 404], path).toContain(answer.status);
    expect(answer.body.toString(), path).not.toContain("secret\n");
    expect(answer.body.toString(), path).not.toBe("secret");
  }
  for (const path of ["..", "above", "shown", "../page", "/", ".hidden", "runs/.."])
    expect([400, 404], path).toContain((await listed(path)).status);
});

it("asks for the token, and says how to share a folder where none is", async () => {
  for (const path of ["/api/shared", "/api/shared/content/sources.jsonl"])
    expect((await harness.raw(path)).status).toBe(401);
  const other = new Harness();
  await other.start();
  try {
    const answer = await other.fetch("/api/shared");
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: "this worker shares no folder: start it with --files FOLDER" },
    ]);
  } finally {
    await other.remove();
  }
  const nowhere = createWorker({ port: 0, dataDir: join(harness.folder, "d2"), filesDir: "/no/such" });
  await expect(nowhere).rejects.toThrow('--files: expected a folder that can be read, got "/no/such"');
});
