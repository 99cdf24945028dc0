/** Records that try to be more than text: nothing runs, nothing turns the page around, nothing holds it up. */

import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import Papa from "papaparse";
import { EVERYTHING, FIVE_MEGABYTES, HOSTILE, hostileName, LONG_TOKEN } from "../test/support/hostile.ts";
import { hostileEpisode, hostileSource } from "../test/support/hostile-records.ts";
import { readXml } from "../test/support/plain-xml.ts";
import { dropFiles, EPISODES, jsonLines, SOURCES, upload } from "./own-files.ts";
import { modelFolder } from "./own-model.ts";
import { decisionShown, expect, type Page, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

function hostile(texts: readonly string[]): Parameters<typeof dropFiles>[1] {
  const records = texts.map((text, i) => {
    const [task, name] = [hostileName(i), hostileName(100 + i)];
    return {
      sources: SOURCES.map((source) => hostileSource(source, task, name, text)),
      episodes: EPISODES.map((episode) => hostileEpisode(episode, task, `${name}#${i}`, text)),
    };
  });
  return [
    upload("sources.jsonl.gz", gzipSync(jsonLines(records.flatMap(({ sources }) => sources)))),
    upload("episodes.jsonl.gz", gzipSync(jsonLines(records.flatMap(({ episodes }) => episodes)))),
  ];
}

/** That a page may hold: a log shows the last 400,000 of its own. */
const MOST_CHARACTERS = 450_000;

/** No script ran, no foreign element is in the page, every character shows, the page is as wide as the window, and does not draw long texts whole. */
async function unharmed(page: Page, what: string): Promise<void> {
  const state = await page.evaluate(() => {
    // What a screen or a screen reader would obey or leave out; a record's own text in a text area is edited as it is.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    const SHAPELESS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/u;
    const shapeless: string[] = [];
    const look = (where: string, text: string): void => {
      const found = SHAPELESS.exec(text);
      if (found !== null)
        shapeless.push(
          `${where}: ${JSON.stringify(text.slice(Math.max(0, found.index - 60), found.index + 1))}`,
        );
    };
    look("title", document.title);
    for (const element of document.body.querySelectorAll("*")) {
      for (const name of ["title", "aria-label", "aria-description", "alt", "placeholder"])
        look(`${element.tagName} ${name}`, element.getAttribute(name) ?? "");
      if (/^(TEXTAREA|SCRIPT|STYLE)$/.test(element.tagName)) continue;
      for (const child of element.childNodes)
        if (child.nodeType === Node.TEXT_NODE) look(element.tagName, child.nodeValue ?? "");
    }
    return {
      ran: "pwned" in window,
      foreign: document.querySelectorAll("img, main script, main b:not(.run-series b)").length,
      // What reaches over the edge, where the page then scrolls to it.
      wide: [document.documentElement, document.querySelector("main")!].some(
        (element) => element.scrollWidth > element.clientWidth,
      )
        ? [...document.querySelectorAll("main *")]
            .filter((element) => element.getBoundingClientRect().right > innerWidth)
            .map(({ tagName, className }) => `${tagName}.${className}`)
            .slice(0, 6)
        : [],
      shapeless: shapeless.slice(0, 5),
      characters: document.body.textContent.length,
    };
  });
  const { characters, ...harm } = state;
  expect.soft(harm, what).toEqual({ ran: false, foreign: 0, wide: [], shapeless: [] });
  // What a page holds up is what it draws: how much that is does not depend on how fast the machine is.
  expect.soft(characters, `${what}: characters of the page`).toBeLessThan(MOST_CHARACTERS);
}

test.beforeEach(({ page }) => {
  page.on("dialog", (dialog) => {
    throw new Error(`a dialog opened: ${dialog.message()}`);
  });
});

test("hostile records are text in every view, and hold nothing up", async ({ page }) => {
  await visit(page);
  await dropFiles(page, hostile([EVERYTHING, LONG_TOKEN, FIVE_MEGABYTES]));
  const names = page.locator("table.tasks tbody tr:not(.spacer) th button");
  await expect(names).toHaveCount(3);
  await expect(names.first()).toContainText("=<script>window.pwned=1</script>⟦RLO⟧␛[31m⟦ZWSP⟧`|␊⟦U+D83D⟧nnn");
  await expect(names.first()).toContainText("characters)");
  await unharmed(page, "library");
  for (const [i, what] of ["texts", "token", "megabytes"].entries()) {
    await page.keyboard.press("1");
    await names.nth(i).click();
    await expect(page.getByRole("heading", { name: "Decision 0", exact: true })).toBeVisible();
    await expect(page.getByTestId("evidence")).toBeVisible();
    await unharmed(page, `task-${what}`);
    await page
      .getByRole("grid")
      .getByRole("gridcell", { name: /^teacher:0/ })
      .nth(1)
      .click();
    await expect(page.locator(".pinned-visit dl")).toBeVisible();
    await page.getByRole("button", { name: "Highlight path" }).click();
    await unharmed(page, `pinned-${what}`);
    if (what === "megabytes") {
      const whole = page.getByTestId("evidence").getByRole("button", { name: /^Show / });
      await expect(whole.first()).toBeVisible();
      await expect(page.locator(".evidence .cut").first()).toContainText(
        /20,000 of 5,\d{3},\d{3} characters/,
      );
    }
    await page.keyboard.press("v");
    await page.keyboard.press("j");
    await expect(page.getByRole("heading", { name: "Decision 1", exact: true })).toBeVisible();
    await page.getByRole("button", { name: "Compare with the chosen" }).first().click();
    await expect(page.getByTestId("same-state")).toBeVisible();
    await unharmed(page, `compare-${what}`);
    await page.keyboard.press("Escape");

    // The evidence by hand: what is edited is the text itself, what is shown of it is text that shows.
    await page.keyboard.press("m");
    const editor = page.getByTestId("evidence-editor");
    await expect(editor).toBeVisible();
    await editor.locator("summary").click();
    await unharmed(page, `editor-${what}`);
    if (what === "megabytes") {
      await expect(page.getByTestId("not-editable")).toContainText("can be edited here");
      await editor.getByRole("checkbox").first().click();
      await page.getByRole("button", { name: "Changes", exact: true }).click();
    } else {
      await editor.getByRole("textbox", { name: /^Evidence/ }).focus();
      await page.keyboard.press("Control+Home");
      await page.keyboard.type("Edited. ");
      await page.keyboard.press("Control+Enter");
      await expect(page.getByTestId("what-if")).toContainText("evidence edited by hand");
    }
    await expect(page.getByTestId("evidence-diff")).toBeVisible();
    await unharmed(page, `diff-${what}`);
    await page.getByRole("button", { name: "Reset to GC-OPD + GA" }).click();
    await expect(page.getByTestId("what-if")).toHaveCount(0);

    await page.keyboard.press("3");
    await unharmed(page, `tokens-${what}`);
  }
  await page.keyboard.press("5");
  await expect(page.getByTestId("statistics-scope")).toBeVisible();
  await unharmed(page, "statistics");

  // Found by a part of their names, and gone to.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /^Find/ }).fill("pwned </script>");
  await expect(page.locator("#palette-list [role=option]").first()).toContainText("⟦RLO⟧");
  await unharmed(page, "palette");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});

/** Two jobs of the worker, one of them hostile in every word that it has. */
async function hostileJobs(page: Page): Promise<void> {
  const job = (number: number, words: string) => ({
    id: `train-00000000000${number}`,
    state: "failed",
    request: { kind: "train", title: words.slice(0, 200), config: { teacher: words, [words]: words } },
    command: ["gcopd", "train", words],
    attempt: 1,
    message: words,
    created_at: "2026-11-01T10:00:00.000Z",
    ended_at: "2026-11-01T10:00:01.000Z",
    last_event: 9,
  });
  const jobs = [job(1, EVERYTHING), job(2, `${hostileName(1)}`)];
  await page.route(/\/api\/jobs\?/, (route) => route.fulfill({ json: { jobs } }));
  const updated = (step: number) => ({
    type: "updated",
    step,
    stage: 0,
    seconds: 1,
    tokensPerSecond: 1,
    metrics: {
      loss: step,
      gradNorm: 1,
      clipFraction: 0,
      meanAdvantage: 0,
      rolloutKl: 0,
      alignment: 0,
      tokens: 2,
    },
  });
  const events = [
    { type: "start", steps: 2, resumedFrom: null },
    updated(1),
    { type: "fault", step: 1, message: EVERYTHING },
    updated(2),
  ].map(
    (event, i) =>
      `id: ${i + 1}\nevent: progress\ndata: ${JSON.stringify({ ...event, at: "2026-11-01T10:00:00Z" })}\n\n`,
  );
  const ended = `id: 9\nevent: state\ndata: ${JSON.stringify({ state: "failed", message: EVERYTHING, at: "2026-11-01T10:00:01Z" })}\n\n`;
  await page.route(/\/api\/jobs\/[^/]+\/events\?/, (route) =>
    route.fulfill({ contentType: "text/event-stream", body: [...events, ended].join("") }),
  );
  await page.route(/\/api\/jobs\/[^/]+\/log/, (route) =>
    route.fulfill({
      contentType: "text/plain; charset=utf-8",
      body: `${EVERYTHING}\n${LONG_TOKEN.repeat(6)}\n`,
    }),
  );
  await page.route(/\/api\/jobs\/[^/]+\/results$/, (route) =>
    route.fulfill({ json: { folder: "/", files: [{ path: EVERYTHING, bytes: 1 }] } }),
  );
  const batch = [
    { step: 2, decisions: 1 },
    {
      episode: hostileName(1),
      decision: 0,
      weight: 1,
      ids: [1, 2],
      tokens: [EVERYTHING, LONG_TOKEN],
      logprobs: [-1, -2],
      teacher_logprobs: [-2, -1],
      ratio: [1, 1],
      advantage: [-1, 1],
      clipped: [0, 1],
    },
  ];
  await page.route(/\/api\/jobs\/[^/]+\/results\/file/, (route) =>
    route.fulfill({ contentType: "text/plain; charset=utf-8", body: jsonLines(batch) }),
  );
}

/** Presses a button and gives the file that it saves. */
async function saved(page: Page, button: string | RegExp): Promise<{ name: string; text: string }> {
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: button, exact: typeof button === "string" }).click();
  const download = await downloading;
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}

