import { expect, it, vi } from "vitest";
import { runHook } from "../../../test/support/run-hook.ts";
import { useText } from "./guide-dialog.tsx";

vi.mock("./guide-texts.ts", () => ({
  GUIDE_TEXTS: { inspecting: () => Promise.reject(new TypeError("Failed to fetch")) },
}));

it("a part of the guide that does not load says what helps, also after an update of the page", async () => {
  const guide = await runHook(() => useText("inspecting"));
  const text =
    "This part of the guide did not load. Check that the page's server runs; if the page was updated since you opened it, reload it.";
  expect(guide.now()).toEqual([["p", {}, [text]]]);
  await guide.leave();
});
