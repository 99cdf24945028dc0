/**
 * What a checkpoint costs that a tab keeps: in the origin's file system, as the page does it, and as blobs in IndexedDB,
 * as it did before and does where there is no such file system; in turns, each in a worker of its own.
 *
 *     npm run bench -- keeping [--gigabytes 2] [--checkpoints 3] [--repeats 2] [--browser PATH]
 *
 * Random bytes in one file. Needs no GPU. The browser's profile lies in the folder for temporary files.
 */
import { parseArgs } from "node:util";
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
    browser: { type: "string" },
  },
});
const bytes = Math.round(1e9 * numberOr(values.gigabytes, 2));
const checkpoints = numberOr(values.checkpoints, 3);
const repeats = numberOr(values.repeats, 2);
/** Where `localhost` is, the page may keep files; nothing is asked of the network. */
const ADDRESS = "http://localhost/";
const WAYS = ["files", "blobs"] as const;

const measured: Record<(typeof WAYS)[number], Kept[]> = { files: [], blobs: [] };
await withBrowser({ browser: values.browser, software: true }, async (browser) => {
  const page = await profilePage(browser);
  await page.route(`${ADDRESS}**`, (route) =>
    route.fulfill({ contentType: "text/html", body: "<!doctype html>" }),
  );
  await page.goto(ADDRESS);
  for (let round = 0; round < repeats; round++)
    for (const way of WAYS) {
      const ask: Ask = { run: `${way}-${round}`, bytes, checkpoints };
      const kept = await page.evaluate(
        ([text, name, ask]) =>
          new Promise<Kept>((resolve, reject) => {
            const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
            const worker = new Worker(url, { type: "module", name });
            worker.onerror = (event) => reject(new Error(event.message));
            worker.onmessage = ({ data }: MessageEvent<{ value: Kept } | { error: string }>) => {
              worker.terminate();
              if ("error" in data) reject(new Error(data.error));
              else resolve(data.value);
            };
            worker.postMessage(ask);
          }),
        [
          way === "blobs" ? `delete StorageManager.prototype.getDirectory;\n${program}` : program,
          way,
          ask,
        ] as const,
      );
      console.error(way, JSON.stringify(kept));
      measured[way].push(kept);
    }
});

const rows: [string, (kept: Kept) => number][] = [
  ...Array.from({ length: checkpoints }, (_, n): [string, (kept: Kept) => number] => [
    `checkpoint ${n + 1}`,
    ({ saved }) => saved[n]!,
  ]),
  ["found after a reload, every byte checked", ({ found }) => found],
  ["read again", ({ read }) => read],
];
console.log(`${(bytes / 1e9).toFixed(1)} GB per checkpoint, medians of ${repeats}, in seconds\n`);
console.log("| | origin's file system | blobs in IndexedDB | ratio |\n|---|--:|--:|--:|");
for (const [what, of] of rows) {
  const [files, blobs] = WAYS.map((way) => median(measured[way].map(of))) as [number, number];
  console.log(`| ${what} | ${files.toFixed(1)} | ${blobs.toFixed(1)} | ${(files / blobs).toFixed(2)} |`);
}
