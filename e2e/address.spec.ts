/** Libraries behind addresses: a server with range requests, and one without, each of another origin than the page. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type Page, test } from "./base.ts";
import { EPISODES, jsonLines, SOURCES, TASK } from "./own-files.ts";
import { startWorker } from "./site.ts";

interface Asked {
  path: string;
  range: string | undefined;
  bytes: number;
}

/** Serves records to pages of other origins. */
async function serve(ranges: boolean): Promise<{ server: Server; url: string; asked: Asked[] }> {
  // Long enough that reading a task is less than reading the file.
  const sources = Array.from({ length: 200 }, (_, n) =>
    SOURCES.map((source) => ({ ...source, task: n === 0 ? TASK : `other|${n}|easy` })),
  ).flat();
  const files: Record<string, Buffer> = {
    "/sources.jsonl": jsonLines(sources),
    "/episodes.jsonl": jsonLines(EPISODES),
  };
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Allow-Headers", "Range");
    response.setHeader("Access-Control-Expose-Headers", "Content-Range, ETag");
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    const body = files[path];
    if (body === undefined) return void response.writeHead(404).end();
    const found = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const range = ranges && found !== null ? found : null;
    const [start, end] =
      range === null ? [0, body.length] : [Number(range[1]), Math.min(Number(range[2]) + 1, body.length)];
    asked.push({ path, range: request.headers.range, bytes: end - start });
    response.writeHead(range === null ? 200 : 206, {
      "Content-Length": end - start,
      ...(range === null
        ? {}
        : { "Content-Range": `bytes ${start}-${end - 1}/${body.length}`, ETag: '"one"' }),
    });
    response.end(body.subarray(start, end));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

async function openAddress(page: Page, text: string): Promise<void> {
  // Beside an open library the ways to open another are in a menu.
  const menu = page.getByText("Open…", { exact: true });
  if ((await menu.count()) > 0 && !(await page.getByTestId("address").isVisible())) await menu.click();
  if (!(await page.getByTestId("address").isVisible()))
    await page.getByRole("button", { name: "Open an address…" }).click();
  await page.getByTestId("address").fill(text);
  await page.getByRole("button", { name: "Open", exact: true }).click();
}

/** A page whose worker lets it read from the data's origin, as `gcopd worker --connect` does. */
async function withPage(
  ranges: boolean,
  use: (url: string, data: Awaited<ReturnType<typeof serve>>) => Promise<void>,
) {
  const data = await serve(ranges);
  const folder = await mkdtemp(join(tmpdir(), "gcopd-e2e-"));
  const worker = await startWorker(folder, "--connect", data.url);
  try {
    await use(worker.url, data);
  } finally {
    await worker.stop();
    data.server.closeAllConnections();
    data.server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

test("with range requests one task is read at a time, and nothing else unless it is asked for", async ({
  page,
}) => {
  await withPage(true, async (url, data) => {
    await page.goto(url);
    await openAddress(page, `${data.url}/sources.jsonl ${data.url}/episodes.jsonl`);
    await expect(page.getByTestId("file-note")).toContainText([
      /sources.jsonl has no .index.jsonl beside it/,
      /episodes/,
    ]);
    await expect(page.getByTestId("counting")).toContainText(/States counted in \d+ of 200 tasks/);
    const size = Math.max(...data.asked.map(({ bytes }) => bytes));
    data.asked.length = 0;
    await page.getByRole("button", { name: TASK }).click();
    await expect(page.getByRole("heading", { name: "Decision 0", exact: true })).toBeVisible();
    expect(data.asked.length).toBeGreaterThan(0);
    for (const { range, bytes } of data.asked) {
      expect(range).toMatch(/^bytes=\d+-\d+$/);
      expect(bytes).toBeLessThan(size / 20);
    }
    await page.keyboard.press("1");
    await page.getByRole("button", { name: /Count all/ }).click();
    await expect(page.getByTestId("counting")).toHaveCount(0);
  });
});

test("without range requests the file is downloaded whole, and that is said", async ({ page }) => {
  await withPage(false, async (url, data) => {
    await page.goto(url);
    await openAddress(page, `${data.url}/sources.jsonl ${data.url}/episodes.jsonl`);
    await expect(page.getByTestId("file-note").first()).toContainText(
      /sources.jsonl was downloaded whole \(.* MB\): the server does not answer range requests/,
    );
    data.asked.length = 0;
    await page.getByRole("button", { name: TASK }).click();
    await expect(page.getByRole("heading", { name: "Decision 0", exact: true })).toBeVisible();
    expect(data.asked).toEqual([]);
  });
});

test("an address that cannot be opened is one line", async ({ page }) => {
  await withPage(true, async (url, data) => {
    await page.goto(url);
    const notice = page.getByTestId("notice");
    await openAddress(page, `${data.url}/none.jsonl`);
    await expect(notice).toContainText("none.jsonl: the server answered 404");
    await page.getByTestId("address").fill("http://127.0.0.1:9/x.jsonl");
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await expect(notice).toContainText("gcopd worker --connect http://127.0.0.1:9");
    await page.getByTestId("address").fill("library.jsonl");
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await expect(notice).toContainText("not a web address");
  });
});
