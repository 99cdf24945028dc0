/** The state graph: moved with the pointer and the keyboard, and which parts of the page change with it. */
import { largeTask } from "./large-task.ts";
import { dropFiles } from "./own-files.ts";
import { expectSeen, noteTexts } from "./seen.ts";
import { decisionShown, expect, type Page, pressEnabled, sampleHash, test, visit } from "./site.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const graph = (page: Page) => page.getByRole("application", { name: /^State graph/ });
const transform = (page: Page) => page.locator(".graph-layer").evaluate((layer) => layer.style.transform);

test("arrow keys go from state to state, Enter opens one, + − 0 zoom", async ({ page }) => {
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 4 }));
  await decisionShown(page, 4);
  await graph(page).focus();
  await page.keyboard.press("ArrowRight");
  const status = page.getByTestId("graph-status");
  await expect(status).toContainText(/^State A: \d+ visits by \d+ executions; first at step 0/);
  await page.keyboard.press("ArrowRight");
  await expect(status).not.toContainText("State A:");
  await page.keyboard.press("ArrowLeft");
  await expect(status).toContainText("State A:");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "teacher:0, visit 0" })).toBeVisible();
  await expect(page).toHaveURL(/visit=teacher%3A0%400/);
  await page.keyboard.press("0");
  await page.keyboard.press("+");
  await expect.poll(() => transform(page)).toMatch(/scale\(1\.3\)/);
  await page.keyboard.press("0");
  await expect.poll(() => transform(page)).toMatch(/scale\(1\)/);
  const before = await transform(page);
  await page.keyboard.press("+");
  await expect.poll(() => transform(page)).not.toBe(before);
  await page.keyboard.press("0");
  await expect.poll(() => transform(page)).toBe(before);
  await page.keyboard.press("-");
  await expect.poll(() => transform(page)).not.toBe(before);
});

test("the graph’s keys work from anywhere on its view, are in the palette, and say elsewhere what is missing", async ({
  page,
}) => {
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 4 }));
  await decisionShown(page, 4);
  await expect.poll(() => transform(page)).toMatch(/scale\(1\)/);
  await page.keyboard.press("+");
  await expect.poll(() => transform(page)).toMatch(/scale\(1\.3\)/);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("fit the state graph");
  await page.keyboard.press("Enter");
  await expect.poll(() => transform(page)).toMatch(/scale\(1\)/);
  await noteTexts(page, "hint");
  await page.keyboard.press("p");
  await expectSeen(page, "hint", /go to an execution’s row or pin a visit of it first/);
  await visit(
    page,
    sampleHash("task", "find-non-living-thing|36|easy", { decision: 4, visit: "teacher:1@2" }),
  );
  await expect(page.getByRole("heading", { name: "teacher:1, visit 2" })).toBeVisible();
  await page.keyboard.press("p");
  await expect(page.getByRole("list", { name: "Highlighted executions" })).toContainText("teacher:1");
  await page.keyboard.press("?");
  const marks = page.getByRole("dialog", { name: "Keys and marks" });
  await expect(marks).toContainText("Fit the state graph");
  await expect(marks).toContainText("a state where the action was rejected, malformed or rolled back");
  await page.keyboard.press("?");
  await page.keyboard.press("3");
  await expect(page.getByRole("button", { name: "Score" })).toBeVisible();
  await noteTexts(page, "hint");
  await page.keyboard.press("0");
  await expectSeen(page, "hint", /Fit the state graph: the graph is on the task view\./);
});

test("edges say what they are, with transitions and executions apart", async ({ page }) => {
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy", { decision: 4 }));
  await decisionShown(page, 4);
  const titles = await page.locator(".edges title").allTextContents();
  for (const title of titles) expect(title).toMatch(/: [\d,]+ transitions? by [\d,]+ executions?$/);
  expect(titles.some((title) => title.includes("self-loop"))).toBe(true);
  await expect(page.locator(".graph-panel .note").first()).toContainText(/\d+ edges, \d+ self-loops?/);
  await expect(page.locator(".student-marks .eligible").first()).toBeVisible();
  await expect(page.locator(".student-marks .tie")).toHaveCount(1);
  await expect(page.locator(".cell.tie").first()).toBeVisible();
});