test("hostile tokens, names, jobs, links and recordings are text in the strip, in files and in lists", async ({
  page,
}) => {
  await hostileJobs(page);
  await visit(page);
  const said = `${HOSTILE.bidi} ${HOSTILE.controls} ${HOSTILE.halves} ${HOSTILE.invisible} <|im_end|>`;
  const [task, name] = [hostileName(1), hostileName(2)];
  await dropFiles(page, [
    upload(
      "sources.jsonl",
      jsonLines(SOURCES.map((source) => ({ ...source, task, source: `${source.source}${name}` }))),
    ),
    upload(
      "episodes.jsonl",
      jsonLines(
        EPISODES.map((episode) => ({
          ...episode,
          task,
          episode: name,
          decisions: episode.decisions.map((decision) => ({
            ...decision,
            response: `<thought>${said}</thought>`,
          })),
        })),
      ),
    ),
  ]);
  await page.locator("table.tasks tbody th button").first().click();
  await decisionShown(page, 0);
  await page.keyboard.press("3");
  await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("models/qwen3-a"));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await page.keyboard.press("s");
  await expect(page.getByTestId("strip")).toBeVisible({ timeout: MODEL_TIME });
  await page.keyboard.press(".");
  await expect(page.getByTestId("token-card")).toBeVisible();
  await unharmed(page, "strip");
  // Each token keeps to itself, whatever its letters do to what stands around them.
  const isolated = await page
    .getByRole("option")
    .first()
    .evaluate((token) => getComputedStyle(token).display === "block" || getComputedStyle(token).unicodeBidi);
  expect(isolated).toBe(true);

  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "Case study" });
  await expect(dialog).toBeVisible();
  await dialog.getByRole("combobox", { name: "Rows" }).selectOption("whole");
  await unharmed(page, "case-study");
  const plainName = /^[\p{L}\p{N}\p{M}._-]{1,250}$/u;
  const table = await saved(page, "Download CSV");
  expect(table.name).toMatch(plainName);
  const { data } = Papa.parse<Record<string, string>>(table.text, { header: true, skipEmptyLines: true });
  const count = await page.getByTestId("strip").locator("[data-token]").count();
  expect(data).toHaveLength(count);
  for (const row of data) {
    expect(JSON.parse(row.token_json!)).toEqual(expect.any(String));
    expect(row.task).toMatch(/^'=<script>window\.pwned=1<\/script><U\+202E><U\+001B>/);
    expect(Number(row.logp_graph)).toBeLessThanOrEqual(0);
  }
  const drawn = await saved(page, "Download SVG");
  expect(drawn.name).toMatch(plainName);
  expect(readXml(drawn.text).filter((element) => element.name === "text").length).toBeGreaterThan(count);
  // As the browser itself reads it, in a page whose policy lets it.
  const blank = await page.context().newPage();
  expect(
    await blank.evaluate(
      (svg) =>
        new DOMParser().parseFromString(svg, "image/svg+xml").querySelectorAll("parsererror, script").length,
      drawn.text,
    ),
  ).toBe(0);
  await blank.close();
  await page.keyboard.press("Escape");

  const changes = page.getByTestId("changes");
  await changes.getByRole("button", { name: /^Measure this episode/ }).click();
  await expect(page.getByTestId("changes-facts")).toContainText("2 of 2 decisions", { timeout: MODEL_TIME });
  await unharmed(page, "changes");
  const largest = await saved(page, /^Save these/);
  expect(largest.name).toMatch(plainName);

  // What is edited by hand, and a source that is switched off, by their names.
  await page.keyboard.press("2");
  await page
    .getByRole("button", { name: /^Switch off: / })
    .first()
    .click();
  await expect(page.getByTestId("what-if")).toBeVisible();
  await unharmed(page, "what-if");
  await page.keyboard.press("4");
  await expect(page.getByTestId("config")).toBeVisible();
  await page.getByTestId("config").locator("summary").click();
  await unharmed(page, "training");

  await page.keyboard.press("6");
  const list = page.getByTestId("run-list");
  await expect(list.getByRole("checkbox")).toHaveCount(2);
  for (const box of await list.getByRole("checkbox").all()) await box.check();
  await expect(page.getByTestId("run-charts")).toBeVisible();
  await unharmed(page, "runs");
  await list.getByRole("link").first().click();
  const detail = page.getByTestId("run-detail");
  for (const name of ["Config", "Command", "Log", "Files"])
    await detail.getByText(name, { exact: true }).click();
  await expect(detail.locator(".run-files li")).toHaveCount(1);
  await expect(detail.locator(".run-log")).toContainText("␛[31mred");
  await expect(detail.locator(".run-log")).toContainText("characters");
  await page.getByTestId("batch").locator("summary").click();
  await expect(page.getByTestId("batch").getByRole("table")).toContainText("more characters⟩");
  await unharmed(page, "run");

  // A link to what is not there, in words that are none.
  await visit(
    page,
    `#/task/${encodeURIComponent("\u202e<script>window.pwned=1</script>\0")}?decision=%1b%5B31m&%E2%80%AE=1`,
  );
  await expect(page.getByRole("alert").first()).toContainText(
    "“decision=␛[31m” in the link: expected a whole number",
  );
  await expect(page.getByRole("alert").first()).toContainText("unknown part “⟦RLO⟧”");
  await unharmed(page, "link");

  // Another program's recordings: what came in and what did not, by its files' names.
  const chat = (id: string) => ({
    id,
    messages: [
      { role: "user", content: EVERYTHING },
      { role: "assistant", content: `<action>${HOSTILE.markup}</action>` },
    ],
  });
  await dropFiles(page, [
    upload(`=<b>${HOSTILE.formula}\u202e.json`, Buffer.from(JSON.stringify([chat(EVERYTHING)]))),
    upload(`${"<i>\u202e".repeat(30)}.txt`, Buffer.from(EVERYTHING)),
  ]);
  await expect(page.locator(".import-report, [data-testid=notice]").first()).toBeVisible();
  await unharmed(page, "import");
});
