/** Models by name: what is said before anything is asked, the download over breaks and reloads, what is kept. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { axeFaults } from "./axe.ts";
import { test as plain } from "./base.ts";
import { COMMIT, LocalHub } from "./hub.ts";
import { expect, type Page, sampleHash, startWorker, test, visit } from "./site.ts";

const TOKENS = sampleHash("tokens", "find-non-living-thing|36|easy", { decision: 4 });

async function openDialog(page: Page, endpoint: string): Promise<void> {
  await expect(page.getByTestId("model-teacher")).toContainText("opened when needed");
  await page.getByTestId("model-teacher").getByRole("button", { name: "By name…" }).click();
  await expect(page.getByRole("dialog")).toContainText("Nobody is contacted before");
  await page.getByRole("textbox", { name: "Model" }).fill("owner/model");
  await page.getByRole("textbox", { name: "Hub" }).fill(endpoint);
}

const lookUp = (page: Page) => page.getByRole("button", { name: "Look up" }).click();

/** A worker that lets its page contact some origins, as `gcopd worker --connect` does, and a hub. */
async function withHub(
  allowed: (hub: LocalHub) => string[],
  use: (url: string, hub: LocalHub) => Promise<void>,
) {
  const hub = new LocalHub();
  await hub.start();
  const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
  const options = allowed(hub).flatMap((origin) => ["--connect", origin]);
  const worker = await startWorker(folder, ...options);
  try {
    await use(worker.url, hub);
  } finally {
    await worker.stop();
    hub.close();
    await rm(folder, { recursive: true, force: true });
  }
}

test("by default no hub may be asked, and the page says which option allows it", async ({ page }) => {
  await visit(page, TOKENS);
  await openDialog(page, "https://huggingface.co");
  await lookUp(page);
  await expect(page.getByTestId("hub-problem")).toContainText(
    "start it with `gcopd worker --connect https://huggingface.co`",
  );
  await page.getByRole("textbox", { name: "Model" }).fill("no-owner");
  await lookUp(page);
  await expect(page.getByTestId("hub-problem")).toContainText("expected hub:OWNER/NAME");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

plain(
  "a model is listed, downloaded over a stop and a reload, kept, opened offline, removed",
  async ({ page }) => {
    await withHub(
      (hub) => [hub.url, hub.weightsUrl],
      async (url, hub) => {
        await page.goto(`${url}${TOKENS}`);
        await openDialog(page, hub.url);
        expect(hub.asked).toEqual([]);
        await lookUp(page);
        const found = page.getByTestId("hub-found");
        await expect(found).toContainText(
          "owner/model, commit 0123456789ab: 4 files, 2.0 MB. 2.0 MB will be",
        );
        expect(hub.asked).toEqual(["/api/models/owner/model/revision/main?blobs=true"]);
        expect(await axeFaults(page)).toEqual([]);

        hub.holdAfter = 1_000_000;
        await page.getByRole("button", { name: "Download 2.0 MB and open as teacher" }).click();
        const download = page.getByTestId("hub-download");
        await expect(download).toContainText("owner/model: downloading model.safetensors · 1.0 MB of 2.0 MB");
        await download.getByRole("button", { name: "Stop" }).click();
        await expect(download).toHaveCount(0);
        const kept = page.getByTestId("hub-kept");
        await expect(kept).toContainText("1.0 MB of 2.0 MB");

        await page.reload();
        await openDialog(page, hub.url);
        await expect(kept).toContainText("1.0 MB of 2.0 MB");
        [hub.holdAfter, hub.asked] = [Number.POSITIVE_INFINITY, []];
        await page.getByRole("button", { name: "Go on with the download of owner/model" }).click();
        const teacher = page.getByTestId("model-teacher");
        await expect(teacher).toContainText("owner/model@0123456789ab, your own");
        // Pinned to its commit: the list is not asked for again, and the rest alone is sent, from the other origin.
        const weights = hub.asked.filter((asked) => asked.startsWith("weights"));
        expect(weights).toHaveLength(1);
        expect(weights[0]).toMatch(/^weights bytes=\d{6,7}-$/);
        expect(hub.asked.some((asked) => asked.startsWith("/api/"))).toBe(false);

        hub.close();
        await page.reload();
        await page.getByTestId("model-teacher").getByRole("button", { name: "By name…" }).click();
        await page.getByRole("button", { name: /^Open owner\/model/ }).click();
        await expect(teacher).toContainText("owner/model@0123456789ab, your own");
        await teacher.getByRole("button", { name: "By name…" }).click();
        await page.getByRole("button", { name: /^Remove owner\/model/ }).click();
        await expect(page.getByTestId("hub-problem")).toContainText("it is the teacher now: open another");

        await page.reload();
        await page.getByTestId("model-teacher").getByRole("button", { name: "By name…" }).click();
        await page.getByRole("button", { name: /^Remove owner\/model/ }).click();
        await expect(page.getByRole("dialog")).toContainText("No model is kept in this browser yet.");
      },
    );
  },
);

plain("a connection that breaks is taken up again; a file of another hash is refused", async ({ page }) => {
  await withHub(
    (hub) => [hub.url, hub.weightsUrl],
    async (url, hub) => {
      [hub.wrongHash, hub.holdAfter] = [true, 1_000_000];
      await page.goto(`${url}${TOKENS}`);
      await openDialog(page, hub.url);
      await lookUp(page);
      await page.getByRole("button", { name: /^Download 2.0 MB/ }).click();
      // What was sent has arrived.
      await expect(page.getByTestId("hub-download")).toContainText("1.0 MB of 2.0 MB");
      hub.breakOff();
      await expect(page.getByTestId("hub-problem")).toContainText(
        /^hub:owner\/model\/model\.safetensors: the SHA-256 of what was downloaded is [0-9a-f]{64}, the hub announces 0{64}; it was thrown away$/,
      );
      expect(hub.asked).toContainEqual(expect.stringMatching(/^weights bytes=\d{5,7}-$/));
      await expect(page.getByTestId("hub-kept")).toContainText("kB of 2.0 MB");
      await expect(page.getByTestId("model-teacher")).toContainText("opened when needed");
    },
  );
});

plain("a redirect to a host that the page may not ask is said with what to do", async ({ page }) => {
  await withHub(
    (hub) => [hub.url],
    async (url, hub) => {
      await page.goto(`${url}${TOKENS}`);
      await openDialog(page, hub.url);
      await lookUp(page);
      await page.getByRole("button", { name: /^Download 2.0 MB/ }).click();
      await expect(page.getByTestId("hub-problem")).toContainText(
        `the hub sends this file on to a host that this page may not ask, or that does not answer it: start it with one more \`--connect ORIGIN\`, where ORIGIN is that of the line "location" that \`curl -sI ${hub.url}/owner/model/resolve/${COMMIT}/model.safetensors\` prints`,
      );
      expect(hub.asked.some((asked) => asked.startsWith("weights"))).toBe(false);
    },
  );
});
