// Takes the pictures of the README from the built page and the sample: `npm run build && node scripts/pictures.mjs`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright";
import { findChromium } from "./browser.mjs";

const data = mkdtempSync(join(tmpdir(), "gcopd-pictures-"));
const worker = spawn(process.execPath, ["bin/gcopd.js", "worker", "--port", "0", "--data", data], {
  stdio: ["ignore", "pipe", "inherit"],
});
const [url] = await once(createInterface({ input: worker.stdout }), "line");
const browser = await chromium.launch({
  executablePath: await findChromium(),
  args: ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--no-first-run"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
  const folder = "docs/images";
  mkdirSync(folder, { recursive: true });
  await page.goto(url);
  await page.getByRole("button", { name: "Open the sample" }).first().click();
  await page.getByText("find-non-living-thing|36|easy").first().click();
  for (let decision = 0; decision < 4; decision++) {
    await page.waitForTimeout(500);
    await page.keyboard.press("j");
  }
  await page.waitForTimeout(1500);
  await page.screenshot({ path: `${folder}/task.png` });
  await page.keyboard.press("t");
  await page.waitForTimeout(1000);
  await page.keyboard.press("s");
  await page.getByText("whole response").waitFor({ timeout: 300_000 });
  await page.waitForTimeout(1000);
  await page.screenshot({ path: `${folder}/tokens.png` });
  console.log(`${folder}/task.png, ${folder}/tokens.png`);
} finally {
  await browser.close();
  worker.kill("SIGTERM");
  await once(worker, "exit");
  rmSync(data, { recursive: true, force: true });
}
