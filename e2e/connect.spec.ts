/** The page of a worker on another machine, through `gcopd connect`, with a program in the place of ssh. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "./base.ts";

/** Starts a command of which the first line says that it is ready. */
async function started(env: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(process.execPath, ["bin/gcopd.js", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  const stop = async () => {
    child.kill("SIGINT");
    await once(child, "exit");
  };
  return { line: String(line), stop };
}

test("a worker on another machine serves the page, at an address without a token", async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
  for (const name of ["ssh", "config/gcopd"]) await mkdir(join(folder, name), { recursive: true });
  const targets = { box: { host: "box", scratch: folder } };
  await writeFile(join(folder, "config/gcopd/targets.json"), JSON.stringify(targets));
  const env = {
    PATH: [resolve("test/support/launch-bin"), process.env.PATH].join(delimiter),
    FAKE_SSH: join(folder, "ssh"),
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_DATA_HOME: folder,
  };
  const worker = await started(env, "worker", "--socket");
  const connection = await started(env, "connect", "box", "--port", "0");
  try {
    for (let visit = 0; visit < 2; visit += 1) {
      await page.goto(connection.line);
      await page.keyboard.press("6");
      await expect(page.getByTestId("targets")).toContainText("box");
    }
    expect(connection.line).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  } finally {
    await connection.stop();
    await worker.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
