import { expect, test } from "vitest";
import { gigabytes, lackOfRoom, typedName } from "./hub.ts";

const HUB = "https://huggingface.co";

test("a model is named by OWNER/NAME, with a revision, or by its address", () => {
  const name = { repository: "Qwen/Qwen3-0.6B", revision: "main" };
  for (const text of [" Qwen/Qwen3-0.6B ", "hub:Qwen/Qwen3-0.6B", `${HUB}/Qwen/Qwen3-0.6B/`])
    expect(typedName(text, HUB)).toEqual(name);
  expect(typedName("Qwen/Qwen3-0.6B@v1", HUB)).toEqual({ ...name, revision: "v1" });
  expect(() => typedName("Qwen3-0.6B", HUB)).toThrow("expected hub:OWNER/NAME");
  expect(() => typedName("https://elsewhere.org/a/b", HUB)).toThrow("expected hub:OWNER/NAME");
});

test("what does not fit is said with the numbers, before anything is fetched", () => {
  expect(lackOfRoom(5e9, null)).toBeNull();
  expect(lackOfRoom(5e9, { quota: 10e9, usage: 1e9 })).toBeNull();
  expect(lackOfRoom(5e9, { quota: 10e9, usage: 6e9 })).toMatch(
    /^it needs 5\.00 GB more, and this browser lets the page store 4\.00 GB more: remove/,
  );
  expect([gigabytes(999), gigabytes(1.5e6), gigabytes(63e6)]).toEqual(["1 kB", "1.5 MB", "63 MB"]);
});
