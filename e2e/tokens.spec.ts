import { holdAt } from "./compute-worker.ts";
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { modelFolder } from "./own-model.ts";
import { checkBothThemes, scoreBySample, scoreOwn } from "./own-tokens.ts";
import { expectSeen, noteTexts } from "./seen.ts";
import { atRest, decisionShown, expect, type Page, pressEnabled, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

type Missing = Window & { missingSeen?: string[] };

/** From now on, notes whatever the page says is missing, if only for a moment. */
async function noteMissing(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen: string[] = [];
    (window as Missing).missingSeen = seen;
    new MutationObserver(() => {
      const main = document.querySelector<HTMLElement>("main")!;
      for (const { textContent } of main.querySelectorAll(".missing, .error")) seen.push(textContent!);
      if (/\bmissing\b/.test(main.innerText)) seen.push(main.innerText);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}

/** In the page: how far the token that moved least and the one that moved most are from the strip's ground, from 0 to 1. */
function fromTheGround(): { least: number; most: number } {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true })!;
  // A ground of its own, or that of what it lies on.
  const colour = (element: Element): readonly number[] => {
    for (let at: Element | null = element; at !== null; at = at.parentElement) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = getComputedStyle(at).backgroundColor;
      context.fillRect(0, 0, 1, 1);
      const { data } = context.getImageData(0, 0, 1, 1);
      if (data[3] === 255) return [...data];
    }
    throw new Error("nothing is drawn behind it");
  };
  const strip = document.querySelector("[role=listbox][aria-label='Response tokens']")!;
  const ground = colour(strip);
  const distances = [...strip.querySelectorAll("[role=option]")].map((token) => {
    const [red, green, blue] = colour(token).map((value, i) => (value - ground[i]!) / 255);
    return Math.hypot(red!, green!, blue!) / Math.sqrt(3);
  });
  return { least: Math.min(...distances), most: Math.max(...distances) };
}

