import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { modelFolder } from "./own-model.ts";
import { scoreOwn } from "./own-tokens.ts";
import { atRest, expect, pressEnabled, test } from "./site.ts";
import { MODEL_TIME } from "./throttle.ts";

const number = (cell: string): number => Number(cell.replace("−", "-").replace("+", ""));

test("adds sides by keyboard, compares any two, and takes them from an address", async ({ page }) => {
  await scoreOwn(page);
  const compare = page.getByTestId("compare");
  // An address may name a side that is not there: the menus say which.
  await page.evaluate(() => {
    window.location.hash += "&compare=vanilla,nonsense";
  });
  const chosen = compare.getByRole("combobox", { name: "Compared side" });
  await expect(chosen.getByRole("option", { name: "nonsense (missing)" })).toHaveCount(1);
  await expect(chosen).toHaveValue("nonsense");
  await expect(page.getByTestId("no-delta")).toContainText("“nonsense” is not scored");
  await chosen.selectOption("graph");
  await expect(page.getByTestId("no-delta")).toHaveCount(0);

  await compare.getByText("Add a side").focus();
  await page.keyboard.press("Enter");
  await pressEnabled(compare.getByRole("button", { name: "Score this side" }));
  await expect(compare.getByRole("button", { name: "Take away teacher, hindsight only" })).toBeVisible({
    timeout: MODEL_TIME,
  });
  await expect(page).toHaveURL(/sides=with%3Ahindsight-only/);

  // Δ of the two that are chosen is the difference of their columns.
  await compare.getByRole("combobox", { name: "Compared side" }).selectOption("with:hindsight-only");
  await expect(page).toHaveURL(/compare=vanilla%2Cwith%3Ahindsight-only/);
  await page.getByRole("option", { name: /, Δ / }).first().click();
  const rows = page.getByTestId("token-card").getByRole("row");
  const log = async (label: string): Promise<number> =>
    number((await rows.filter({ hasText: label }).locator("td:last-child").textContent())!);
  const shown = number((await page.getByTestId("token-card").locator("p strong").first().textContent())!);
  expect(shown).toBeCloseTo((await log("hindsight only")) - (await log("without evidence")), 2);

  const expectExact = async (): Promise<void> => {
    await expect(page.getByTestId("top-tables")).toContainText("entropy");
    await expect(page.getByTestId("top-tables")).not.toContainText("below the last of them");
  };
  await expectExact();

  // Another model of the same tokenizer is a side like any other.
  // It says first what it will need, and is refused over the limit.
  const picked = page.getByTestId("picked-model");
  await page.getByTestId("memory-score").getByRole("spinbutton").fill("0.0001");
  await page.getByTestId("pick-other-folder").setInputFiles(await modelFolder("models/qwen3-b"));
  await expect(picked.getByRole("alert")).toContainText("more than the 0.1 MiB that it may take");
  await expect(picked.getByRole("button", { name: "Score with it" })).toBeDisabled();
  await picked.getByRole("button", { name: "Not this one" }).click();
  await expect(picked).toHaveCount(0);
  await page.getByTestId("memory-score").getByRole("spinbutton").fill("");
  await page.getByTestId("pick-other-folder").setInputFiles(await modelFolder("models/qwen3-b"));
  await expect(picked).toContainText(
    /^qwen3-b: two passes over at most \d+ tokens\. .* about [\d.]+ [MG]iB \(weights [\d.]+ [MG]iB, activations /,
  );
  await pressEnabled(picked.getByRole("button", { name: "Score with it" }));
  await expect(compare.getByRole("button", { name: "Take away qwen3-b, with evidence" })).toBeVisible({
    timeout: MODEL_TIME,
  });
  await compare.getByRole("combobox", { name: "Base side" }).selectOption("model:qwen3-b:vanilla");
  await expect(page.getByTestId("no-delta")).toBeHidden();
  await expectExact();
  await expect(page.getByLabel("Measured on")).toContainText("sha256:");

  // One whose tokenizer has other ids for it has no Δ with the others: both are named.
  const folder = await mkdtemp(join(tmpdir(), "other-tokenizer-"));
  const models = "test/fixtures/models";
  for (const name of ["config.json", "model.safetensors"])
    await copyFile(`${models}/qwen3-b/${name}`, join(folder, name));
  await copyFile(`${models}/tokenizer/tokenizer_config.json`, join(folder, "tokenizer_config.json"));
  const tokenizer = JSON.parse(await readFile(`${models}/tokenizer/tokenizer.json`, "utf8"));
  const { vocab } = tokenizer.model;
  [vocab.G, vocab.H] = [vocab.H, vocab.G];
  await writeFile(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  await page.getByTestId("pick-other-folder").setInputFiles(folder);
  await pressEnabled(picked.getByRole("button", { name: "Score with it" }));
  const stranger = compare
    .locator(".side-chip")
    .filter({ hasText: /, with evidence: \d+ tokens of its own, log p −/ });
  await expect(stranger).toBeVisible({ timeout: MODEL_TIME });
  const base = compare.getByRole("combobox", { name: "Base side" });
  await base.selectOption(
    await base.locator("option", { hasText: "other-tokenizer" }).first().getAttribute("value"),
  );
  await expect(page.getByTestId("no-delta")).toHaveText(
    /^No Δ: their token ids differ from token \d+ on .* has tokenizer sha256:[0-9a-f]{12}, .* has sha256:[0-9a-f]{12}\.$/,
  );
  await rm(folder, { recursive: true });
  await base.selectOption("model:qwen3-b:vanilla");

  // Scored again, the address's sides come with it; one that is not there is named.
  await page.evaluate(() => {
    window.location.hash = window.location.hash.replace(
      "sides=with%3Ahindsight-only",
      "sides=with%3Ahindsight-only%2Cwith%3Agraph%3Ak1",
    );
  });
  await expect(compare).toContainText("full graph · K = 1 source per task: not scored yet");
  await atRest(page);
  await page.keyboard.press("s");
  await expect(compare.getByRole("button", { name: /^Take away teacher, full graph.*K = 1/ })).toBeVisible({
    timeout: MODEL_TIME,
  });
  await expect(page.getByTestId("no-delta")).toContainText("“model:qwen3-b:vanilla” is not scored");
  await compare.getByRole("button", { name: "Take away teacher, hindsight only" }).click();
  await expect(compare.getByRole("button", { name: "Take away teacher, hindsight only" })).toHaveCount(0);
  await expect(page.getByTestId("no-delta")).toBeHidden();
});
