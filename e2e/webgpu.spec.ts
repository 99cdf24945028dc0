import { expect, test, visit } from "./site.ts";

test("the browser of these tests has a WebGPU adapter, and the page takes it", async ({ page }) => {
  await visit(page);
  const adapter = await page.evaluate(async () => {
    const found = await navigator.gpu?.requestAdapter();
    return found ? `${found.info.vendor} ${found.info.architecture}` : null;
  });
  // A null adapter must fail: every other test would quietly run on the CPU.
  expect(adapter).not.toBeNull();
  await expect(page.getByTestId("device")).toHaveValue("webgpu");
  await expect(page.getByTestId("no-webgpu")).toHaveCount(0);
});

test("the user may choose the CPU, and go back", async ({ page }) => {
  await visit(page);
  const device = page.getByTestId("device");
  await device.selectOption("cpu");
  await expect(page.getByText("plain TypeScript")).toBeVisible();
  await expect(page.getByTestId("no-webgpu"), "nothing is missing").toHaveCount(0);
  await device.selectOption("webgpu");
  await expect(page.getByText("swiftshader")).toBeVisible();
});

test("the device says what it offers, why it computes in f32, and what it reaches", async ({ page }) => {
  await visit(page);
  await page.getByRole("button", { name: /^Computes on / }).click();
  const dialog = page.getByRole("dialog", { name: "Device" });
  const row = (name: string) =>
    dialog.locator("dl > div").filter({ has: page.getByText(name, { exact: true }) });
  await expect(row("Adapter")).toContainText("swiftshader");
  await expect(row("Arithmetic")).toContainText("f32: the adapter is software");
  await expect(row("Features")).toContainText("subgroups of 4");
  await expect(row("Largest buffer")).toContainText("1.00 GiB");
  await dialog.getByRole("button", { name: "Measure, about a second" }).click();
  await expect(page.getByTestId("device-speed")).toHaveText(
    /^\S+ [GT]FLOP\/s in products, \S+ GB\/s of memory$/,
  );
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
});