test("scores a decision of the sample under both contexts, and goes through its tokens", async ({ page }) => {
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 1 }));
  await decisionShown(page, 1);
  await noteTexts(page, "scoring");
  await noteMissing(page);
  await page.keyboard.press("s");
  await expectSeen(page, "scoring", /tokens/);
  const strip = page.getByRole("listbox", { name: "Response tokens" });
  await expect(strip).toBeVisible({ timeout: MODEL_TIME });
  const tokens = strip.getByRole("option");
  const text = async () => (await tokens.allTextContents()).join("").replaceAll("␣", " ");
  const response = "<thought>Let me see what is around first.</thought><action>go to kitchen</action>";
  expect(await text()).toBe(`${response}<|im_end|>`);

  // The token that moved most is there by itself, with what could have stood in its place, and not in the address.
  const card = page.getByTestId("token-card");
  await expect(card).toContainText("moved most");
  await expect(card).toContainText(/[\d.,]+ times (more|less) likely/);
  await expect(card.getByLabel("Most probable tokens in this place")).toBeVisible();
  await expect(page).not.toHaveURL(/token=/);
  const moved = await tokens.and(strip.locator("[aria-selected=true]")).getAttribute("data-token");
  expect(await page.evaluate(() => (window as Missing).missingSeen)).toEqual([]);

  // On light ground an unchanged token is light, on dark ground it is dark: what stands out is the one that moved.
  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    await expect(page.locator("html")).toHaveAttribute("data-theme", theme);
    const { least, most } = await page.evaluate(fromTheGround);
    expect(least, `${theme}: an unchanged token`).toBeLessThan(0.08);
    expect(most, `${theme}: the one that moved most`).toBeGreaterThan(0.1);
  }
  await page.emulateMedia({ colorScheme: null });
  await page.keyboard.press("ArrowRight");
  await expect(page).toHaveURL(new RegExp(`token=${Number(moved) + 1}(&|$)`));
  // One that is chosen by hand stays.
  await tokens.first().click();
  await page.keyboard.press("ArrowRight");
  await expect(tokens.nth(1)).toBeFocused();
  await expect(card.getByLabel("Contexts").getByRole("row")).toHaveCount(4);
  await expect(page).toHaveURL(/token=1(&|$)/);

  // The figures agree with each other: Δ is the difference, and the sum is that of the table.
  const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", ""));
  const logs = await card.getByLabel("Contexts").locator("td:last-child").allTextContents();
  const delta = number(logs[1]!) - number(logs[0]!);
  expect(number((await card.locator("p strong").textContent())!)).toBeCloseTo(delta, 2);
  const column = await page
    .getByLabel("All tokens in figures")
    .locator("tbody td:nth-child(5)")
    .allTextContents();
  const sum = column.reduce((total, cell) => total + number(cell), 0);
  // A token has one colour, in the strip and in the table.
  const background = (all: (HTMLElement | SVGElement)[]): string[] =>
    all.map((each) => getComputedStyle(each).backgroundColor);
  const swatches = page.getByLabel("All tokens in figures").locator("tbody td:nth-child(5) .swatch");
  const colours = await tokens.evaluateAll(background);
  expect(await swatches.evaluateAll(background)).toEqual(colours);
  expect(new Set(colours).size).toBeGreaterThan(3);
  expect(number((await page.getByTestId("sums").locator("strong").textContent())!)).toBeCloseTo(sum, 1);
  for (const each of logs) expect(number(each)).toBeLessThan(0);

  // The table is one Tab stop, at the selected token; the selection goes with the focus, and the strip's stays where it is.
  const table = page.getByRole("grid", { name: "All tokens in figures" });
  const stops = table.locator("button:not([tabindex='-1'])");
  await expect(stops).toHaveCount(1);
  await stops.focus();
  const row = (at: number) => table.locator("tbody tr").nth(at);
  for (const [key, at] of [
    ["ArrowDown", 2],
    ["ArrowUp", 1],
    ["Home", 0],
    ["ArrowUp", 0],
    ["End", 21],
    ["ArrowDown", 21],
  ] as const) {
    await page.keyboard.press(key);
    await expect(row(at).getByRole("button")).toBeFocused();
    await expect(row(at)).toHaveAttribute("aria-selected", "true");
    await expect(page).toHaveURL(new RegExp(`token=${at}(&|$)`));
    await expect(stops).toHaveCount(1);
    await expect(stops).toBeFocused();
  }
  await page.keyboard.press("Home");
  await expect(row(0).getByRole("button")).toBeInViewport();
  await tokens.nth(1).click();

  const provenance = page.getByLabel("Measured on");
  await expect(provenance).toContainText("WebGPU");
  await expect(provenance).toContainText("the same ids on both sides");
  await page.keyboard.press("End");
  await expect(tokens.last()).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page).not.toHaveURL(/token=/);
  await expect(card).toContainText("moved most");

  // Whole words and actions: log-probabilities are added up, and the whole response stays what it is.
  const whole = await page.getByTestId("sums").textContent();
  await page.getByRole("radio", { name: "words" }).check();
  expect(await text()).toBe(`${response}<|im_end|>`);
  await expect(strip.getByRole("option", { name: "␣kitchen" })).toHaveCount(1);
  await page.getByRole("radio", { name: "actions" }).check();
  await strip.getByRole("option", { name: /^>?go␣to␣kitchen,/ }).click();
  await expect(card).toContainText(/tokens \d+ to \d+, added up/);
  const action = page.getByLabel("All tokens in figures").locator("tr.pinned");
  await expect(action).toContainText("go␣to␣kitchen");
  const parts = (
    await page.getByLabel("All tokens in figures").locator("tbody td:nth-child(5)").allTextContents()
  )
    .map(number)
    .reduce((total, value) => total + value, 0);
  expect(parts).toBeCloseTo(sum, 1);
  expect(await page.getByTestId("sums").textContent()).toBe(whole);
  await page.getByRole("radio", { name: "pieces" }).check();
  await page.keyboard.press("Escape");

  // The controls fold away, and stay so.
  const rail = page.getByTestId("tokens-rail");
  await rail.getByText("Controls").click();
  await expect(page.getByLabel("End-of-turn token")).toBeHidden();
  await page.reload();
  await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
  await expect(page.getByLabel("End-of-turn token")).toBeHidden();
  await rail.getByText("Controls").click();
  await page.keyboard.press("s");
  await expect(strip).toBeVisible({ timeout: MODEL_TIME });

  // Without the end of the turn: the tokens and the sums of earlier versions, until the way back is taken.
  const sums = page.getByTestId("sums");
  await expect(sums).toContainText("whole response (22 tokens)");
  await page.getByLabel("End-of-turn token").uncheck();
  await expect(page).toHaveURL(/[?&]end-of-turn=off(&|$)/);
  await expect(strip).toHaveCount(0);
  await atRest(page);
  await page.keyboard.press("s");
  await expect(strip).toBeVisible({ timeout: MODEL_TIME });
  expect(await text()).toBe(response);
  await expect(sums).toContainText("whole response (21 tokens): log p −2.084 teacher, without evidence");
  await expect(sums.locator("strong")).toHaveText("+0.091");
  await page.goBack();
  await expect(tokens).toHaveCount(22);
  await expect(page.getByLabel("End-of-turn token")).toBeChecked();
});

