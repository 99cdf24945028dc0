import { scoreOwn } from "./own-tokens.ts";
import { decisionShown, expect, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

/** The longest of everything: two hundred decisions in one execution. */
const LONG = "inclined-plane-friction-named-surfaces|653|easy";

for (const [width, height] of [
  [420, 800],
  [800, 800],
  [1280, 800],
  [1920, 1080],
] as const) {
  for (const theme of ["light", "dark"] as const) {
    test.describe(`${width} × ${height}, ${theme}`, () => {
      test.use({ viewport: { width, height }, colorScheme: theme });

      test("no view is wider than the window", async ({ page }) => {
        const look = async (name: string): Promise<void> => {
          await page.screenshot({ path: `test-results/screenshots/${name}-${width}-${theme}.png` });
          await expect(
            page.getByRole("navigation", { name: "Views" }).locator("[aria-current]"),
            name,
          ).toBeInViewport({ ratio: 0.9 });
          // A chart takes the width of its place a little after it.
          await expect
            .poll(
              () =>
                page.evaluate(() =>
                  [document.documentElement, document.querySelector("main")!]
                    .filter((element) => element.scrollWidth > element.clientWidth)
                    .map((element) => element.tagName),
                ),
              { message: name },
            )
            .toEqual([]);
        };
        await visit(page);
        await look("empty");
        await visit(page, sampleHash("library", ""));
        await expect(page.getByRole("row", { name: /melt/ })).toBeVisible();
        await look("library");
        for (const [task, decision] of [
          ["melt|12|easy", 12],
          [LONG, 20],
        ] as const) {
          await visit(page, sampleHash("task", task, { decision }));
          await decisionShown(page, decision);
          await look(task === LONG ? "task-long" : "task");
        }
        await page.keyboard.press("3");
        await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
        await look("tokens");
        await page.keyboard.press("4");
        await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
        await look("training");
        await page.keyboard.press("5");
        await expect(page.getByTestId("statistics-scope")).toBeVisible({ timeout: MODEL_TIME });
        await look("statistics");
        await page.keyboard.press("6");
        await expect(page.getByRole("heading", { name: "Targets" })).toBeVisible();
        await look("runs");
        await page.keyboard.press("7");
        await page.getByRole("button", { name: "Make games" }).click();
        await expect(
          page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button"),
        ).toHaveCount(12);
        await look("play");
        await page.keyboard.press("8");
        await expect(page.getByRole("heading", { name: "Does evidence help?" })).toBeVisible();
        await look("evidence");
      });
    });
  }
}

test("with two libraries and something running, all of the header is in sight", async ({ page }) => {
  await visit(page, sampleHash("evidence-test", ""));
  await page.getByRole("button", { name: "Test the miniature world" }).click();
  await expect(page.locator("main")).toBeFocused();
  await expect(page.getByTestId("at-work")).toContainText("1 running");
  for (const width of [1920, 1500, 1400, 1280, 1200, 1000, 800, 640]) {
    await page.setViewportSize({ width, height: 800 });
    const header = page.locator("header.top");
    await expect.poll(() => header.evaluate((e) => e.scrollWidth - e.clientWidth), `${width} px`).toBe(0);
    for (const select of await header.getByRole("combobox").all())
      expect((await select.boundingBox())?.width, `${width} px`).toBeGreaterThan(60);
  }
  await page.getByRole("button", { name: "Stop" }).click();
});

/** Where controls lie on each other, stick out of their bar, or the document is wider than the window. */
const tooTight = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) found.push(`document ${root.scrollWidth}px`);
    const main = document.querySelector("main");
    if (main !== null && main.scrollWidth > main.clientWidth) found.push(`main ${main.scrollWidth}px`);
    const name = (element: Element): string =>
      element.getAttribute("aria-label") ?? `${element.tagName} ${element.textContent?.slice(0, 30)}`;
    for (const bar of document.querySelectorAll(
      ".top, .step-bar, .panel-head, .what-if-controls, .rail-controls, .strip-legend, .token-facts, .retained-name",
    )) {
      const room = bar.getBoundingClientRect();
      const parts = [...bar.querySelectorAll("a, button:not(.skip), select, input, h2, .note")]
        .map((element) => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ element, box }) => element.checkVisibility() && box.width > 1 && box.height > 1);
      for (const [i, { element, box }] of parts.entries()) {
        if (box.left < room.left - 1 || box.right > room.right + 1) found.push(`${name(element)} sticks out`);
        if (box.top < room.top - 1 || box.bottom > room.bottom + 1) found.push(`${name(element)} sticks out`);
        for (const { element: other, box: its } of parts.slice(i + 1)) {
          if (element.contains(other)) continue;
          const across = Math.min(box.right, its.right) - Math.max(box.left, its.left);
          const down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top);
          if (across > 1 && down > 1) found.push(`${name(element)} lies on ${name(other)}`);
        }
      }
    }
    return found;
  });

