/** The tokens view beyond Δ: signals, linked plots, top-k, pictures, the largest changes, the marked part. */

import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holdAt } from "./compute-worker.ts";
import { dropFiles, EPISODES, jsonLines, SOURCES, TASK, upload } from "./own-files.ts";
import { checkBothThemes, scoreOwn } from "./own-tokens.ts";
import { atRest, decisionShown, expect, type Page, pressEnabled, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const saved = async (page: Page, button: string) => {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: button, exact: true }).click();
  const download = await downloading;
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
};

/** Width and height of a PNG, in dots. */
const pngSize = (bytes: Buffer): [number, number] => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];

test("signals, top-k of both sides, linked plots and pictures, by keyboard", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await scoreOwn(page);
  const strip = page.getByRole("listbox", { name: "Response tokens" });

  // The largest change is selected by itself, then the next: in the strip, the list and the card.
  const largest = page.locator(".largest button");
  await expect(largest.first()).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press(".");
  await expect(largest.nth(1)).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press(",");
  await expect(largest.first()).toHaveAttribute("aria-pressed", "true");
  // The pointer on one marks the others.
  await largest.nth(2).hover();
  await expect(strip.locator(".token.hovered")).toHaveCount(1);
  await expect(page.locator(".plot .marked.hovering").first()).toBeAttached();

  // Ranks and what could have stood in a place come with the scores: one table for both sides.
  const rank = page.getByRole("radio", { name: "rank" });
  await rank.check();
  await expect(page).toHaveURL(/signal=rank/);
  await expect(page.getByTestId("no-signal")).toBeHidden();
  await expect(strip.getByRole("option").first()).toHaveAccessibleName(/rank (\d+|outside the top 64)/);
  const legend = page.getByTestId("signal-legend");
  await expect(legend).toContainText("most probable token flips (");
  await rank.blur();
  const rows = page.getByTestId("top-tables").getByRole("table").locator("tbody tr");
  expect(await rows.count()).toBeGreaterThanOrEqual(5);
  await expect(rows.and(page.locator(".pinned"))).toHaveCount(1);
  const percents = await rows.locator("td:nth-child(3)").allTextContents();
  for (const cell of percents) expect(Number(cell.replace("< ", "").replace("−", "-"))).toBeGreaterThan(0);
  await page.getByRole("radio", { name: "Δ" }).check();
  await expect(legend).toContainText(/green: more likely under .*; purple: less likely; full colour from ±/);

  // A picture of a plot, and of the case study.
  await page.getByText("Save", { exact: true }).first().click();
  const plot = await saved(page, "Save “log p by position” as SVG");
  expect(plot.name).toBe("boil_1_easy-own_0-1-logp.svg");
  const svg = plot.bytes.toString();
  for (const text of ["log p by position", "teacher, with evidence", "qwen3-a", "episodes.jsonl", "#ffffff"])
    expect(svg).toContain(text);
  const [, width] = /width="(\d+)"/.exec(svg)!;
  const png = await saved(page, "Save “log p by position” as PNG");
  expect(pngSize(png.bytes)[0]).toBe(2 * Number(width));
  await page.keyboard.press("Escape");

  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "Case study" });
  await dialog.getByRole("button", { name: "Copy as image" }).click();
  await expect(dialog.getByRole("status")).toHaveText("Copied the picture as PNG.");
  const kinds = await page.evaluate(async () => (await navigator.clipboard.read())[0]!.types);
  expect(kinds).toContain("image/png");
  const study = await saved(page, "Download SVG");
  expect(study.name).toBe("boil_1_easy-own_0-1.svg");
  expect(study.bytes.toString()).toContain("Graph-conditioned teacher");
  const studyPng = await saved(page, "Download PNG");
  expect(pngSize(studyPng.bytes)[0]).toBeGreaterThan(800);
  await page.keyboard.press("Escape");
  await checkBothThemes(page, ".tokens-view");
});

