import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HOME } from "../url/place.ts";
import { PlaceUrl } from "./navigate.ts";
import { getData, setData, useData } from "./store.ts";

const hint = vi.fn();
/** Steps of the history, as they were made. */
let steps: string[];
let url: PlaceUrl;
let browser: EventTarget & { location: { hash: string } };

beforeEach(() => {
  vi.useFakeTimers();
  useData.setState(useData.getInitialState());
  setData({ place: { ...HOME, task: "boil", episode: "e-1" } });
  hint.mockClear();
  steps = [];
  const make =
    (how: string) =>
    (_state: unknown, _unused: string, hash: string): void => {
      if (hash.length > 500) throw new DOMException("too long", "DataCloneError");
      browser.location.hash = hash;
      steps.push(`${how} ${/decision=\d+/.exec(hash)?.[0] ?? ""}`.trim());
    };
  const history = { state: null, pushState: make("push"), replaceState: make("replace") };
  browser = Object.assign(new EventTarget(), { location: { hash: "" }, history });
  url = new PlaceUrl({ window: () => browser as typeof browser & typeof window, hint });
});

afterEach(() => void vi.useRealTimers());

describe("the URL of the place", () => {
  it("is written once steps from decision to decision rest", () => {
    for (const decision of [1, 2, 3]) url.go({ decision }, "rest");
    expect(getData().place.decision).toBe(3);
    expect(steps).toEqual([]);
    vi.runAllTimers();
    expect(steps).toEqual(["replace decision=3"]);
  });

  it("names what was shown before another step of the history is made, and when it is asked for", () => {
    url.go({ decision: 1 }, "rest");
    url.go({ decision: 2, view: "task" }, "push");
    expect(steps).toEqual(["replace decision=1", "push decision=2"]);
    url.go({ decision: 3 }, "rest");
    url.settle();
    url.settle();
    vi.runAllTimers();
    expect(steps.slice(2)).toEqual(["replace decision=3"]);
  });

  it("keeps what was said of an address while what it left open is filled in, until one goes elsewhere", () => {
    browser.location.hash = "#/tokens/boil?sides=with:bogus";
    url.follow()();
    url.go({ episode: "e-1" }, "fill");
    expect(getData().placeProblems).toEqual([
      expect.stringContaining("“sides=with:bogus” in the link: expected"),
    ]);
    expect(steps).toEqual(["replace"]);
    url.go({ view: "task" });
    expect(getData().placeProblems).toEqual([]);
  });

  it("stays as it was where the browser does not take it", () => {
    url.go({ task: "x".repeat(1000) });
    expect(getData().place.task).toHaveLength(1000);
    expect(steps).toEqual([]);
    expect(hint).toHaveBeenCalledOnce();
  });

  it("is read on entry, on each edit and on the way back, in place of what rests; and settles on the way out", () => {
    browser.location.hash = "#/task/boil?episode=e-1&decision=4";
    const leave = url.follow();
    expect(getData().place).toMatchObject({ view: "task", task: "boil", decision: 4 });
    url.go({ decision: 5 }, "rest");
    browser.location.hash = "#/task/boil?episode=e-1&decision=6";
    browser.dispatchEvent(new Event("hashchange"));
    vi.runAllTimers();
    expect(getData().place.decision).toBe(6);
    expect(steps).toEqual([]);
    url.go({ decision: 7 }, "rest");
    browser.dispatchEvent(new Event("blur"));
    expect(steps).toEqual(["replace decision=7"]);
    leave();
    browser.location.hash = "#/task/boil?episode=e-1&decision=8";
    browser.dispatchEvent(new Event("popstate"));
    expect(getData().place.decision).toBe(7);
  });
});
