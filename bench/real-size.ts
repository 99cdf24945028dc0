/**
 * One session at the page with models of real size, in Chromium on this machine's GPU, as a person has it: the sample,
 * the folders of a student and a teacher, a decision scored and the next one, two steps over an episode of seven
 * decisions, a reload, and the student's folder kept in the browser and opened from there. Weights are random. The
 * browser's profile is on the disk, in the folder for temporary files. A step that does not end as it should ends the
 * benchmark, with what the page says; its row says why.
 *
 *     npm run build && npm run bench -- real-size [--case a|b] [--folder FOLDER] [--browser PATH]
 *     … [--small] [--software]
 *
 * Case a has the layers of Qwen3-0.6B and Qwen3-1.7B with the sample's small vocabulary, case b the models as they are.
 * `--folder` keeps the models; `--small` makes tiny ones. Bundled by `bundle` of scripts/run.mjs as `standalone`, it runs
 * beside `dist/page`, `public/sample` and `node_modules/playwright`.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Browser, Locator, Page } from "playwright";
import type { ModelConfig } from "../src/tensor/index.ts";
import { adapterOf, profilePage, servePage, withBrowser } from "./support/browser/built-page.ts";
import { readAlone, writeModel } from "./support/model-folder.ts";
import { QWEN3_SIZES } from "./support/qwen3-sizes.ts";
import { cardNow, collectGarbage, memoryNow, watchCard, watchTab } from "./support/tab-memory.ts";

const { values } = parseArgs({
  options: {
    case: { type: "string" },
    folder: { type: "string" },
    browser: { type: "string" },
    software: { type: "boolean", default: false },
    small: { type: "boolean", default: false },
  },
});
const PATIENCE = 600_000;
/** Milliseconds between two looks at the page while a step is timed. */
const LOOK_MS = 20;
/** Its first episode has seven decisions, and is the one that is open. */
const TASK = "find-non-living-thing|36|easy";

type Role = "student" | "teacher";

interface Case {
  title: string;
  models: Record<Role, ModelConfig>;
}

function sized(name: string, vocabularySize: number): ModelConfig {
  return { ...QWEN3_SIZES[name]!, vocabularySize };
}

const [STUDENT, TEACHER] = values.small ? ["student", "miniature"] : ["0.6b", "1.7b"];

/** In both, the tokenizer is the sample's: in b most rows of the vocabulary are no token of it. */
const of = (title: string, rows: number): Case => ({
  title,
  models: { student: sized(STUDENT!, rows), teacher: sized(TEACHER!, rows) },
});
const CASES: Readonly<Record<string, Case>> = {
  a: of("Layers of Qwen3-0.6B and Qwen3-1.7B, the sample's vocabulary", QWEN3_SIZES.student!.vocabularySize),
  b: of("Qwen3-0.6B and Qwen3-1.7B", values.small ? 4096 : QWEN3_SIZES["0.6b"]!.vocabularySize),
};
const chosen = values.case === undefined ? Object.keys(CASES) : [values.case];
if (chosen.some((name) => CASES[name] === undefined)) throw new Error("--case: one of a, b");

