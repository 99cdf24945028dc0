import { expect, test } from "vitest";
import { allowsOrigin, connectSources } from "./page-policy.ts";

const HUB = "https://huggingface.co";
const OWN = "http://127.0.0.1:8791";

test("the page's policy is read for whom it lets the page contact", () => {
  const policy = `default-src 'self'; connect-src 'self' blob: ${HUB} https://*.hf.co; object-src 'none'`;
  const sources = connectSources(policy);
  expect(sources).toEqual(["'self'", "blob:", HUB, "https://*.hf.co"]);
  expect(allowsOrigin(sources, HUB, OWN)).toBe(true);
  expect(allowsOrigin(sources, OWN, OWN)).toBe(true);
  expect(allowsOrigin(sources, "https://elsewhere.org", OWN)).toBe(false);
});

test("by default nobody but the page's own server is named; without a policy the browser decides", () => {
  expect(allowsOrigin(connectSources("connect-src 'self' blob:"), HUB, OWN)).toBe(false);
  expect(connectSources("default-src 'self'")).toBeNull();
  expect(allowsOrigin(null, HUB, OWN)).toBe(true);
  expect(allowsOrigin(["*"], HUB, OWN)).toBe(true);
});
