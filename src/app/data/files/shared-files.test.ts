import { afterEach, expect, it, vi } from "vitest";
import { WorkerAway } from "./read-answer.ts";
import { listSharedFolder, readShared, sharedBlob, sharedImportFiles } from "./shared-files.ts";

const SOURCE = { list: "http://worker/api/shared", content: "http://worker/api/shared/content/", token: "t" };
const ENTRY = { name: "a.jsonl", kind: "file", bytes: 3, modified_at: "2026-01-02T03:04:05.678Z" };
const LIST = {
  path: "runs",
  entries: [ENTRY, { ...ENTRY, name: "more", kind: "folder", bytes: null }],
  more: 0,
};

afterEach(() => vi.unstubAllGlobals());

function answer(body: unknown, status = 200): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  vi.stubGlobal("fetch", async () => new Response(text, { status }));
}

it("reads a list of the worker's disk", async () => {
  answer(LIST);
  expect(await listSharedFolder(SOURCE, "runs")).toEqual(LIST);
});

it.each([
  [{ ...LIST, entries: [ENTRY, { ...ENTRY, kind: "link" }] }, 'entries[1].kind: expected "file" or "folder"'],
  [{ ...LIST, more: undefined }, "more: missing; expected number"],
])("names the route, the key and what was expected in a list of another form", async (list, problem) => {
  answer(list);
  const message = expect.stringContaining(`GET /api/shared, ${problem}`);
  await expect(listSharedFolder(SOURCE, "runs")).rejects.toMatchObject({ name: "InputError", message });
});

it("gives the worker's own line for a refusal, and says when it does not answer", async () => {
  answer({ error: "GET /api/shared, path: there is no such folder" }, 404);
  const refused = "GET /api/shared, path: there is no such folder";
  await expect(listSharedFolder(SOURCE, "none")).rejects.toMatchObject({ message: refused });
  answer("<html>", 502);
  const broken = "GET /api/shared: the worker answered 502";
  await expect(listSharedFolder(SOURCE, "")).rejects.toMatchObject({ message: broken });
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("network error")));
  const gone = new WorkerAway().message;
  await expect(listSharedFolder(SOURCE, "")).rejects.toMatchObject({ name: "InputError", message: gone });
});

it("names the file where the worker goes while it is read", async () => {
  const broken = (status: number, headers: Record<string, string> = {}) => {
    const body = new ReadableStream({ pull: (body) => body.error(new TypeError("network error")) });
    vi.stubGlobal("fetch", async () => new Response(body, { status, headers }));
  };
  const file = { kind: "shared", ...SOURCE, path: "m/model.safetensors", size: 9 } as const;
  const gone = { name: "InputError", message: new WorkerAway(file.path).message };
  broken(206, { "Content-Range": "bytes 0-3/9" });
  await expect(readShared(file, 0, 4)).rejects.toMatchObject(gone);
  broken(206);
  await expect(sharedBlob(file)).rejects.toMatchObject(gone);
  answer({ ...LIST, entries: [ENTRY] });
  const files = await sharedImportFiles(SOURCE, "");
  broken(206);
  const { message } = new WorkerAway("a.jsonl");
  await expect(files.open("a.jsonl")[Symbol.asyncIterator]().next()).rejects.toMatchObject({ message });
  broken(200);
  await expect(listSharedFolder(SOURCE, "")).rejects.toMatchObject({ message: new WorkerAway().message });
});
