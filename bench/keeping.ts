/**
 * What a checkpoint costs that a tab keeps, in turns, each way in a worker of its own: in the origin's file system, as the
 * page does it, and as blobs in IndexedDB, as it did before and does where there is no such file system. Or, with
 * `--digest-workers 4,0`, in the origin's file system with so many workers for SHA-256, and with none.
 *
 *     npm run bench -- keeping [--gigabytes 2] [--checkpoints 3] [--repeats 2] [--digest-workers N,N…] [--browser PATH]
 *
 * Random bytes in one file. Needs no GPU. The browser's profile lies in the folder for temporary files.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import fileProgram from "../src/app/data/files/internal/file.worker.ts?program";
import { profilePage, withBrowser } from "./support/browser/built-page.ts";
import type { Ask, Kept } from "./support/browser/keeping-worker.ts";
import program from "./support/browser/keeping-worker.ts?program";
import { median } from "./support/median.ts";
import { numberOr } from "./support/options.ts";

const { values } = parseArgs({
  options: {
    gigabytes: { type: "string" },
    checkpoints: { type: "string" },
    repeats: { type: "string" },
    "digest-workers": { type: "string" },
    browser: { type: "string" },
  },
});
const bytes = Math.round(1e9 * numberOr(values.gigabytes, 2));
const checkpoints = numberOr(values.checkpoints, 3);
const repeats = numberOr(values.repeats, 2);

interface Way {
  name: string;
  script: "/files.js" | "/blobs.js";
  digestWorkers: number | null;
  measured: Kept[];
}
const ways: Way[] = values["digest-workers"]?.split(",").map((count) => ({
  name: `${count} digest workers`,
  script: "/files.js",
  digestWorkers: numberOr(count, 0),
  measured: [],
})) ?? [
  { name: "origin's file system", script: "/files.js", digestWorkers: null, measured: [] },
  { name: "blobs in IndexedDB", script: "/blobs.js", digestWorkers: null, measured: [] },
];

const scripts = new Map([
  ["/files.js", program],
  ["/blobs.js", `delete StorageManager.prototype.getDirectory;\n${program}`],
  ["/file.worker.ts", fileProgram],
]);
// On the loopback, where the page may keep files.
const server = createServer(({ url }, response) => {
  const script = scripts.get(url!);
  response.setHeader("content-type", script === undefined ? "text/html" : "text/javascript");
  response.end(script ?? "<!doctype html>");
}).listen(0, "127.0.0.1");
await once(server, "listening");

await withBrowser({ browser: values.browser, software: true }, async (browser) => {
  const page = await profilePage(browser);
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  for (let round = 0; round < repeats; round++)
    for (const [n, { name, script, digestWorkers, measured }] of ways.entries()) {
      const ask: Ask = { run: `way-${n}-${round}`, bytes, checkpoints, digestWorkers };
      const kept = await page.evaluate(
        ([script, ask]) =>
          new Promise<Kept>((resolve, reject) => {
            const worker = new Worker(script, { type: "module" });
            worker.onerror = (event) => reject(new Error(event.message));
            worker.onmessage = ({ data }: MessageEvent<{ value: Kept } | { error: string }>) => {
              worker.terminate();
              if ("error" in data) reject(new Error(data.error));
              else resolve(data.value);
            };
            worker.postMessage(ask);
          }),
        [script, ask] as const,
      );
      console.error(name, JSON.stringify(kept));
      measured.push(kept);
    }
}).finally(() => {
  server.closeAllConnections();
  server.close();
});

const rows: [string, (kept: Kept) => number][] = [
  ...Array.from({ length: checkpoints }, (_, n): [string, (kept: Kept) => number] => [
    `checkpoint ${n + 1}`,
    ({ saved }) => saved[n]!,
  ]),
  ["found after a reload, every byte checked", ({ found }) => found],
  ["read again", ({ read }) => read],
];
const [first, ...others] = ways;
console.log(`${(bytes / 1e9).toFixed(1)} GB per checkpoint, medians of ${repeats}, in seconds\n`);
console.log(`| | ${[first!.name, ...others.map(({ name }) => `${name} | ratio`)].join(" | ")} |`);
console.log(`|---|--:${"|--:|--:".repeat(others.length)}|`);
for (const [what, of] of rows) {
  const [own, ...theirs] = ways.map(({ measured }) => median(measured.map(of))) as [number, ...number[]];
  const cells = theirs.map((each) => `${each.toFixed(1)} | ${(own / each).toFixed(2)}`);
  console.log(`| ${what} | ${[own.toFixed(1), ...cells].join(" | ")} |`);
}
