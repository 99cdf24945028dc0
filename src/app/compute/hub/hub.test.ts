import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fake, Pending, until } from "../../../../test/support/fake.ts";
import type { CachedModel } from "../../../engine/hub/index.ts";
import { models } from "../models/models.ts";
import {
  gigabytes,
  goOn,
  lackOfRoom,
  lookUp,
  stopDownload,
  stopLookUp,
  typedName,
  typeHub,
  useHub,
} from "./hub.ts";
import type { HubListing, HubProgress, HubService } from "./internal/hub-service.ts";

/** The downloads that the worker was asked for, in their order. */
const asked = vi.hoisted((): { tell: (progress: HubProgress) => void; end: () => void }[] => []);
/** The look-ups that the worker was asked for. */
const looked = vi.hoisted((): Pending<HubListing>[] => []);
/** What the worker keeps. */
const kept = vi.hoisted((): CachedModel[] => []);
vi.mock("./internal/page-policy.ts", () => ({ mayContact: () => true, howToAllow: () => "" }));
vi.mock("../clients.ts", async (original) => ({
  ...(await original<object>()),
  hubWorker: () =>
    fake<HubService>({
      bring: (_listing, tell) => new Promise<void>((end) => asked.push({ tell, end })),
      list: async () => kept,
      files: async () => new Map(),
      look: () => {
        looked.push(new Pending());
        return looked.at(-1)!.promise;
      },
      stop: async () => looked.at(-1)?.reject(new DOMException("stopped", "AbortError")),
    }),
}));

const HUB = "https://huggingface.co";

test("a model is named by OWNER/NAME, with a revision, or by its address", () => {
  const name = { repository: "Qwen/Qwen3-0.6B", revision: "main" };
  for (const text of [" Qwen/Qwen3-0.6B ", "hub:Qwen/Qwen3-0.6B", `${HUB}/Qwen/Qwen3-0.6B/`])
    expect(typedName(text, HUB)).toEqual(name);
  expect(typedName("Qwen/Qwen3-0.6B@v1", HUB)).toEqual({ ...name, revision: "v1" });
  expect(() => typedName("Qwen3-0.6B", HUB)).toThrow("expected hub:OWNER/NAME");
  expect(() => typedName("https://elsewhere.org/a/b", HUB)).toThrow("expected hub:OWNER/NAME");
});

describe("a download", () => {
  const model = (name: string): CachedModel => ({
    ...{ repository: `owner/${name}`, commit: name, bytes: 2, have: 2, whole: true },
    ...{ files: [], revisions: [] },
  });
  const progress = (file: string): HubProgress => ({ file, what: "downloading", done: 1, total: 2 });
  let persist: () => Promise<boolean>;
  const shown = () => useHub.getState().download;

  beforeEach(() => {
    asked.length = kept.length = 0;
    persist = async () => true;
    vi.stubGlobal("navigator", { storage: { estimate: async () => ({}), persist: () => persist() } });
    useHub.setState({ ...useHub.getInitialState(), role: "teacher" });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });

  test("leaves the next one alone, which may begin while its model is opened", async () => {
    const opening = new Pending();
    vi.spyOn(models, "open").mockImplementation(() => opening.promise);
    kept.push(model("first"));
    const first = goOn(model("first"));
    await until(() => expect(asked).toHaveLength(1));
    asked[0]!.end();
    await until(() => expect(models.open).toHaveBeenCalledOnce());
    const second = goOn(model("second"));
    await until(() => expect(asked).toHaveLength(2));
    opening.resolve();
    await first;
    asked[0]!.tell(progress("late"));
    expect(shown()).toMatchObject({ label: "owner/second", file: "" });
    asked[1]!.tell(progress("config.json"));
    expect(shown()).toMatchObject({ file: "config.json", done: 1 });
    asked[1]!.end();
    await second;
    expect(shown()).toBeNull();
  });

  test("that is stopped while the browser asks whether it may be kept does not begin", async () => {
    const answer = new Pending<boolean>();
    persist = () => answer.promise;
    const bringing = goOn(model("first"));
    await until(() => expect(shown()).not.toBeNull());
    stopDownload();
    // The browser goes on asking.
    await bringing;
    expect([asked, shown(), useHub.getState().problem]).toEqual([[], null, null]);
  });
});

test("a look-up that is stopped says nothing, and can be made again", async () => {
  vi.stubGlobal("navigator", { storage: { estimate: async () => ({}) } });
  typeHub({ name: "owner/model", endpoint: HUB });
  const first = lookUp();
  await until(() => expect(looked).toHaveLength(1));
  stopLookUp();
  await first;
  expect(useHub.getState()).toMatchObject({ looking: false, listing: null, problem: null });
  const second = lookUp();
  await until(() => expect(looked).toHaveLength(2));
  const listing = fake<HubListing>({});
  looked[1]!.resolve(listing);
  await second;
  expect(useHub.getState().listing).toBe(listing);
  vi.unstubAllGlobals();
});

test("what does not fit is said with the numbers, before anything is fetched", () => {
  expect(lackOfRoom(5e9, null)).toBeNull();
  expect(lackOfRoom(5e9, { quota: 10e9, usage: 1e9 })).toBeNull();
  expect(lackOfRoom(5e9, { quota: 10e9, usage: 6e9 })).toMatch(
    /^it needs 5\.00 GB more, and this browser lets the page store 4\.00 GB more: remove/,
  );
  expect([gigabytes(999), gigabytes(1.5e6), gigabytes(63e6)]).toEqual(["1 kB", "1.5 MB", "63 MB"]);
});
