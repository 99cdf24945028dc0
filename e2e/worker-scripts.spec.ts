/** A worker's script that does not come, since the server was stopped or has another page: a line says so, and asking again works. */
import { expect, type Page, sampleHash, test, visit } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

/** What the browser itself says. */
test.use({ expectedErrors: ["Failed to load resource", "Uncaught", "The workbench failed"] });

/** Until the returned function is called, the script of a worker does not come. */
async function withoutScript(page: Page, name: string): Promise<() => Promise<void>> {
  const script = `**/${name}.worker-*.js`;
  await page.route(script, (route) => route.abort());
  return () => page.unroute(script);
}

const notLoaded = (page: Page, name: string) =>
  page.getByText(
    new RegExp(
      `the ${name} worker could not start: its script /assets/${name}\\.worker-[\\w-]+\\.js did not load. Check that`,
    ),
  );

test("of games: what was typed stays, and the next press makes them; a script that throws is told, too", async ({
  page,
}) => {
  const back = await withoutScript(page, "games");
  await visit(page, "#/play");
  await page.getByLabel("World").selectOption("webshop");
  await page.getByLabel("Products").fill("12");
  const make = page.getByRole("button", { name: "Make games" });
  await make.click();
  await expect(notLoaded(page, "games")).toBeVisible();
  await back();
  await page.route("**/games.worker-*.js", async (route) =>
    route.fulfill({ response: await route.fetch(), body: 'throw new RangeError("too old");' }),
  );
  await make.click();
  await expect(page.getByTestId("games-problem")).toContainText(
    "The workbench failed: the games worker could not start: Uncaught RangeError: too old",
  );
  await page.unrouteAll();
  await make.click();
  await expect(
    page.getByRole("list", { name: "Tasks of the open games" }).getByRole("button").first(),
  ).toBeVisible();
});

test("of the hub: the dialog says so, and reads what is kept when it is opened again", async ({ page }) => {
  const back = await withoutScript(page, "hub");
  await visit(page, sampleHash("tokens", "find-non-living-thing|36|easy", { decision: 4 }));
  const open = page.getByTestId("model-teacher").getByRole("button", { name: "By name…" });
  await open.click();
  await expect(notLoaded(page, "hub")).toBeVisible();
  await expect(page.getByText(/kept in this browser/)).toHaveCount(0);
  await page.keyboard.press("Escape");
  await back();
  await open.click();
  await expect(page.getByText("No model is kept in this browser yet.")).toBeVisible();
  await expect(page.getByTestId("hub-problem")).toHaveCount(0);
});

test("of libraries: the next press opens one", async ({ page }) => {
  const back = await withoutScript(page, "library");
  await visit(page);
  const open = page.getByRole("button", { name: "Open the sample" });
  await open.click();
  await expect(notLoaded(page, "library")).toBeVisible();
  await back();
  await open.click();
  await expect(page.getByRole("row", { name: /melt\|12\|easy/ })).toBeVisible();
});

test("of models: the next press scores", async ({ page }) => {
  const back = await withoutScript(page, "compute");
  await visit(page, sampleHash("tokens", "find-non-living-thing|36|easy", { decision: 4 }));
  const score = page.getByRole("button", { name: "Score s" });
  await score.click();
  await expect(notLoaded(page, "compute").first()).toBeVisible();
  await back();
  await score.click();
  await expect(page.getByRole("listbox", { name: "Response tokens" })).toBeVisible({ timeout: MODEL_TIME });
});