test("takes a teacher of the user's own from a folder, and scores with it", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("t");
  await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("models/qwen3-a"));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: MODEL_TIME });
  await expect(page.getByLabel("Measured on")).toContainText("qwen3-a");
});

test("takes an export to ONNX as teacher, and refuses it as student", async ({ page }) => {
  await visit(page, sampleHash("training", "melt|12|easy"));
  // An opening that succeeds takes away what was told before: the sample first, then the folder.
  await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
  await page.getByTestId("pick-student-folder").setInputFiles(await modelFolder("onnx/qwen3-a"));
  await expect(page.getByRole("alert")).toContainText("an export to ONNX can be a teacher only");
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("t");
  // The provider's WebAssembly: its WebGPU kernels take minutes on a software adapter.
  await page.getByTestId("device").selectOption("cpu");
  await page.getByTestId("pick-teacher-folder").setInputFiles(await modelFolder("onnx/qwen3-a"));
  await expect(page.getByTestId("model-teacher")).toContainText("qwen3-a, your own");
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: MODEL_TIME });
  await expect(page.getByLabel("Measured on")).toContainText("ONNX Runtime");
  // Its logits tell the union of both sides too, each token exactly.
  const table = page.getByTestId("top-tables");
  await expect(table).toContainText("entropy");
  expect(await table.locator("tbody tr").count()).toBeGreaterThan(4);
  await expect(table).not.toContainText("below the last of them");
});

