import { scoreOwn } from "./own-tokens.ts";
import { decisionShown, expect, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

/** The longest of everything: two hundred decisions in one execution. */
const LONG = "inclined-plane-friction-named-surfaces|653|easy";

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

/** What is wider than the window, and a document that scrolls: only the view does, between the header and the status bar. */
const tooLarge = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const html = document.documentElement;
    const wide = [html, document.querySelector("main")!]
      .filter((element) => element.scrollWidth > element.clientWidth)
      .map((element) => `${element.tagName} ${element.scrollWidth}px`);
    return html.scrollHeight > html.clientHeight ? [...wide, `HTML ${html.scrollHeight}px high`] : wide;
  });

/** What is larger than the window, and where controls lie on each other or stick out of their bar. */
async function tooTight(page: Page): Promise<string[]> {
  const tight = await page.evaluate(() => {
    const found: string[] = [];
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
  return [...(await tooLarge(page)), ...tight];
}

/** A window by its width and height, in pixels. */
type Size = readonly [number, number];

/** Each opens at its first size, at which what is folded at first is decided, and looks at every view in all. */
const WINDOWS: { text: number; theme: "light" | "dark"; sizes: readonly Size[] }[] = [
  {
    ...{ text: 16, theme: "dark" },
    sizes: [
      [800, 700],
      [420, 800],
      // 1,280 × 800 at 200 % zoom.
      [640, 400],
    ],
  },
  {
    ...{ text: 16, theme: "light" },
    sizes: [
      [1920, 1080],
      [1280, 800],
      [1024, 768],
      [900, 800],
      [420, 800],
    ],
  },
  // The browser's own setting of a larger text.
  { text: 20, theme: "light", sizes: [[1280, 800]] },
];

for (const { text, theme, sizes } of WINDOWS) {
  const names = sizes.map((size) => size.join(" × ")).join(", ");
  test(`at ${names} and text of ${text} px nothing sticks out or lies on anything else`, async ({ page }) => {
    const [[width, height]] = sizes as [Size];
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height });
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Page.setFontSizes", { fontSizes: { standard: text } });
    const dialogs = page.getByRole("dialog");
    const current = page.getByRole("navigation", { name: "Views" }).locator("[aria-current]");
    const look = async (
      name: string,
      more: (at: number) => Promise<void> = async () => {},
    ): Promise<void> => {
      for (const [at, [width, height]] of sizes.entries()) {
        const message = `${name} at ${width} × ${height}`;
        if (sizes.length > 1) await page.setViewportSize({ width, height });
        if ((await dialogs.count()) === 0) await expect(current, message).toBeInViewport({ ratio: 0.9 });
        // A chart takes the width of its place a little after it.
        await expect.poll(() => (width < 640 ? tooLarge(page) : tooTight(page)), { message }).toEqual([]);
        await more(at);
      }
      if (sizes.length > 1) await page.setViewportSize({ width, height });
    };
    await visit(page);
    await look("empty");
    await visit(page, sampleHash("library", ""));
    const row = page.getByRole("row", { name: /melt/ });
    await expect(row).toBeVisible();
    expect((await row.boundingBox())!.height).toBe(3.25 * text);
    // The table ends with a column, or is scrolled to the others: no title is cut.
    await look("library", async (at) => {
      const [width, height] = sizes[at]!;
      if (width === 1280 && text === 16) {
        // As wide as beside a scroll bar, which Playwright hides.
        await page.setViewportSize({ width: width - 15, height });
        const scroller = page.locator(".table-scroll");
        await expect.poll(() => scroller.evaluate((e) => e.scrollWidth - e.clientWidth)).toBe(0);
      }
      if (width !== 800) return;
      const room = (await page.locator(".table-scroll").boundingBox())!;
      for (const title of await page.locator(".tasks .sorter").all()) {
        const { x, width: wide } = (await title.boundingBox())!;
        const [left, right] = [x - room.x, x + wide - room.x];
        expect(right <= room.width + 1 || left >= room.width - 4, await title.innerText()).toBe(true);
      }
    });
    for (const [key, dialog] of [
      ["?", "Keys and marks"],
      ["g", "Guide"],
      ["Control+k", "Command palette"],
    ] as const) {
      await page.keyboard.press(key);
      await expect(page.getByRole("dialog", { name: dialog })).toBeVisible();
      await look(dialog);
      await page.keyboard.press("Escape");
      await expect(dialogs).toHaveCount(0);
    }
    for (const [task, parameters] of [
      ["find-non-living-thing|36|easy", { decision: 4 }],
      ["melt|12|easy", { decision: 12, control: "hindsight-only", sources: 4, without: "teacher:0" }],
      [LONG, { decision: 20 }],
    ] as const) {
      await visit(page, sampleHash("task", task, parameters));
      await decisionShown(page, parameters.decision);
      await look(task);
    }
    await page.keyboard.press("3");
    await expect(page.getByRole("button", { name: "Score" })).toBeEnabled();
    await look("tokens");
    await page.keyboard.press("4");
    await expect(page.getByRole("button", { name: "Update" })).toBeEnabled();
    await look("training");
    await page.keyboard.press("6");
    await expect(page.getByRole("heading", { name: "Targets" })).toBeVisible();
    await look("runs");
    await page.keyboard.press("7");
    await page.getByRole("button", { name: "Make games" }).click();
    const games = page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button");
    await expect(games).toHaveCount(12);
    await games.first().click();
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