test("the largest changes of an episode lead to each token, and a marked part of the evidence to what it moved", async ({
  page,
}) => {
  await scoreOwn(page);
  const panel = page.getByTestId("changes");
  await pressEnabled(panel.getByRole("button", { name: "Measure this episode (2 decisions)" }));
  await expect(page.getByTestId("changes-facts")).toContainText(
    /^2 of 2 decisions of own#0 with qwen3-a \(f32\): \d+ tokens, mean Δ .* flips at [\d.]+% \(\d+\)/,
    { timeout: MODEL_TIME },
  );
  const rows = panel.getByLabel("Largest changes", { exact: true }).locator("tbody tr");
  const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", ""));
  const sizes = (await rows.locator("td:nth-child(6)").allTextContents()).map(number);
  expect(sizes.length).toBeGreaterThan(10);
  expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  await panel.getByRole("button", { name: "Δ log p" }).click();
  const signed = (await rows.locator("td:nth-child(5)").allTextContents()).map(number);
  expect(signed).toEqual([...signed].sort((a, b) => b - a));
  await expect(page).toHaveURL(/changes=-signed/);
  const csv = await saved(
    page,
    `Save these ${await panel
      .locator("table")
      .last()
      .evaluate((table) => Number(table.getAttribute("aria-rowcount")) - 1)} rows as CSV`,
  );
  expect(csv.name).toBe("boil_1_easy-own_0-changes.csv");
  expect(csv.bytes.toString()).toMatch(/^environment,task,episode,decision,position,id,token_json,/);

  // One Tab stop: keys go through all rows, also those that are not drawn yet, and open none.
  const grid = panel.getByRole("grid", { name: "Largest changes" });
  const stop = grid.locator("tbody button[tabindex='0']");
  const count = Number(await grid.getAttribute("aria-rowcount"));
  const { hash } = new URL(page.url());
  for (const [key, row] of [
    ["ArrowDown", 3],
    ["End", count],
    ["ArrowUp", count - 1],
    ["Home", 2],
  ] as const) {
    if (row === 3) await stop.focus();
    await page.keyboard.press(key);
    await expect(grid.locator(`[aria-rowindex="${row}"] button`), key).toBeFocused();
    await expect(stop).toBeFocused();
  }
  expect(new URL(page.url()).hash).toBe(hash);

  // To a token of the other decision, whose strip already exists.
  await pressEnabled(panel.getByRole("button", { name: /of decision 0 of own#0$/ }).first());
  await expect(page.getByTestId("decision")).toHaveText("0");
  await expect(page.getByTestId("token-card")).toBeVisible();
  await expect(page).toHaveURL(/token=\d+/);
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeInViewport();

  // From a part of the evidence to the tokens that it moved, and back.
  await page.keyboard.press("2");
  await pressEnabled(page.getByRole("button", { name: "Mark the first part" }));
  await expect(page.getByTestId("pointed")).toContainText("Marked: ");
  await pressEnabled(page.getByRole("button", { name: "Part after ›" }));
  const marked = await page.getByTestId("pointed").textContent();
  await page.keyboard.press("o");
  await expect(page.getByTestId("left-out").getByLabel(/^Tokens without /)).toBeVisible({
    timeout: MODEL_TIME,
  });
  await page.keyboard.press("e");
  await expect(page.getByTestId("pointed")).toHaveText(marked!);
  await pressEnabled(page.getByRole("button", { name: "Tokens it moved" }));
  await expect(page.getByTestId("left-out").getByLabel(/^Tokens without /)).toBeVisible();
});

test("a job over a whole task shows what it has, and keeps it when it is stopped", async ({ page }) => {
  await holdAt(page, { at: { call: "score" }, occurrence: 3 });
  await visit(page, sampleHash("tokens", "find-non-living-thing|36|easy"));
  const panel = page.getByTestId("changes");
  await panel.getByRole("button", { name: /^Measure the whole task/ }).click();
  await expect(page.getByTestId("scoring-changes")).toBeVisible();
  const facts = page.getByTestId("changes-facts");
  await expect(facts).toContainText(/^2 of \d+ decisions .* and going on: [1-9]/, {
    timeout: MODEL_TIME,
  });
  await expect(page.getByTestId("scoring-changes")).toContainText(/ left/);
  await page.keyboard.press("Escape");
  await expect(facts).toContainText(", then it was stopped: ");
  await expect(
    panel.getByLabel("Largest changes", { exact: true }).locator("tbody tr").first(),
  ).toBeVisible();
  await expect(panel.getByRole("button", { name: /^Measure the whole task/ })).toBeEnabled();
});

test("512 tokens, one of them of 100,000 characters, hold nothing up", async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), "long-token-"));
  const models = "test/fixtures/models";
  for (const name of ["config.json", "model.safetensors"])
    await copyFile(`${models}/qwen3-a/${name}`, join(folder, name));
  await copyFile(`${models}/tokenizer/tokenizer_config.json`, join(folder, "tokenizer_config.json"));
  const tokenizer = JSON.parse(await readFile(`${models}/tokenizer/tokenizer.json`, "utf8"));
  const id = Math.max(...tokenizer.added_tokens.map((token: { id: number }) => token.id)) + 1;
  // Of the vocabulary: an added token has at most 512 characters.
  tokenizer.model.vocab["x".repeat(100_000)] = id;
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  const ids = Array.from({ length: 512 }, (_, i) => (i === 300 ? id : 300 + (i % 900)));
  const [episode] = EPISODES;
  // Without its text: recorded ids that do not spell it are taken for another tokenizer's.
  const recorded = { response: undefined, response_ids: ids };
  const long = { ...episode!, decisions: episode!.decisions.map((each) => ({ ...each, ...recorded })) };
  await visit(page);
  await dropFiles(page, [
    upload("sources.jsonl", jsonLines(SOURCES)),
    upload("episodes.jsonl", jsonLines([long])),
  ]);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("t");
  await page.getByTestId("pick-teacher-folder").setInputFiles(folder);
  await expect(page.getByTestId("model-teacher")).toContainText("your own");
  await page.keyboard.press("s");
  const strip = page.getByRole("listbox", { name: "Response tokens" });
  await expect(strip.getByRole("option")).toHaveCount(512, { timeout: MODEL_TIME });
  await expect(strip.getByRole("option").nth(300)).toContainText("…⟨99,880 more characters⟩");
  // What comes with the scores a little later is no part of a press.
  await atRest(page);
  // What a press changes, and the longest text: neither depends on how fast the machine is.
  await page.evaluate(() => {
    const changed = { count: 0 };
    new MutationObserver((records) => {
      changed.count += records.length;
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
    Object.assign(window, { changed });
  });
  // From the first token, which is chosen with a press of its own.
  await strip.getByRole("option").first().press("Enter");
  for (let i = 0; i < 19; i++) await page.keyboard.press("ArrowRight");
  await expect(strip.getByRole("option").nth(19)).toHaveAttribute("aria-selected", "true");
  await page.evaluate(() => {
    window.location.hash = window.location.hash.replace("token=19", "token=300");
  });
  await expect(page.getByTestId("token-card")).toContainText("token 300");
  const { count, longest } = await page.evaluate(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let longest = 0;
    while (texts.nextNode() !== null) longest = Math.max(longest, texts.currentNode.nodeValue?.length ?? 0);
    const { changed } = window as Window & { changed?: { count: number } };
    return { count: changed?.count ?? Number.NaN, longest };
  });
  expect(count / 21, "what changes in the page with a token that is chosen").toBeLessThan(256);
  expect(longest, "characters of the longest text in the page").toBeLessThan(5_000);
  await rm(folder, { recursive: true });
});