test("cancels: requested, then confirmed, and the page goes on", async ({ page }) => {
  await holdAt(page, { at: { call: "score" } });
  await visit(page, sampleHash("tokens", "melt|12|easy", { decision: 19 }));
  for (const id of ["scoring", "hint"]) await noteTexts(page, id);
  await page.getByRole("button", { name: "Score" }).click();
  await expect(page.getByTestId("scoring")).toContainText("tokens");
  // Beside another decision it says which one is scored; its line is shown whole, and no higher.
  const panel = page.getByRole("region", { name: "The same response" });
  const height = () => panel.locator(".panel-head").evaluate((head) => head.clientHeight);
  const before = await height();
  await page.keyboard.press("j");
  await expect(page.getByTestId("decision")).toHaveText("20");
  const line = page.getByTestId("scoring").locator("span").first();
  await expect(line).toHaveText(
    /^Teacher, without evidence · decision 19 of melt\|12\|easy#0 · 0 of .* first pass$/,
  );
  expect(await height()).toBe(before);
  await expect(panel).toContainText(
    /With evidence, the teacher reads [\d,]+ tokens instead of ([\d,]+), then the same \d+ response tokens; the student reads the \1\./,
  );
  await page.keyboard.press("Escape");
  await expectSeen(page, "scoring", /Cancel requested/);
  await expectSeen(page, "hint", /^Scoring of decision 19 of melt\|12\|easy#0 was cancelled\.$/);
  await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
  await page.keyboard.press("2");
  await decisionShown(page, 20);
});

test("makes the case study's table of a scored decision with one key, to copy and to save", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await scoreOwn(page, 1);
  await page.keyboard.press("c");
  const dialog = page.getByRole("dialog", { name: "Case study" });
  await expect(dialog).toBeVisible();
  await expect(page.getByTestId("case-context")).toContainText(
    `Task ${TASK} (scienceworld), episode own#0, decision 1. Teacher qwen3-a (f32, WebGPU)`,
  );
  const rows = dialog.getByLabel("Case study in figures").locator("tbody tr");
  await expect(rows).toHaveCount(10);
  const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", ""));
  const changes = (await rows.locator("td:last-child").allTextContents()).map(number);
  expect(changes.map(Math.abs)).toEqual(changes.map(Math.abs).sort((a, b) => b - a));

  // The same figures as in the view's own table, in the response's order.
  await dialog.getByRole("combobox", { name: "Rows" }).selectOption("whole");
  const all = await page
    .getByLabel("All tokens in figures")
    .locator("tbody td:nth-child(5)")
    .allTextContents();
  expect(await rows.locator("td:last-child").allTextContents()).toEqual(all);

  const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  await dialog.getByRole("combobox", { name: "Rows" }).selectOption("5");
  const first = (await rows.first().locator("td").allTextContents())[1]!;
  await dialog.getByRole("button", { name: "Copy as Markdown" }).click();
  await expect(dialog.getByRole("status")).toHaveText("Copied 5 rows as Markdown.");
  const markdown = await clipboard();
  expect(markdown.trimEnd().split("\n")).toHaveLength(4 + 5);
  expect(markdown.split("\n")[4]).toContain(`| ${first} |`);
  await dialog.getByRole("button", { name: "Copy as LaTeX" }).click();
  await expect(dialog.getByRole("status")).toHaveText("Copied 5 rows as LaTeX.");
  expect(await clipboard()).toContain("\\toprule");
  await dialog.getByRole("button", { name: "Copy as CSV" }).click();
  await expect(dialog.getByRole("status")).toHaveText("Copied 5 rows as CSV.");
  expect((await clipboard()).trimEnd().split("\r\n")).toHaveLength(1 + 5);

  const downloading = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download CSV" }).click();
  expect((await downloading).suggestedFilename()).toBe("boil_1_easy-own_0-1.csv");

  await checkBothThemes(page, "dialog.case-study");

  // Nothing behind the dialog hears the keys.
  await page.keyboard.press("k");
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByTestId("decision")).toHaveText("1");
  // From another view too.
  await page.keyboard.press("2");
  await decisionShown(page, 1);
  await page.keyboard.press("c");
  await expect(dialog).toBeVisible();
  await page.keyboard.press("c");
  await expect(dialog).toBeHidden();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys and marks" })).toContainText("Case study");
  await page.keyboard.press("Escape");

  // Without scores it says what is missing.
  await page.keyboard.press("k");
  await expect(page.getByTestId("decision")).toHaveText("0");
  await noteTexts(page, "hint");
  await page.keyboard.press("c");
  await expectSeen(page, "hint", /score this decision first/);
});

