/** The device is lost in the middle of a run: the run goes on from its last checkpoint, and says so. */
import { dropFiles, OWN_FILES, TASK } from "./own-files.ts";
import { decisionShown, expect, test, visit } from "./site.ts";

/** Put before the compute worker's own script: keeps its devices, and destroys the newest when the test says so. */
const WITH_LOSS = `
const devices = [];
const request = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function (...options) {
  const device = await request.apply(this, options);
  devices.push(device);
  return device;
};
new BroadcastChannel("lose-the-device").onmessage = () => devices.at(-1)?.destroy();
`;

test("training goes on over a lost device", async ({ page }) => {
  test.setTimeout(300_000);
  await page.route("**/compute.worker-*.js", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${WITH_LOSS}${await response.text()}` });
  });
  await visit(page);
  await dropFiles(page, OWN_FILES);
  await page.getByRole("button", { name: TASK }).click();
  await decisionShown(page, 0);
  await page.keyboard.press("u");
  await page.getByLabel("Vanilla passes").fill("40");
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Update" }).click();
  // Some steps are done, and many are left: the loss comes in the middle.
  await expect(page.getByTestId("running")).toContainText(/Step ([2-9]|1\d|2\d) of 41/, { timeout: 120_000 });
  await page.evaluate(() => new BroadcastChannel("lose-the-device").postMessage("now"));
  await expect(page.getByTestId("run-message")).toContainText(
    "Done: 41 steps. The student has 41 optimizer steps now. The device failed once on the way; each time the run went on from its last checkpoint.",
    { timeout: 240_000 },
  );
  await expect(page.getByTestId("model-student")).toContainText("updated here (41 steps)");
});