/** A model's folder on this machine. */
interface Folder {
  path: string;
  bytes: number;
  /** Seconds that reading its files alone took. */
  read: number;
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

/** Writes a model with the sample's tokenizer, and reads it once as a program without a browser does. */
async function modelFolder(path: string, config: ModelConfig): Promise<Folder> {
  console.error(`writing ${path}`);
  await writeModel(path, config);
  cpSync("public/sample/tokenizer", path, { recursive: true });
  const began = performance.now();
  const bytes = await readAlone(path);
  return { path, bytes, read: (performance.now() - began) / 1000 };
}

/** What a step took; memory in megabytes, at the most and when all was at rest again. */
interface Row {
  what: string;
  seconds: number;
  tab: [number, number];
  gpu: [number, number];
  card: [number?, number?];
}

/** A step that was not done, or did not end as it should. */
interface Missing {
  what: string;
  why: string;
}

const oneLine = (texts: readonly string[]): string =>
  texts
    .map((text) => text.replaceAll(/\s+/g, " ").trim())
    .filter((text) => text !== "")
    .join(" | ");

/** The page in use. */
class Session {
  readonly #rows: (Row | Missing)[] = [];
  readonly #openings: { what: string; folder: Folder; seconds: number }[] = [];
  /** What the page told beside. */
  readonly notes: string[] = [];
  readonly #broken: Promise<never>;

  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
  ) {
    page.setDefaultTimeout(PATIENCE);
    this.#broken = new Promise((_, reject) => {
      page.on("pageerror", (error) => reject(new Error(`an error that nobody caught: ${error.message}`)));
      page.on("crash", () => reject(new Error("the tab crashed")));
    });
    this.#broken.catch(() => undefined);
  }

  static async start(browser: Browser): Promise<Session> {
    return new Session(browser, await profilePage(browser));
  }

  /** What is wrong, in the page's words. What is said of a student that cannot be kept is an outcome like any other. */
  get #alerts(): Locator {
    return this.page.locator("[role=alert]:not([data-testid=unkept])").filter({ visible: true });
  }

  /** Waits for a sign that a step has ended well. */
  async until(sign: Locator): Promise<void> {
    // Not by `waitFor`, which looks every half second.
    const ended = sign.or(this.#alerts).first();
    for (const began = performance.now(); !(await ended.isVisible()); await delay(LOOK_MS))
      if (performance.now() - began > PATIENCE) throw new Error(`${sign} did not come`);
    const said = await this.#alerts.allInnerTexts();
    if (said.length > 0) throw new Error(oneLine(said));
  }

  #atRest(): Promise<void> {
    return this.page.getByTestId("at-work").waitFor({ state: "detached" });
  }

  /**
   * Does one step, records it, and returns its seconds. The clock stops when `work` has ended, memory is watched until all
   * is at rest.
   */
  async step(what: string, work: () => Promise<unknown>): Promise<number> {
    console.error(`${what} …`);
    const stopTab = await watchTab(this.browser);
    const stopCard = watchCard();
    try {
      const time = await seconds(() => Promise.race([work(), this.#broken]));
      await Promise.race([this.#atRest(), this.#broken]);
      const [most, card] = [await stopTab(), stopCard().card];
      await collectGarbage(this.page);
      const rest = await memoryNow(this.browser);
      const row: Row = {
        ...{ what, seconds: time, tab: [most.own, rest.tab], gpu: [most.gpu, rest.gpu] },
        card: [card, cardNow().card],
      };
      this.#rows.push(row);
      console.error(`… ${cellsOf(row).join(" | ")}`);
      return time;
    } catch (error) {
      stopCard();
      await stopTab().catch(() => undefined);
      const shown = this.page.locator("[role=alert], [role=status]").filter({ visible: true });
      const said = oneLine(await shown.allInnerTexts().catch(() => []));
      const reason = error instanceof Error ? error.message : String(error);
      this.leaveOut(what, `did not work: ${reason.split("\n", 1)[0]}`);
      throw new Error(`${what}: ${reason}\nThe page says: ${said || "nothing"}`);
    }
  }

  /** Records that there is no such figure, and why. */
  leaveOut(what: string, why: string): void {
    this.#rows.push({ what, why });
  }

  /** A step in which `open` makes a folder a role's model. */
  async opening(what: string, role: Role, folder: Folder, open: () => Promise<void>): Promise<void> {
    const seconds = await this.step(what, async () => {
      await open();
      await this.until(model(this.page, role).getByText(`${basename(folder.path)}, your own`));
    });
    this.#openings.push({ what, folder, seconds });
  }

  print(title: string): void {
    console.log(`\n${title}\n`);
    table(
      ["what", "seconds", "tab MB, highest", "at rest", "GPU process MB, highest / at rest", "card MB"],
      this.#rows.map((row) => [row.what, ...("why" in row ? [row.why, "", "", "", ""] : cellsOf(row))]),
    );
    // Both read what was just written, from memory.
    console.log("");
    table(
      ["files in memory", "GB", "GB/s", "read alone, in pieces of 16 MiB"],
      this.#openings.map(({ what, folder: { bytes, read }, seconds }) => [
        ...[what, (bytes / 1e9).toFixed(3)],
        ...[seconds, read].map((time) => (bytes / 1e9 / time).toFixed(2)),
      ]),
    );
    for (const note of this.notes) console.log(`\n${note}`);
  }
}

function cellsOf({ seconds, tab: [highest, rest], gpu, card }: Row): string[] {
  const sizes = (megabytes: Row["card"]): string =>
    megabytes.map((size) => size?.toLocaleString("en", { maximumFractionDigits: 0 })).join(" / ");
  const cells = [seconds.toFixed(2), sizes([highest]), sizes([rest]), sizes(gpu)];
  return [...cells, card[0] === undefined ? "" : sizes(card)];
}

function table(head: string[], rows: string[][]): void {
  const line = ["---", ...head.slice(1).map(() => "---:")];
  for (const cells of [head, line, ...rows])
    console.log(`| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
}

const model = (page: Page, role: Role): Locator => page.getByTestId(`model-${role}`);

const pick = (page: Page, role: Role, folder: Folder) => (): Promise<void> =>
  page.getByTestId(`pick-${role}-folder`).setInputFiles(folder.path);

/** Scores the decision that is open. */
async function score(session: Session): Promise<void> {
  await session.page.keyboard.press("s");
  await session.until(session.page.getByRole("grid", { name: "All tokens in figures" }));
}

type Noting = Window & { noted?: { at: number; text: string }[] };

/** From now on, the page notes what a run is at, and when. */
function noteRunning(page: Page): Promise<void> {
  return page.evaluate(() => {
    const noted: NonNullable<Noting["noted"]> = [];
    (window as Noting).noted = noted;
    const look = (): void => {
      const text =
        document.querySelector(":is([data-testid=running], [data-testid=keeping]) span")?.textContent ?? "";
      // "Step 1 of 2 · what it does · how far": of which the first two.
      const parts = text.split(" · ");
      const at = parts.slice(0, /^Step \d/.test(text) ? 2 : 1).join(": ");
      if (at !== noted.at(-1)?.text) noted.push({ at: performance.now(), text: at });
    };
    new MutationObserver(look).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
    look();
  });
}

/** What the run was at, one after the other, with seconds. */
async function noted(page: Page): Promise<string> {
  const all = await page.evaluate(() => (window as Noting).noted ?? []);
  return all
    .slice(0, -1)
    .map(({ at, text }, n) => ({ text, took: (all[n + 1]!.at - at) / 1000 }))
    .filter(({ text }) => text !== "")
    .map(({ text, took }) => `${text} ${took.toFixed(2)} s`)
    .join(", ");
}

/**
 * Updates the student with what the form offers: a vanilla step and a graph-conditioned one. Returns why the browser has
 * not kept it; null where it has.
 */
async function update(session: Session): Promise<string | null> {
  const { page, notes } = session;
  await page.keyboard.press("4");
  const plan = page.getByTestId("memory-train").and(page.locator("[aria-busy=false]"));
  await session.until(plan.getByText("What it will need: about"));
  notes.push(
    `${await page.getByTestId("cost").textContent()} ${await plan.locator("summary").textContent()}.`,
  );
  await noteRunning(page);
  const done = page.getByTestId("run-message").getByText("Done: 2 steps");
  await session.step("two update steps", async () => {
    await page.getByRole("button", { name: "Update" }).click();
    await session.until(done.or(page.getByTestId("keeping")));
  });
  // The rest of the run's time is keeping the student.
  await session.until(done);
  notes.push(`The update: ${await noted(page)}.`);
  // Known also where the rest is cut off.
  console.error(notes.at(-1));
  const unkept = page.getByTestId("unkept");
  return (await unkept.count()) === 0 ? null : await unkept.innerText();
}

async function use(session: Session, url: string, { student, teacher }: Record<Role, Folder>): Promise<void> {
  const { page } = session;
  await session.step("the page and the sample opened", async () => {
    await page.goto(url);
    await page.getByRole("button", { name: "Open the sample" }).click();
    await session.until(page.getByRole("button", { name: TASK }));
  });
  await page.getByRole("button", { name: TASK }).click();
  const decision = page.getByTestId("decision");
  await decision.waitFor();
  await page.keyboard.press("3");
  await session.opening("student’s folder picked", "student", student, pick(page, "student", student));
  await session.opening("teacher’s folder picked", "teacher", teacher, pick(page, "teacher", teacher));
  await session.step("first decision scored", () => score(session));
  await page.keyboard.press("j");
  await decision.and(page.getByText("1", { exact: true })).waitFor();
  await page
    .getByRole("button", { name: /^Score/ })
    .and(page.locator(":enabled"))
    .waitFor();
  await session.step("next decision scored", () => score(session));

  const found = "reloaded: the trained student is found";
  const unkept = await update(session);
  if (unkept !== null) session.leaveOut(found, `not done: ${oneLine([unkept])}`);
  else {
    await session.step(found, async () => {
      await page.reload();
      await session.until(model(page, "student").getByText("trained in this browser"));
    });
    await page.keyboard.press("3");
    await page
      .getByRole("button", { name: /^Score/ })
      .and(page.locator(":enabled"))
      .waitFor();
    // By the sample's teacher: the reload has closed that of the user.
    await session.step("a decision scored by it, opened again", async () => {
      await score(session);
      await session.until(model(page, "student").getByText("updated here (2 steps)"));
    });
  }

  await session.opening("student’s folder picked again", "student", student, pick(page, "student", student));
  await session.step("student’s folder kept in the browser", async () => {
    await model(page, "student").getByRole("button", { name: "Keep" }).click();
    await session.until(page.getByTestId("notice").getByText("is kept in this browser"));
  });
  await session.step("reloaded: the kept folder is offered", async () => {
    await page.reload();
    await session.until(model(page, "student").getByText("Kept…"));
  });
  await session.opening("student opened from what is kept", "student", student, async () => {
    await model(page, "student").getByText("Kept…").click();
    const name = new RegExp(`^${basename(student.path)}, `);
    await model(page, "student").getByRole("button", { name }).click();
  });
}

const served = await servePage();
const root =
  values.folder === undefined ? mkdtempSync(join(tmpdir(), "gcopd-real-size-")) : resolve(values.folder);
try {
  for (const name of chosen) {
    const { title, models } = CASES[name]!;
    const student = await modelFolder(join(root, `${name}-student`), models.student);
    const teacher = await modelFolder(join(root, `${name}-teacher`), models.teacher);
    await withBrowser(values, async (browser) => {
      const asked = await profilePage(browser);
      await asked.goto(served.url);
      const adapter = await adapterOf(asked, values);
      await asked.close();
      const session = await Session.start(browser);
      try {
        await use(session, served.url, { student, teacher });
      } finally {
        session.print(`${title}${values.small ? ", all of it tiny" : ""}`);
        console.log(`\nAdapter: ${adapter}`);
      }
    });
    if (values.folder === undefined)
      for (const { path } of [student, teacher]) rmSync(path, { recursive: true });
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  served.close();
  if (values.folder === undefined) rmSync(root, { recursive: true, force: true });
}
