/** The page's index and files, as the worker serves them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorker } from "../index.ts";
import { Harness } from "../testing/harness.ts";
import { checkConnectOrigin } from "./security.ts";

let harness: Harness;
beforeAll(async () => {
  harness = new Harness();
  await harness.start();
});
afterAll(() => harness.remove());
const raw = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  harness.raw(path, headers, method);

describe("the page", () => {
  it("gets its token in a meta element and may talk to nobody else", async () => {
    for (const path of ["/", "/index.html"]) {
      const { status, headers, body } = await raw(path);
      expect(status).toBe(200);
      expect(headers["content-type"]).toMatch(/^text\/html/);
      expect(headers["cache-control"]).toBe("no-store");
      expect(body.toString()).toContain(`<head>\n    <meta name="gcopd-token" content="${harness.token}" />`);
      const policy = String(headers["content-security-policy"]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
      expect(policy).toContain("connect-src 'self' blob:");
      expect(policy).toContain("worker-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types gcopd-workers");
      expect(policy).not.toContain("unsafe-inline");
      expect(policy).not.toMatch(/https?:|\*/);
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["x-frame-options"]).toBe("DENY");
      expect(headers["referrer-policy"]).toBe("no-referrer");
      expect(headers["permissions-policy"]).toContain("camera=()");
      expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
      expect(headers["cross-origin-embedder-policy"]).toBe("require-corp");
    }
  });

  it("may read from the origins that were named, and from no other", async () => {
    const other = await createWorker({
      port: 0,
      dataDir: join(harness.dataDir, "connect"),
      pageDir: harness.pageDir,
      connect: ["https://data.example.org/", "http://127.0.0.1:9000"],
    });
    try {
      const response = await fetch(other.url);
      const policy = String(response.headers.get("content-security-policy"));
      const allowed = "connect-src 'self' blob: https://data.example.org http://127.0.0.1:9000";
      expect(policy).toContain(`${allowed};`);
      expect(policy.match(/https?:/g)).toHaveLength(2);
    } finally {
      await other.close();
    }
  });

  it("may read a hub's models from where the hub keeps them, when the hub was named", async () => {
    const other = await createWorker({
      port: 0,
      dataDir: join(harness.dataDir, "hub"),
      pageDir: harness.pageDir,
      connect: ["https://huggingface.co"],
    });
    try {
      const policy = String((await fetch(other.url)).headers.get("content-security-policy"));
      expect(policy).toContain(
        "connect-src 'self' blob: https://huggingface.co https://*.huggingface.co https://*.hf.co;",
      );
    } finally {
      await other.close();
    }
  });

  it.each([
    "https://*",
    "*",
    "https:",
    "http://data.example.org",
    "https://a.org/path",
    "https://a.org; script-src *",
    "file:///etc",
  ])("refuses to let the page read from %s", (origin) => {
    expect(() => checkConnectOrigin(origin)).toThrow("--connect: expected https://HOST");
  });

  it("gets its files with types, gzip, ranges and validators", async () => {
    const plain = await raw("/assets/index-abc.js");
    expect(plain.headers["content-type"]).toMatch(/^text\/javascript/);
    expect(plain.headers["cache-control"]).toContain("immutable");
    expect(plain.headers["content-security-policy"]).toContain("default-src 'none'");
    const packed = await raw("/assets/index-abc.js", { "Accept-Encoding": "gzip, br" });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(packed.headers.vary).toContain("Accept-Encoding");
    expect(packed.body.length).toBeLessThan(plain.body.length);
    expect(gunzipSync(packed.body)).toEqual(plain.body);
    // One that the build has compressed is sent as it lies there.
    const ready = gzipSync("ready");
    writeFileSync(join(harness.pageDir, "assets/index-abc.js.gz"), ready);
    const sent = await raw("/assets/index-abc.js", { "Accept-Encoding": "gzip, br" });
    expect(sent.headers).toMatchObject({
      "content-encoding": "gzip",
      "content-type": plain.headers["content-type"],
      "cache-control": plain.headers["cache-control"],
    });
    expect(sent.headers.vary).toContain("Accept-Encoding");
    expect(sent.headers.etag).not.toBe(plain.headers.etag);
    expect(sent.body).toEqual(ready);
    expect((await raw("/assets/index-abc.js")).body).toEqual(plain.body);

    const lines = await raw("/sample/sources.jsonl", { "Accept-Encoding": "gzip" });
    expect(lines.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    expect(lines.headers["content-encoding"]).toBe("gzip");

    const whole = await raw("/sample/model.safetensors", { "Accept-Encoding": "gzip" });
    expect(whole.headers["content-type"]).toBe("application/octet-stream");
    expect(whole.headers["content-encoding"]).toBeUndefined();
    expect(whole.headers["accept-ranges"]).toBe("bytes");
    const part = await raw("/sample/model.safetensors", { Range: "bytes=10-19", "Accept-Encoding": "gzip" });
    expect([part.status, part.headers["content-range"]]).toEqual([206, "bytes 10-19/256"]);
    expect([...part.body]).toEqual([10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    expect((await raw("/sample/model.safetensors", { Range: "bytes=-2" })).body).toEqual(
      Buffer.from([254, 255]),
    );
    expect((await raw("/sample/model.safetensors", { Range: "bytes=999-" })).status).toBe(416);
    for (const range of [
      "bytes=",
      "bytes=-",
      "bytes=a-b",
      "bytes=9-3",
      "0-5",
      "lines=0-5",
      "bytes=0-1,4-5",
      "x",
    ]) {
      const ignored = await raw("/sample/model.safetensors", { Range: range });
      expect([range, ignored.status, ignored.body.length]).toEqual([range, 200, 256]);
    }
    const head = await raw("/sample/model.safetensors", {}, "HEAD");
    expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, "256", 0]);

    const known = { "If-None-Match": String(whole.headers.etag) };
    expect((await raw("/sample/model.safetensors", known)).status).toBe(304);
    writeFileSync(join(harness.pageDir, "sample/model.safetensors"), Buffer.alloc(257));
    expect((await raw("/sample/model.safetensors", known)).status).toBe(200);
  });

  it("does not lead out of its folder", async () => {
    for (const path of [
      "/../secret.txt",
      "/%2e%2e/secret.txt",
      "/assets/../../secret.txt",
      "/assets/%2e%2e%2f%2e%2e%2fsecret.txt",
      "/..%5csecret.txt",
      "//secret.txt",
      `/${harness.folder}/secret.txt`,
      "/none.js",
    ]) {
      const answer = await raw(path);
      expect(answer.status, path).toBe(404);
      expect(answer.body.toString(), path).not.toBe("secret");
    }
  });
});
