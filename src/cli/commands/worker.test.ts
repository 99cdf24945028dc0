import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { runCli } from "../../../test/support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "gcopd-worker-command-"));
afterAll(() => rmSync(folder, { recursive: true }));

const TOKEN = "0123456789abcdef";
const WARNING = "--token: others on this machine can read it in the list of processes";
/** Refused before a worker starts. */
const NO_PAGE = ["--page", folder];

it("warns of a token on the command line, and of none in a file", async () => {
  const file = join(folder, "token");
  writeFileSync(file, `${TOKEN}\n`);
  chmodSync(file, 0o600);
  const line = await runCli("worker", "--token", TOKEN, ...NO_PAGE);
  expect([line.code, line.err]).toEqual([1, expect.stringContaining(WARNING)]);
  expect(line.err).not.toContain(TOKEN);
  const fromFile = await runCli("worker", "--token-file", file, ...NO_PAGE);
  expect([fromFile.code, fromFile.err]).toEqual([1, expect.not.stringContaining("--token:")]);
  expect((await runCli("worker", "--token", TOKEN, "--token-file", file)).code).toBe(2);
});
