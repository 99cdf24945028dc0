import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { synthSources } from "../../../../formats/synth/index.ts";
import { recordLine } from "../../../../formats/write.ts";
import { checkAddress } from "../../../base/address.ts";
import { openAddress } from "./http-reader.ts";
import { indexBlob, openRecordFile } from "./record-file.ts";

const text = [...synthSources({ tasks: 3, sources: 2, episodes: 0, seed: 5 })].map(recordLine).join("");
let content = Buffer.from(text);
let ranges = true;
let sidecar: Buffer | null = null;
const asked: string[] = [];
let server: Server;
let base = "";

beforeAll(async () => {
  server = createServer((request, response) => {
    const { url = "", headers } = request;
    asked.push(`${url} ${headers.range ?? "whole"}`);
    const body = url.startsWith("/lib.jsonl.index.jsonl")
      ? sidecar
      : url.startsWith("/lib.jsonl")
        ? content
        : null;
    if (body === null) return void response.writeHead(404).end();
    const range = ranges ? /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") : null;
    if (range === null) return void response.writeHead(200, { "Content-Length": body.length }).end(body);
    const [start, end] = [Number(range[1]), Math.min(Number(range[2]) + 1, body.length)];
    response.writeHead(206, {
      "Content-Range": `bytes ${start}-${end - 1}/${body.length}`,
      ETag: `"${body.length}-${body[0]}-${body[9]}"`,
    });
    response.end(body.subarray(start, end));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

describe("a library behind an address", () => {
  it("is indexed by one pass, then read by ranges", async () => {
    const file = await openRecordFile({ kind: "address", address: `${base}/lib.jsonl?v=1` });
    expect([file.indexed, file.remote, file.original]).toEqual(["built", true, true]);
    expect(file.notes).toEqual([expect.stringContaining("has no .index.jsonl beside it")]);
    asked.length = 0;
    expect(await file.library.readTask(1)).toHaveLength(2);
    expect(asked).toEqual([expect.stringMatching(/^\/lib\.jsonl\?v=1 bytes=\d+-\d+$/)]);

    sidecar = Buffer.from(await (await indexBlob(file)).arrayBuffer());
    asked.length = 0;
    const again = await openRecordFile({ kind: "address", address: `${base}/lib.jsonl?v=1` });
    expect([again.indexed, again.notes]).toEqual(["kept", []]);
    expect(asked).toContain("/lib.jsonl.index.jsonl?v=1 whole");
    expect(again.index).toEqual(file.index);
  });

  it("that changes while it is read is refused", async () => {
    const found = await openAddress(`${base}/lib.jsonl`);
    if (!found.ranges) throw new Error("expected ranges");
    content = Buffer.from(`${text}\n`);
    await expect(found.reader.read(0, 10)).rejects.toThrow("lib.jsonl: has changed on the server");
    content = Buffer.from(text);
  });

  it("without range requests is downloaded whole, and says so", async () => {
    ranges = false;
    const file = await openRecordFile({ kind: "address", address: `${base}/lib.jsonl` });
    expect([file.remote, file.original]).toEqual([false, false]);
    expect(file.notes).toEqual([expect.stringMatching(/downloaded whole .*does not answer range requests/)]);
    asked.length = 0;
    expect(await file.library.readTask(2)).toHaveLength(2);
    expect(asked).toEqual([]);
    ranges = true;
  });

  it.each([
    ["ftp://x/lib.jsonl", "expected an https:// address"],
    ["http://example.com/lib.jsonl", "expected an https:// address"],
    ["lib.jsonl", "not a web address"],
    ["https://me:secret@example.com/lib.jsonl", "with a password"],
  ])("refuses %s", (address, message) => {
    expect(() => checkAddress(address)).toThrow(message);
  });

  it("is one line when there is none", async () => {
    await expect(openAddress(`${base}/none.jsonl`)).rejects.toThrow("none.jsonl: the server answered 404");
    await expect(openAddress("http://127.0.0.1:1/x.jsonl")).rejects.toThrow("x.jsonl: could not be fetched");
  });
});
