/**
 * Two minutes at the page as somebody might spend them, with real keys, clicks and the wheel: stepping through
 * decisions and tasks, a key held down, the graph's axis, the matrix, the evidence, what-ifs, all views in turn, the
 * command palette, the library's table and its largest task. What a link can say is said by the link, so that a control
 * that moves or is renamed ends no benchmark.
 */
import type { Page } from "playwright";

/** Between two actions, in milliseconds. */
const PACE = 120;

type Mark = (what: string) => Promise<void>;

/** Waits until the decision that the step bar names is shown. */
async function decisionShown(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const named = document.querySelector("[data-testid=decision]")?.textContent;
    const title = document.querySelector("#decision-title")?.textContent;
    return named !== undefined && title?.endsWith(` ${named}`);
  });
}

/** Changes parts of the link, as one who edits the address does. */
async function visit(page: Page, change: Record<string, string | null>): Promise<void> {
  await page.evaluate((parts) => {
    const [path, query = ""] = window.location.hash.split("?");
    const parameters = new URLSearchParams(query);
    for (const [key, value] of Object.entries(parts)) {
      if (value === null) parameters.delete(key);
      else parameters.set(key, value);
    }
    window.location.hash = `${path}?${parameters}`;
  }, change);
}

/** Turns the wheel over an element: `turns` times by `pixels`. */
async function wheel(page: Page, selector: string, turns: number, pixels: number): Promise<void> {
  await page.locator(selector).first().hover({ force: true });
  for (let turn = 0; turn < turns; turn++) {
    await page.mouse.wheel(0, pixels);
    await page.waitForTimeout(30);
  }
}

/** A key that stays down, as the keyboard repeats it: 30 times per second. */
async function hold(page: Page, key: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    await page.keyboard.down(key);
    await page.waitForTimeout(33);
  }
  await page.keyboard.up(key);
}

/** Opens the task with the most states, from the library's table. */
async function openLargest(page: Page): Promise<void> {
  await page.keyboard.press("1");
  const states = page.locator("table.tasks thead th", { hasText: "States" });
  for (let clicks = 0; clicks < 2 && (await states.getAttribute("aria-sort")) !== "descending"; clicks++) {
    await states.locator("button").click();
    await page.waitForTimeout(PACE);
  }
  await page.locator("table.tasks tbody th button").first().click();
  await page.getByTestId("evidence").waitFor({ state: "attached" });
  await decisionShown(page);
}

/** Goes on for so many seconds, from the task view on. Returns how many rounds and steps were done. */
export async function session(
  page: Page,
  seconds: number,
  mark: Mark,
): Promise<{ rounds: number; steps: number }> {
  const until = Date.now() + 1000 * seconds;
  const rest = (): Promise<void> => page.waitForTimeout(PACE);
  let steps = 0;
  const press = async (key: string, times = 1, pace = PACE): Promise<void> => {
    for (let i = 0; i < times && Date.now() < until; i++) {
      await page.keyboard.press(key);
      await page.waitForTimeout(pace);
    }
  };
  const step = async (key: string, times: number, pace = PACE): Promise<void> => {
    await press(key, times, pace);
    steps += times;
    await decisionShown(page);
  };
  const round: [string, () => Promise<void>][] = [
    ["opening the next task", () => press("]", 1, 600)],
    ["stepping", () => step("j", 10)],
    ["stepping as fast as a held key", () => step("j", 8, 33)],
    ["stepping back", () => step("k", 6)],
    [
      "a key held down for two seconds",
      () =>
        hold(page, "j", 60)
          .then(() => decisionShown(page))
          .then(rest),
    ],
    ["another one held down", () => hold(page, "k", 60).then(() => decisionShown(page))],
    ["turning the graph to the remaining cost", () => visit(page, { axis: "cost" }).then(rest)],
    ["stepping", () => step("j", 3)],
    ["turning the graph to the first visit", () => visit(page, { axis: null }).then(rest)],
    [
      "walking through the matrix",
      async () => {
        await page.locator("[role=grid] [data-cell='1:0']").focus();
        for (const key of ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowRight"]) await press(key);
      },
    ],
    ["pinning a visit", () => press("Enter", 1, 300)],
    ["unpinning it", () => press("Escape")],
    ["pointing at states", () => wheel(page, ".graph-panel", 4, 0)],
    [
      "opening the evidence",
      async () => {
        await page.getByTestId("evidence").evaluate((element) => element.scrollIntoView());
        await rest();
        await wheel(page, "[data-testid=evidence]", 8, 240);
      },
    ],
    ["stepping with the evidence in sight", () => step("j", 4)],
    [
      "what if: success only",
      () =>
        visit(page, { control: "success-only" })
          .then(() => decisionShown(page))
          .then(rest),
    ],
    ["stepping under it", () => step("k", 3)],
    ["what if: four sources", () => visit(page, { sources: "4" }).then(() => page.waitForTimeout(500))],
    [
      "back to the full method",
      () => visit(page, { control: null, sources: null }).then(() => page.waitForTimeout(500)),
    ],
    ["the tokens view", () => press("3", 1, 400)],
    ["stepping there", () => press("j", 3).then(() => press("k", 2))],
    ["back to the task", () => press("2", 1, 400)],
    [
      "all views in turn",
      async () => {
        for (const key of ["1", "2", "3", "4", "5", "6"]) await press(key, 1, 300);
        for (const key of ["2", "1", "2", "6", "2", "5"]) await press(key);
      },
    ],
    [
      "the command palette",
      async () => {
        await press("Control+k");
        await page.locator("[data-dialog=palette] input").pressSequentially("evid 12", { delay: 60 });
        await press("ArrowDown", 4);
        await press("Escape");
      },
    ],
    ["opening the largest task", () => openLargest(page).then(rest)],
    ["stepping through it", () => step("j", 8)],
    ["the library", () => press("1", 1, 400)],
    ["scrolling the table", () => wheel(page, "table.tasks", 20, 900)],
    [
      "sorting",
      async () => {
        for (const title of ["Executions", "States", "States", "Task"]) {
          await page.locator("table.tasks thead button", { hasText: title }).first().click();
          await rest();
        }
      },
    ],
    [
      "filtering",
      async () => {
        const field = page.locator("#task-filter");
        await field.fill("");
        await field.pressSequentially("12 1", { delay: 60 });
        await rest();
        await field.press("Control+a");
        await field.press("Backspace");
        await field.blur();
      },
    ],
    [
      "opening a task from the table",
      async () => {
        await page.locator("table.tasks tbody th button").nth(3).click();
        await page.getByTestId("evidence").waitFor({ state: "attached" });
        await decisionShown(page);
      },
    ],
  ];
  let rounds = 0;
  while (Date.now() < until) {
    for (const [what, act] of round) {
      if (Date.now() >= until) break;
      await mark(what);
      await act();
    }
    rounds++;
  }
  return { rounds, steps };
}