test("up to six executions are highlighted, from the keyboard, and are in the link", async ({ page }) => {
  await visit(page, sampleHash("task", "melt|12|easy"));
  await decisionShown(page, 0);
  const grid = page.getByRole("grid", { name: "Executions by visit" });
  await grid.getByRole("gridcell").first().focus();
  for (let i = 0; i < 7; i++) {
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("p");
  }
  const chips = page.getByRole("list", { name: "Highlighted executions" });
  await expect(chips).toContainText("six at most");
  await expect(page.locator(".highlights > g")).toHaveCount(6);
  const dashes = await page
    .locator(".highlights path:not(.halo)")
    .evaluateAll((paths) => paths.map((path) => path.getAttribute("stroke-dasharray")));
  expect(new Set(dashes).size).toBe(6);
  await expect(page).toHaveURL(/highlight=.*teacher%3A[4-9]/);
  const url = page.url();
  await page.goto("about:blank");
  await page.goto(url);
  await expect(page.locator(".highlights > g")).toHaveCount(6);
  await page.getByRole("button", { name: "Stop highlighting teacher:0" }).click();
  await expect(page.locator(".highlights > g")).toHaveCount(5);
});

test("a large graph begins with what is relevant to the decision, at reading size; all states are one press away", async ({
  page,
}) => {
  await visit(page, sampleHash("task", "melt|12|easy", { decision: 12 }));
  await decisionShown(page, 12);
  const nodes = page.locator(".graph-view .node");
  const note = page.locator(".graph-panel .note").first();
  const [relevant, all] = [
    page.getByRole("button", { name: "relevant" }),
    page.getByRole("button", { name: "all states" }),
  ];
  await expect(relevant).toHaveAttribute("aria-pressed", "true");
  await expect(note).toContainText(/^\d+ of 190 states/);
  const shown = await nodes.count();
  expect(shown).toBeLessThan(120);
  // The student's whole path, and where the retained record goes.
  const student = await page
    .locator(".matrix-row.student .cell[data-state]:not([data-state=''])")
    .evaluateAll((cells) => [...new Set(cells.map((cell) => cell.getAttribute("data-state")))]);
  for (const state of student) await expect(page.locator(`.node[data-state="${state}"]`)).toHaveCount(1);
  await expect(page.locator(".references .success path").last()).toHaveAttribute("d", /^M/);
  // Letters are as large as they are made, and the drawing takes the whole width.
  const reading = async (): Promise<void> => {
    await expect.poll(() => transform(page)).toMatch(/scale\(1\)/);
    const { letters, drawing, room } = await page.locator(".graph-view").evaluate((view) => ({
      letters: [...view.querySelectorAll(".node text")].map((text) => getComputedStyle(text).fontSize),
      drawing: view.querySelector("svg")!.getBoundingClientRect().width,
      room: view.clientWidth,
    }));
    expect(new Set(letters)).toEqual(new Set(["12px"]));
    expect(drawing).toBeGreaterThanOrEqual(room);
  };
  await reading();
  await pressEnabled(all);
  await expect(nodes).toHaveCount(190);
  await expect(note).toContainText(/^190 states/);
  await reading();
  await page.keyboard.press("0");
  await expect.poll(() => transform(page)).not.toMatch(/scale\(1\)/);
  await pressEnabled(relevant);
  await expect(nodes).toHaveCount(shown);
  // A small graph is shown whole.
  await visit(page, sampleHash("task", "find-non-living-thing|36|easy"));
  await decisionShown(page, 0);
  await expect(all).toHaveAttribute("aria-pressed", "true");
});

