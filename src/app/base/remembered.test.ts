import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { remember, rememberedAs } from "./remembered.ts";

afterEach(() => vi.unstubAllGlobals());

it("falls back where what was remembered is damaged, or of another version", () => {
  const kept = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  });
  const recalled = () => rememberedAs("steps", z.record(z.string(), z.number()), {}, "tab");
  expect(recalled()).toEqual({});
  remember("steps", JSON.stringify({ run: 2 }), "tab");
  expect(recalled()).toEqual({ run: 2 });
  for (const damaged of ["{", "null", '{"run":"two"}']) {
    remember("steps", damaged, "tab");
    expect(recalled()).toEqual({});
  }
});
