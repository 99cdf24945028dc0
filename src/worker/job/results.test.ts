/** A job's results over HTTP. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Harness } from "../testing/harness.ts";

let harness: Harness;
let done: string;
beforeAll(async () => {
  harness = new Harness();
  await harness.start();
  done = (await harness.train(harness.config({ steps: 1 }).path)).id;
  await harness.until(done, "done");
});
afterAll(() => harness.remove());
const bearer = () => ({ Authorization: `Bearer ${harness.token}` });
const raw = (path: string, headers: Record<string, string> = {}) => harness.raw(path, headers);

describe("results", () => {
  const file = (path: string, headers: Record<string, string> = {}) =>
    raw(`/api/jobs/${done}/results/file?path=${encodeURIComponent(path)}`, { ...bearer(), ...headers });

  it("are listed and fetched, whole or in part", async () => {
    const out = join(harness.dataDir, "jobs", done, "out");
    mkdirSync(join(out, "step-1"));
    writeFileSync(join(out, "step-1", "a b.html"), "<script>alert(1)</script>");
    const list = (await (await harness.fetch(`/api/jobs/${done}/results`)).json()) as {
      folder: string;
      files: { path: string; bytes: number }[];
    };
    expect(list.folder).toBe(out);
    expect(list.files.map(({ path }) => path)).toEqual(["checkpoint.json", "runs", "step-1/a b.html"]);
    expect(list.files[0]!.bytes).toBe('{"step":1}'.length);

    const whole = await file("checkpoint.json");
    expect([whole.status, whole.body.toString()]).toEqual([200, '{"step":1}']);
    expect(whole.headers["content-type"]).toBe("application/json");
    const part = await file("checkpoint.json", { Range: "bytes=1-6" });
    expect([part.status, part.body.toString()]).toEqual([206, '"step"']);
    expect(part.headers["content-range"]).toBe("bytes 1-6/10");
    const outside = await file("checkpoint.json", { Range: "bytes=10-" });
    expect([outside.status, JSON.parse(outside.body.toString())]).toEqual([
      416,
      { error: "Range: the file has 10 bytes" },
    ]);
    const otherUnit = await file("checkpoint.json", { Range: "lines=1-2" });
    expect([otherUnit.status, otherUnit.body.toString()]).toEqual([200, '{"step":1}']);

    const html = await file("step-1/a b.html");
    expect(html.headers["content-type"]).toBe("application/octet-stream");
    expect(html.headers["content-disposition"]).toBe("attachment; filename*=UTF-8''a%20b.html");
    expect(html.headers["x-content-type-options"]).toBe("nosniff");
  });

  it("do not lead out of the job's folder", async () => {
    const out = join(harness.dataDir, "jobs", done, "out");
    symlinkSync(join(harness.folder, "secret.txt"), join(out, "link"));
    symlinkSync(harness.folder, join(out, "folder-link"));
    const paths = [
      "../attempt-1/pid",
      "../../../../secret.txt",
      "step-1/../../attempt-1/pid",
      "..\\attempt-1\\pid",
      join(harness.folder, "secret.txt"),
      "/etc/passwd",
      "checkpoint.json\0",
      "step-1//a",
      ".",
      "step-1",
      "link",
      "folder-link/secret.txt",
      "none",
    ];
    for (const path of paths) {
      const answer = await file(path);
      expect([400, 404], path).toContain(answer.status);
      expect(JSON.parse(answer.body.toString()).error, path).toMatch(
        /^GET \/api\/jobs\/train-\w+\/results\/file/,
      );
    }
    const list = (await (await harness.fetch(`/api/jobs/${done}/results`)).json()) as {
      files: { path: string }[];
    };
    expect(list.files.map(({ path }) => path)).not.toContain("link");
    for (const id of ["..", "%2e%2e", "..%2f..", "train-1%00"]) {
      expect((await raw(`/api/jobs/${id}/results`, bearer())).status, id).toBe(404);
    }
  });
});
