/**
 * Two epochs from the page alone, over real servers: `npm run build && npm run conformance -- page --skyrl
 * VENV/bin/python --vllm VENV/bin/vllm`. A browser adds a target that a real sshd reaches, launches a run there whose
 * student a real SkyRL trains and whose teacher a real vLLM serves, fetches it, and opens its results. The same config
 * with our own gradients, LoRA against LoRA, and our own teacher must come to the same. What `--conformance -- skyrl`,
 * `vllm` and `ssh` need, and a Chromium (GCOPD_CHROMIUM, or `chromium` on the path).
 */
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { main } from "../../src/cli/main.ts";
import { PAPER_SETTINGS } from "../../src/core/ports.ts";
import { createFolder, openFolder } from "../../src/engine/native/node-folder.ts";
import { Server } from "../../src/engine/remote/index.ts";
import { TinkerTrainer } from "../../src/engine/tinker/index.ts";
import { adapterDifferences, largestDifference, readAdapter } from "../support/adapters.ts";
import { FakeTinker } from "../support/fake-tinker.ts";
import {
  figureDifference,
  figuresOf,
  logprobsOf,
  RANK,
  RealRemote,
  remoteOptions,
  say,
} from "../support/real-remote.ts";

/** Of configs that name none. */
const SEED = 42;
const few = (value: number) => value.toExponential(1);
const remote = await RealRemote.start(remoteOptions("page"));
const at = remote.at.bind(remote);
try {
  const { student, teacher, skyrl, vllm, worker } = remote;
  // The adapter that the server begins with at this seed.
  const untrained = await TinkerTrainer.open(new Server(skyrl.url), null, {
    ...{ baseModel: student, rank: RANK, seed: SEED, ownOptimizer: false },
    ...{ base: openFolder(student), merge: false, onNote: () => undefined },
    // What it begins with: no step is taken.
    ...{ decisions: [], settings: PAPER_SETTINGS },
  });
  await untrained.save(createFolder(at("start")), { optimizer: false });
  untrained.dispose();
  const start = await readAdapter(at("start"));

  const browser = await chromium.launch({
    executablePath: process.env.GCOPD_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  remote.onClose(() => browser.close());
  const page = await browser.newPage();
  const asked = performance.now();
  await page.goto(worker.url);
  await page
    .locator('input[type="file"]')
    .first()
    .setInputFiles(
      Object.entries(remote.records).map(([name, buffer]) => ({
        name,
        buffer,
        mimeType: "application/jsonl",
      })),
    );
  await page.getByRole("button", { name: "t1" }).click();
  await page.keyboard.press("6");
  await page.getByRole("button", { name: "Add a target…" }).click();
  const form = page.getByRole("form", { name: "Add a target" });
  for (const [label, text] of Object.entries(remote.target))
    await form.getByLabel(label, { exact: true }).fill(text);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Check: box" }).click();
  await page.getByText("A run can be launched.").waitFor({ timeout: 120_000 });
  await page.getByRole("button", { name: "Set up a run on box" }).click();
  await page.getByLabel("Train on").selectOption("library");
  await page.getByRole("combobox", { name: "Device", exact: true }).selectOption("cpu");
  await page.getByLabel(/^Teacher \(/).fill(vllm.url);
  await page.getByLabel(/^Student \(/).fill(student);
  await page.getByLabel(/^Tokenizer/).fill(student);
  await page.getByLabel("Vanilla passes").fill("1");
  await page.getByLabel("Graph-conditioned passes").fill("2");
  await page.getByLabel("Episodes per step").fill("1");
  await page.getByLabel("Teacher’s folder, to calibrate").fill(teacher);
  await page.getByLabel("A server trains the student").check();
  await page.getByLabel("Address of that server").fill(skyrl.url);
  await page.getByLabel("LoRA rank (0: all weights)").fill(String(RANK));
  await page.getByRole("button", { name: "Launch on box" }).click();
  const launched = performance.now();
  const detail = page.getByTestId("run-detail");
  await detail.getByText("✓ done · step 12 of 12").waitFor({ timeout: 3_600_000 });
  await page.getByRole("button", { name: "Fetch results" }).click();
  await page.getByTestId("launched").getByText("students and files are below").waitFor({ timeout: 120_000 });
  const words = (await page.getByTestId("launched").textContent()) ?? "";
  const [id] = /\d{8}-\d{6}-[0-9a-f]{6}/.exec(words) ?? [];
  assert.ok(id !== undefined, words);
  say(
    `${id}: set up in ${((launched - asked) / 1000).toFixed(0)} s, run and fetched in ` +
      `${((performance.now() - launched) / 1000).toFixed(0)} s, with the page alone`,
  );

  // What was fetched is what the target has.
  const there = at("scratch", "gcopd-runs", id, "out");
  const config: unknown = JSON.parse(readFileSync(at("scratch", "gcopd-runs", id, "config.json"), "utf8"));
  assert.ok(typeof config === "object" && config !== null);

  // The same with our own gradients, and our own teacher.
  const own = await FakeTinker.start({ base: student, adapter: start });
  remote.onClose(() => own.close());
  cpSync(at("scratch", "gcopd-runs", id), at("own"), { recursive: true });
  rmSync(at("own", "out"), { recursive: true });
  const { calibrate_with: _, ...rest } = { calibrate_with: null, ...config };
  writeFileSync(
    at("own", "config.json"),
    JSON.stringify({ ...rest, teacher, tinker: { url: own.url, lora_rank: RANK } }),
  );
  assert.equal(await main(["train", "--config", at("own", "config.json"), "--out", at("own", "out")]), 0);

  const [found, expected] = [figuresOf(there), figuresOf(at("own", "out"))];
  const worst = (key: Parameters<typeof figureDifference>[0]) => few(figureDifference(key, found, expected));
  const logprobs = largestDifference(logprobsOf(there), logprobsOf(at("own", "out")));
  const adapters = adapterDifferences(
    await readAdapter(join(there, "student")),
    await readAdapter(at("own", "out", "student")),
    start,
  );
  say(
    `${expected.length} steps: loss within ${worst("loss")}, gradient norm ${worst("gradNorm")}, mean advantage ` +
      `${worst("meanAdvantage")} of ours; log-probabilities of the last step within ${few(logprobs)} nats; adapter ` +
      `${few(adapters.weights)} relative, its movement ${few(adapters.moved)}`,
  );
  assert.ok(logprobs < 1e-4 && adapters.weights < 1e-3);
  assert.ok(existsSync(join(there, "teacher.json")));
  say("ok      page: a run over ssh with SkyRL's student and vLLM's teacher equals ours");
} finally {
  await remote.close();
}
