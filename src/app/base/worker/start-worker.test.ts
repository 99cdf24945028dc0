import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ownScript } from "./start-worker.ts";

beforeEach(() => {
  vi.stubGlobal("location", new URL("http://127.0.0.1:8791/page/"));
});
afterEach(() => vi.unstubAllGlobals());

it("starts scripts of the page's own server and no other", () => {
  for (const url of ["/assets/a.js", "a.js", "http://127.0.0.1:8791/a.js"]) expect(ownScript(url)).toBe(url);
  for (const url of [
    "blob:http://127.0.0.1:8791/0b8f",
    "data:text/javascript,0",
    "http://127.0.0.1:8792/a.js",
    "https://example.org/a.js",
    "//example.org/a.js",
  ])
    expect(() => ownScript(url)).toThrow("no script of this page");
});
