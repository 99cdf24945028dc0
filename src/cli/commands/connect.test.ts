/** `gcopd connect`: the worker behind a unix socket of a target, with a program in the place of ssh. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { buildCli, type CliProcess, runCli, startCli } from "../../../test/support/cli.ts";
import { Harness } from "../../worker/testing/harness.ts";

const BIN = resolve(import.meta.dirname, "../../../test/support/launch-bin");

let script: string;
beforeAll(async () => {
  script = await buildCli("connect");
});
afterAll(() => rmSync(join(script, ".."), { recursive: true, force: true }));

let harness: Harness;
/** Where the page is, once it is opened. */
let address = "";
const at = (...path: string[]) => join(harness.folder, ...path);
beforeEach(async () => {
  harness = new Harness();
  mkdirSync(at("ssh"));
  vi.stubEnv("PATH", [BIN, process.env.PATH].join(delimiter));
  vi.stubEnv("FAKE_SSH", at("ssh"));
  vi.stubEnv("XDG_CONFIG_HOME", at("config"));
  // Of the machine at the other end, too.
  vi.stubEnv("XDG_DATA_HOME", harness.folder);
  await runCli("target", "add", "box", "--host", "box", "--scratch", at("scratch"));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await harness.remove();
});

const start = () => harness.start({ socket: true, dataDir: at("gcopd") });
const fault = (text: string) => writeFileSync(at("ssh", "fault"), `${text}\n`);
const calls = () => readFileSync(at("ssh", "calls"), "utf8").length / 2;

async function connected(work: (line: CliProcess) => Promise<void>): Promise<CliProcess> {
  const line = startCli(script, ["connect", "box", "--port", "0", "--every", "0.05"]);
  try {
    await expect.poll(() => line.output.out).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*\/\n$/);
    address = line.output.out.trim();
    await work(line);
  } finally {
    line.child.kill("SIGINT");
    await line.ended;
  }
  return line;
}

const page = (path = "/", headers = {}) =>
  fetch(new URL(path, address), { headers: { Connection: "close", ...headers } });

it("opens the page with the worker's token, which no list of processes shows, until Ctrl-C", async () => {
  await start();
  const line = await connected(async ({ output }) => {
    expect(output.out).toBe(`${address}\n`);
    const index = await page();
    expect(index.status).toBe(200);
    expect(await index.text()).toContain(`<meta name="gcopd-token" content="${harness.token}" />`);
    expect((await page("/api/health")).status).toBe(401);
    const headers = { Authorization: `Bearer ${harness.token}` };
    expect((await page("/api/health", headers)).status).toBe(200);
    // What the worker refuses is refused here, too.
    expect((await page("/", { Origin: "https://evil.example" })).status).toBe(403);
  });
  expect(await line.ended).toEqual({ code: 0, signal: null });
  expect(line.output.err).not.toContain(harness.token);
  expect(readFileSync(at("ssh", "arguments"), "utf8")).not.toContain(harness.token);
  await expect(page()).rejects.toThrow();
});

it("says since when it was not reached and why, and connects again", async () => {
  await start();
  await connected(async ({ output }) => {
    fault("always unreachable");
    process.kill(Number(readFileSync(at("ssh", "tunnel"), "utf8")));
    await expect
      .poll(() => output.err)
      .toMatch(
        /box: unreachable since \d\d:\d\d:\d\d: box: it does not answer: check the network, or the VPN; retrying/,
      );
    const tried = calls();
    await expect.poll(calls).toBeGreaterThan(tried + 2);
    rmSync(at("ssh", "fault"));
    await expect.poll(() => output.err).toContain("box: reconnected");
    expect((await page()).status).toBe(200);
    // The same reason once, the address once.
    expect(output.err.match(/does not answer/g)).toHaveLength(1);
    expect(output.out.trim().split("\n")).toHaveLength(1);

    await harness.stop();
    process.kill(Number(readFileSync(at("ssh", "tunnel"), "utf8")));
    await expect.poll(() => output.err).toContain("start gcopd worker --socket there; retrying");
    await start();
    await expect.poll(() => output.err.match(/reconnected/g)?.length).toBe(2);
  });
});

it("refuses in one line what it cannot open", async () => {
  const refused = async (...options: string[]) => {
    const { code, err } = await runCli("connect", "box", "--port", "0", ...options);
    expect(code).toBe(1);
    return err;
  };
  expect(await refused()).toBe(
    `gcopd: box: no socket at ${at("gcopd", "worker.sock")}; start gcopd worker --socket there\n`,
  );
  await start();
  fault("unknown-key");
  expect(await refused()).toMatch(/^gcopd: box: its host key is not known: connect once by hand/);
  expect(await refused("--token-file", at("none"))).toBe(
    `gcopd: box: cannot read the token file ${at("none")}; name the worker's with --token-file\n`,
  );
  writeFileSync(at("other"), "x".repeat(32));
  expect(await refused("--token-file", at("other"))).toBe(
    `gcopd: box: ${at("gcopd", "worker.sock")}: its worker has a different token; name its file with --token-file\n`,
  );
  writeFileSync(at("other"), "short\n");
  expect(await refused("--token-file", at("other"))).toMatch(/^gcopd: box, token: expected at least 16/);
  const second = new Harness();
  await second.start();
  const { port } = new URL(second.url);
  expect(await refused("--port", port)).toBe(
    `gcopd: --port: port ${port} of this machine is in use: choose another\n`,
  );
  await second.remove();
  await harness.stop();
  expect(existsSync(at("gcopd", "worker.sock"))).toBe(false);
  await runCli("target", "add", "here", "--scratch", at("scratch"));
  expect((await runCli("connect", "here")).err).toContain("target here is this machine");
});
