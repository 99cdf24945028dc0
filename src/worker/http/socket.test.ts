/** A worker on a unix socket: who may connect, what is in the way of the socket, and which names a tunnel may give it. */

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Harness } from "../testing/harness.ts";

let harness: Harness;
let socket: string;
beforeEach(() => {
  harness = new Harness();
  mkdirSync(join(harness.folder, "own"), { mode: 0o700 });
  socket = join(harness.folder, "own", "s");
});
afterEach(() => harness.remove());

function ask(path: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: socket, path, headers, agent: false }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

it("is this user's alone, and gone with the worker", async () => {
  const before = process.umask(0);
  await harness.start({ socket });
  process.umask(before);
  expect(harness.worker?.url).toBe(socket);
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  await harness.stop();
  expect(existsSync(socket)).toBe(false);
  await harness.start({ socket: true });
  expect(harness.worker?.url).toBe(join(harness.dataDir, "worker.sock"));
});

it("has any port as the host, and only that as the origin", async () => {
  await harness.start({ socket });
  const token = { Authorization: `Bearer ${harness.token}` };
  const status = async (headers: Record<string, string>, path = "/api/health") =>
    (await ask(path, { ...token, ...headers })).status;
  for (const Host of ["127.0.0.1:8792", "localhost:1", "[::1]:65535", "127.0.0.1"]) {
    expect(await status({ Host })).toBe(200);
    expect(await status({ Host, Origin: `http://${Host}` })).toBe(200);
    for (const Origin of ["https://evil.example", "null", `https://${Host}`, "http://127.0.0.1:2"])
      for (const path of ["/", "/api/health"]) expect(await status({ Host, Origin }, path)).toBe(403);
    expect(await status({ Host, "Sec-Fetch-Site": "same-site" })).toBe(403);
  }
  for (const Host of ["evil.example", "evil.example:8792", "127.0.0.1.evil.example:1"])
    expect(await status({ Host })).toBe(403);
  expect((await ask("/api/health", { Host: "127.0.0.1:1" })).status).toBe(401);
});

it("hands nobody the token with the page", async () => {
  await harness.start({ socket });
  const page = await ask("/", { Host: "127.0.0.1:8792" });
  expect(page).toMatchObject({ status: 200, body: expect.stringContaining("<head>") });
  expect(page.body).not.toContain(harness.token);
});

it("replaces what a dead worker left, and refuses what is alive or of others", async () => {
  // A process that ends without closing its server leaves the socket behind.
  const program = `require("net").createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 9))`;
  spawnSync(process.execPath, ["-e", program]);
  expect(statSync(socket).isSocket()).toBe(true);
  await harness.start({ socket });
  expect((await ask("/", { Host: "127.0.0.1:1" })).status).toBe(200);
  await harness.stop();

  const other = createServer();
  await new Promise<void>((resolve) => other.listen(socket, resolve));
  await expect(harness.start({ socket })).rejects.toThrow(
    `${socket}, --socket: another worker listens on it: stop that one or choose another path`,
  );
  expect(existsSync(socket)).toBe(true);
  await new Promise((resolve) => other.close(resolve));

  writeFileSync(socket, "mine");
  await expect(harness.start({ socket })).rejects.toThrow("already exists and is not a socket");
  symlinkSync("nowhere", join(harness.folder, "own", "link"));
  await expect(harness.start({ socket: join(harness.folder, "own", "link") })).rejects.toThrow(
    "already exists and is not a socket",
  );
  await expect(harness.start({ socket: join(harness.folder, "x".repeat(104)) })).rejects.toThrow(
    /expected a path of at most 103 bytes, got \d+/,
  );
  for (const mode of [0o770, 0o702, 0o1777]) {
    chmodSync(join(harness.folder, "own"), mode);
    await expect(harness.start({ socket })).rejects.toThrow("others may put a socket of theirs in its place");
  }
  await expect(harness.start({ socket: join(harness.folder, "none", "s") })).rejects.toThrow(
    "the folder to write into does not exist",
  );
});
