import { readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { runHook } from "../../../../../test/support/run-hook.ts";
import { useStudents } from "../../../compute/students/students-store.ts";
import { useRegistered } from "./use-registered.ts";

const text = readFileSync("public/miniature/registered.json", "utf8");

vi.mock("../../../data/shipped-base.ts", () => ({ shippedBase: () => "http://page/miniature/" }));

it("says why the table could not be fetched until the view is opened again and has it", async () => {
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("network error")));
  const away = await runHook(useRegistered);
  const unread = "registered.json: could not be fetched: is the workbench's server still running?";
  expect(away.now()).toEqual({ registered: null, unread });
  await away.leave();

  vi.stubGlobal("fetch", async () => new Response(text));
  const back = await runHook(useRegistered);
  await vi.waitFor(() => expect(back.now().registered).not.toBeNull());
  expect(back.now().unread).toBeNull();
  expect(useStudents.getState().problem).toBeNull();
  await back.leave();
});
