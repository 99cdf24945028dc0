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