test("leaves out each record of the evidence, and each event, and links to its place", async ({ page }) => {
  await scoreOwn(page, 1);
  await expect(page.getByTestId("token-card")).toBeVisible();
  const panel = page.getByTestId("left-out");
  await expect(page.getByTestId("left-out-headline")).toContainText("Leave out each event");
  await pressEnabled(panel.getByRole("button", { name: "Leave out each record" }));
  await expect(page.getByTestId("left-out-facts")).toContainText(/^2 passes computed with qwen3-a \(f32, /, {
    timeout: MODEL_TIME,
  });
  const records = panel.getByLabel("Records left out", { exact: true }).locator("tbody tr");
  await expect(records).toHaveCount(2);
  await expect(records.filter({ hasText: "the successful record teacher:0" })).toHaveCount(1);
  await expect(records.filter({ hasText: "the student’s execution" })).toHaveCount(1);

  // The largest change of the picked token first; a change is the difference of its two figures.
  const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", "").replace(",", ""));
  const cells = await Promise.all(
    (await records.all()).map(async (row) => (await row.locator("td").allTextContents()).map(number)),
  );
  const changes = cells.map((row) => row[3]!);
  expect(changes.map(Math.abs)).toEqual(changes.map(Math.abs).sort((a, b) => b - a));
  expect(changes.some((change) => change !== 0)).toBe(true);
  // With the part − without it.
  for (const row of cells) expect(row[3]!).toBeCloseTo(row[1]! - row[2]!, 2);
  await panel.getByText("In figures").click();
  // One Tab stop: arrow keys go from row to row and from button to button, and press none of them.
  const stop = panel.getByRole("grid", { name: "Records left out" }).locator("tbody button[tabindex='0']");
  await stop.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await expect(records.nth(1).getByRole("button", { name: /^Effect of/ })).toBeFocused();
  await expect(stop).toBeFocused();
  await expect(stop).toHaveAttribute("aria-pressed", "false");

  // Each token of one record's pass: the changes add up to the one of the response.
  const first = records.first();
  await first.getByRole("button", { name: /^Effect of .* on each token/ }).click();
  const tokens = panel.getByLabel(/^Tokens without /).locator("tbody tr");
  const each = (await tokens.locator("td:last-child").allTextContents()).map(number);
  expect(each.length).toBe(await page.getByRole("option", { name: /, Δ / }).count());
  expect(each.map(Math.abs)).toEqual(each.map(Math.abs).sort((a, b) => b - a));
  expect(each.reduce((sum, value) => sum + value, 0)).toBeCloseTo(cells[0]![4]!, 1);

  await panel.getByRole("button", { name: "Leave out each event" }).click();
  const events = panel.getByLabel("Events left out", { exact: true }).locator("tbody tr");
  await expect(panel.getByRole("button", { name: "Leave out each event" })).toBeDisabled();
  await expect(page.getByTestId("leaving-out")).toHaveCount(0, { timeout: MODEL_TIME });
  expect(await events.count()).toBeGreaterThan(3);

  // The headline names the event that explains most of the selected token's change: the figures' first in its direction.
  // Chance decides in a model of random weights: some token has one.
  const headline = page.getByTestId("left-out-headline");
  const options = page.getByRole("listbox", { name: "Response tokens" }).getByRole("option");
  for (let i = 0; i < (await options.count()); i++) {
    await options.nth(i).click();
    await expect(headline).toContainText(`(token ${i})`);
    if (/ explains [\d,]+ %/.test((await headline.textContent())!)) break;
  }
  const delta = number((await page.getByTestId("token-card").locator("p strong").textContent())!);
  const effects = await Promise.all(
    (await events.all()).map(async (row) => number((await row.locator("td").nth(3).textContent())!)),
  );
  const best = effects.find((effect) => effect * delta > 0)!;
  await expect(headline).toHaveText(/^(Event|The) .* explains [\d,]+ % of it: /);
  const share = number(/explains ([\d,]+) %/.exec((await headline.textContent())!)![1]!);
  expect(Math.abs(share - (100 * best) / delta)).toBeLessThan(2 + 0.1 / Math.abs(delta));
  // The same on the text itself, and in the map.
  const bars = page.getByTestId("evidence-bars");
  await expect(
    bars.getByRole("button", { name: /^event 2 of the successful record: [+−]?[\d.]+ nats/ }),
  ).toContainText("Recorded action: activate stove");
  await expect(page.getByTestId("effect-map").getByRole("img")).toHaveAccessibleName(
    new RegExp(`each of ${effects.length} parts`),
  );

  await checkBothThemes(page, ".left-out");

  // To the place in the evidence, by a link that anybody can open.
  await pressEnabled(
    events.getByRole("button", { name: /^event 2 of the successful record teacher:0: activate stove/ }),
  );
  await expect(page).toHaveURL(/evidence=success%401/);
  await expect(page.getByTestId("pointed")).toContainText("Marked: event 2 of the successful record.");
  const marked = page.getByTestId("evidence").locator(".pointed");
  await expect(marked).toHaveCount(1);
  await expect(marked).toHaveText(/^Source event 2 \[MATCHED STATE\]\nRecorded action: activate stove\n/);
  await expect(marked).toBeInViewport();
  await page.keyboard.press("Escape");
  await expect(marked).toHaveCount(0);
  await page.evaluate(() => {
    window.location.hash += "&evidence=failure@7";
  });
  await expect(page.getByTestId("pointed")).toHaveText(/does not have event 8 of the failed record/);
});

test("cancels leaving out, and goes on from what was scored", async ({ page }) => {
  // The decision itself takes three passes.
  const goOn = await holdAt(page, { at: { call: "score" }, occurrence: 4 });
  await scoreOwn(page, 1);
  const button = page.getByRole("button", { name: "Leave out each record" });
  await button.click();
  await expect(page.getByTestId("leaving-out")).toContainText(
    /Pass 1 of 2: without the student’s execution · .* tokens · time left/,
  );
  await page.keyboard.press("Escape");
  await expect(button).toBeEnabled();
  await expect(page.getByText("2 of 2 records left out")).toBeHidden();
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible();
  // Its worker may have stopped by itself, and then goes on with the next.
  await goOn();
  await button.click();
  await expect(page.getByText("2 of 2 records left out")).toBeVisible({ timeout: MODEL_TIME });
  await expect(page.getByTestId("left-out-facts")).toContainText(/^2 passes computed/);
});

test("asks the teacher what it would do, and scores other references", async ({ page }) => {
  await scoreBySample(page);
  const asked = page.getByTestId("teacher-actions");
  await asked.getByRole("button", { name: "Ask the teacher" }).click();
  await expect(asked.getByRole("button", { name: "Ask the teacher again" })).toBeEnabled({
    timeout: MODEL_TIME,
  });
  const table = asked.getByRole("table", { name: "Actions of the teacher" });
  await expect(table.locator("tbody tr")).toHaveCount(5);
  // One greedy and three drawn responses under each context.
  await expect(table.locator("details")).toHaveCount(8);
  await expect(table.getByRole("row", { name: /^the student/ })).toContainText(/\w/);

  const references = page.getByTestId("references");
  await references.getByRole("button", { name: /^Score the best \d reference/ }).click();
  const rows = references.getByRole("table").locator("tbody tr");
  await expect(references.getByText(/\d of \d references? moves? /)).toBeVisible({ timeout: MODEL_TIME });
  // The best one is what retrieval had retained: the same Δ as the evidence's own.
  const deltas = await rows.locator("td:nth-child(4)").allTextContents();
  expect(deltas[1]).toBe(deltas[0]);
  await checkBothThemes(page, ".beside-rail");
});

test("refuses a token beyond the response", async ({ page }) => {
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("s");
  await expect(page.getByRole("listbox")).toBeVisible({ timeout: MODEL_TIME });
  await page.evaluate(() => {
    window.location.hash += "&token=400";
  });
  await expect(page.getByText("The response has no token 400")).toBeVisible();
});
