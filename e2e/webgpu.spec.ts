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