for (const [width, height, text] of [
  // 1,280 × 800 at 200 % zoom.
  [640, 400, 16],
  [800, 700, 16],
  [900, 800, 16],
  [1024, 768, 16],
  // The browser's own setting of a larger text.
  [1280, 800, 20],
] as const) {
  test(`at ${width} × ${height} and text of ${text} px nothing sticks out or lies on anything else`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Page.setFontSizes", { fontSizes: { standard: text } });
    const look = async (name: string): Promise<void> => {
      await page.screenshot({ path: `test-results/screenshots/${name}-${width}.png` });
      await expect.poll(() => tooTight(page), { message: name }).toEqual([]);
    };
    await visit(page);
    await look("empty");
    await visit(page, sampleHash("library", ""));
    const row = page.getByRole("row", { name: /melt/ });
    await expect(row).toBeVisible();
    expect((await row.boundingBox())!.height).toBe(3.25 * text);
    await look("library");
    // The table ends with a column, or is scrolled to the others: no title is cut.
    const room = (await page.locator(".table-scroll").boundingBox())!;
    if (width === 800)
      for (const title of await page.locator(".tasks .sorter").all()) {
        const { x, width: wide } = (await title.boundingBox())!;
        const [left, right] = [x - room.x, x + wide - room.x];
        expect(right <= room.width + 1 || left >= room.width - 4, await title.innerText()).toBe(true);
      }
    for (const [key, dialog] of [
      ["?", "Keys and marks"],
      ["g", "Guide"],
      ["Control+k", "Command palette"],
    ] as const) {
      await page.keyboard.press(key);
      await expect(page.getByRole("dialog", { name: dialog })).toBeVisible();
      await look(dialog);
      await page.keyboard.press("Escape");
      await expect(page.getByRole("dialog")).toHaveCount(0);
    }
    for (const [task, parameters] of [
      ["find-non-living-thing|36|easy", { decision: 4 }],
      ["melt|12|easy", { decision: 12, control: "hindsight-only", sources: 4, without: "teacher:0" }],
      [LONG, { decision: 20 }],
    ] as const) {
      await visit(page, sampleHash("task", task, parameters));
      await decisionShown(page, parameters.decision);
      await look(`task-${task.slice(0, 4)}`);
    }
    await page.keyboard.press("3");
    await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
    await look("tokens");
    await page.keyboard.press("4");
    await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
    await look("training");
    await page.keyboard.press("6");
    await expect(page.getByRole("heading", { name: "Runs" })).toBeVisible();
    await look("runs");
    await page.keyboard.press("7");
    await page.getByRole("button", { name: "Make games" }).click();
    await page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button").first().click();
    await expect(page.getByTestId("action")).toBeFocused();
    await look("play");
    await page.getByRole("heading", { name: "Games" }).click();
    await page.keyboard.press("8");
    await expect(page.getByRole("heading", { name: "Does evidence help?" })).toBeVisible();
    await look("evidence");
    await page.keyboard.press("5");
    await expect(page.getByTestId("statistics-scope")).toBeVisible({ timeout: MODEL_TIME });
    await look("statistics");
  });
}

test("once scored, nothing sticks out or lies on anything else, in narrow and wide windows and in dark", async ({
  page,
}) => {
  await scoreOwn(page);
  // In a narrow window the rail is folded at first; open, it has the most to hold.
  for (const [width, height] of [
    [640, 400],
    [800, 700],
    [1280, 800],
    [1920, 1080],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const view of ["task", "tokens"] as const) {
      await page.keyboard.press(view === "task" ? "2" : "3");
      const shown = view === "task" ? page.locator(".timeline") : page.getByTestId("token-card");
      await expect(shown).toBeVisible();
      if (view === "tokens" && width === 640)
        await page.getByTestId("tokens-rail").locator("> summary").click();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const name = `${view}-scored-${width}-${colorScheme}`;
        await page.screenshot({ path: `test-results/screenshots/${name}.png` });
        await expect.poll(() => tooTight(page), { message: name }).toEqual([]);
      }
    }
  }
});

test("the games fold away beside an episode, and stay so", async ({ page }) => {
  await visit(page, "#/play");
  const games = page.getByRole("region", { name: "Games" });
  const fold = games.getByRole("button", { name: "Games", exact: true });
  const make = page.getByRole("button", { name: "Make games" });
  await expect(make).toBeVisible();
  await expect(fold).toHaveAttribute("aria-expanded", "true");
  await fold.click();
  await expect(make).toBeHidden();
  await page.reload();
  await expect(fold).toHaveAttribute("aria-expanded", "false");
  expect((await games.boundingBox())!.width).toBeLessThan(60);
  await expect(make).toBeHidden();
  await fold.press("Enter");
  await expect(make).toBeVisible();
});

test("in a narrow window the games of the play view stand above what is done with them", async ({ page }) => {
  await page.setViewportSize({ width: 900, height: 800 });
  await visit(page, "#/play");
  const games = page.getByRole("region", { name: "Games" });
  for (const [mode, name] of [
    ["episode", "Episode"],
    ["runs", "Collect and evaluate"],
  ] as const) {
    await page.getByLabel("What to do with the games").selectOption(mode);
    const below = page.getByRole("region", { name, exact: true });
    await expect(below).toBeVisible();
    const [above, other] = [(await games.boundingBox())!, (await below.boundingBox())!];
    expect(above.width).toBe(other.width);
    expect(other.y).toBeGreaterThanOrEqual(above.y + above.height);
  }
});