test("a graph that is moved while another part of it is being drawn", async ({ page }) => {
  await visit(page);
  await dropFiles(page, largeTask({ task: "large|1|easy", executions: 64, decisions: 100, lanes: 5 }));
  await page.getByRole("button", { name: "large|1|easy" }).click();
  await decisionShown(page, 0);
  // The parts differ in their columns, and so in the labels of the axis. React draws in slices: frames come between.
  await page.evaluate(() => {
    const view = document.querySelector(".graph-view")!;
    let along = 1;
    setInterval(() => {
      view.dispatchEvent(new WheelEvent("wheel", { deltaX: along, cancelable: true }));
      along = -along;
    }, 1);
  });
  const nodes = page.locator(".graph-view .node");
  for (let round = 0; round < 3; round++) {
    await page.getByRole("button", { name: "all states" }).click();
    await expect.poll(() => nodes.count()).toBeGreaterThan(450);
    await page.getByRole("button", { name: "relevant" }).click();
    await expect.poll(() => nodes.count()).toBeLessThan(450);
  }
});

test.describe("at full size", () => {
  for (const [what, shape, canvas] of [
    ["500 states and 1,000 edges", { executions: 64, decisions: 100, lanes: 5 }, false],
    ["2,000 states on a canvas", { executions: 64, decisions: 100, lanes: 21 }, true],
  ] as const) {
    test(`${what}: panning and zooming move the drawing, and React renders nothing`, async ({ page }) => {
      await visit(page);
      await dropFiles(page, largeTask({ task: "large|1|easy", ...shape }));
      await page.getByRole("button", { name: "large|1|easy" }).click();
      await decisionShown(page, 0);
      await page.getByRole("button", { name: "all states" }).click();
      // They are drawn a little after the press, and what says so with them.
      const said = page.locator(".graph-panel .note").first();
      await expect(said).toHaveText(/^[\d,]+ states,/);
      const note = (await said.textContent())!;
      const states = Number(/([\d,]+) states/.exec(note)?.[1]?.replace(",", ""));
      expect(note).toMatch(/[\d,]+ self-loops, [\d,]+ back edges, [\d,]+ on cycles/);
      expect(states).toBeGreaterThan(canvas ? 1500 : 450);
      await expect(page.getByTestId("graph-canvas")).toHaveCount(canvas ? 1 : 0);
      await page.screenshot({ path: `test-results/screenshots/graph-${canvas ? "canvas" : "svg"}.png` });
      const changed = await page.evaluate(async () => {
        const view = document.querySelector<HTMLElement>(".graph-view")!;
        const layer = document.querySelector<HTMLElement>(".graph-layer")!;
        const labels = document.querySelector(".graph-axis")!;
        const { left, top, width, height } = view.getBoundingClientRect();
        const moved = new Set<Node | null>([view, layer, document.querySelector(".graph-view canvas")]);
        // Whatever changes in the panel but the transforms and the labels that follow them.
        let changed = 0;
        const observer = new MutationObserver((list) => {
          changed += list.filter(({ target }) => !moved.has(target) && !labels.contains(target)).length;
        });
        const all = { subtree: true, childList: true, attributes: true, characterData: true };
        observer.observe(view.closest(".graph-panel")!, all);
        const fire = (type: string, x: number, y: number) =>
          view.dispatchEvent(
            new PointerEvent(type, {
              ...{ bubbles: true, pointerId: 1, button: 0, buttons: 1 },
              ...{ clientX: left + x, clientY: top + y },
            }),
          );
        // A made-up pointer cannot be captured.
        view.setPointerCapture = () => {};
        fire("pointerdown", width / 2, height / 2);
        for (let i = 0; i < 90; i++) {
          fire("pointermove", width / 2 + 150 * Math.sin(i / 9), height / 2 + 60 * Math.cos(i / 7));
          await new Promise(requestAnimationFrame);
        }
        fire("pointerup", width / 2, height / 2);
        for (let i = 0; i < 60; i++) {
          view.dispatchEvent(
            new WheelEvent("wheel", {
              ...{ bubbles: true, cancelable: true, ctrlKey: true, deltaY: i < 30 ? -12 : 12 },
              ...{ clientX: left + width / 2, clientY: top + height / 2 },
            }),
          );
          await new Promise(requestAnimationFrame);
        }
        changed += observer
          .takeRecords()
          .filter(({ target }) => !moved.has(target) && !labels.contains(target)).length;
        observer.disconnect();
        return changed;
      });
      expect(changed, "changes of the panel besides the transform").toBe(0);
    });
  }
});
