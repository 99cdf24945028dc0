import { afterEach, expect, it, vi } from "vitest";
import { InputError } from "../../../../core/errors.ts";
import { hubFetch } from "./hub-fetch.ts";

const FILE = "https://hub.example/owner/model/resolve/main/model.safetensors";

/** A browser that gives `manual` where a redirect is not to be followed, and fails where it is. */
function browser(manual: () => Promise<Partial<Response>>) {
  const fetch = vi.fn(async (_: string, { redirect }: RequestInit) => {
    if (redirect === "manual") return manual();
    throw new TypeError("Failed to fetch");
  });
  vi.stubGlobal("fetch", fetch);
  return fetch;
}
afterEach(() => vi.unstubAllGlobals());

it("says that a file is sent on to a host that cannot be asked, without a word from the page's policy", async () => {
  browser(async () => ({ type: "opaqueredirect" }));
  const failed = hubFetch(FILE, { headers: { Range: "bytes=5-" } });
  await expect(failed).rejects.toThrow(InputError);
  await expect(failed).rejects.toThrow(
    `the hub sends this file on to a host that this page may not ask, or that does not answer it: start it with one more \`--connect ORIGIN\`, where ORIGIN is that of the line "location" that \`curl -sI ${FILE}\` prints`,
  );
});

it("says that the hub cannot be asked", async () => {
  const message = "https://hub.example is not reachable, or does not let pages of other sites read it (CORS)";
  browser(async () => Promise.reject(new TypeError("Failed to fetch")));
  await expect(hubFetch(FILE)).rejects.toThrow(message);
  // It answers again by then, without sending it on.
  browser(async () => ({ type: "cors" }));
  await expect(hubFetch(FILE)).rejects.toThrow(message);
});

it("ends with the stop of who asked", async () => {
  const controller = new AbortController();
  const stop = new DOMException("the download was stopped", "AbortError");
  const fetch = browser(async () => {
    controller.abort(stop);
    return { type: "opaqueredirect" };
  });
  await expect(hubFetch(FILE, { signal: controller.signal })).rejects.toBe(stop);
  expect(fetch).toHaveBeenCalledTimes(2);
  await expect(hubFetch(FILE, { signal: controller.signal })).rejects.toBe(stop);
  expect(fetch).toHaveBeenCalledTimes(3);
});
