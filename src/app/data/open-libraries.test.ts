import { describe, expect, it } from "vitest";
import { librarySummary, taskSummary } from "../../../test/support/summaries.ts";
import { useUi } from "../compute/store.ts";
import { type LibraryLink, linkKey, opensByItself, SAMPLE_LINK } from "../url/library-link.ts";
import { HOME, type Place } from "../url/place.ts";
import { placeOn } from "./library-place.ts";
import {
  counted,
  libraryAt,
  libraryFurther,
  libraryNames,
  type OpenLibrary,
  showing,
} from "./open-libraries.ts";
import { ofScoreKey, scoreKey } from "./score-key.ts";

function library(id: string, link: LibraryLink, ...names: string[]): OpenLibrary {
  const tasks = names.map((name, i) =>
    taskSummary(name, i, { sources: 1, admitted: 1, successes: 1, episodes: 1, decisions: 2 }),
  );
  const summary = librarySummary(link, tasks, { id, title: "sources.jsonl" });
  return { summary, columns: summary.columns, imported: null, left: null };
}

const own = (digest: string): LibraryLink => ({ library: `own-${digest}`, disk: [], addresses: [] });
const disk = (...paths: string[]): LibraryLink => ({ library: "own", disk: paths, addresses: [] });

const SAMPLE = library("library-1", SAMPLE_LINK, "melt");
const FIRST = library("library-2", own("0123456789ab"), "boil", "melt");
const SECOND = library("library-3", own("ba9876543210"), "boil");
const DISK = library("library-4", disk("a.jsonl", "b.jsonl"), "boil");
const ALL = [SAMPLE, FIRST, SECOND, DISK];

const at = (change: Partial<Place>): Place => ({ ...HOME, ...change });
const shown = (of: OpenLibrary | null) => ({ libraries: ALL, library: of?.summary ?? null });

describe("the library that a place names", () => {
  it("is found by its link, whichever is shown", () => {
    for (const each of ALL)
      for (const now of [null, ...ALL])
        expect(libraryAt(shown(now), at(each.summary.link))).toBe(each.summary);
    expect(libraryAt(shown(SAMPLE), at({ disk: ["a.jsonl", "b.jsonl"] }))).toBe(DISK.summary);
  });

  it("is none when that one is not open: no other stands in for it", () => {
    expect(libraryAt(shown(FIRST), at(own("ffffffffffff")))).toBeNull();
    expect(libraryAt(shown(FIRST), at(disk("a.jsonl")))).toBeNull();
    expect(libraryAt(shown(DISK), at(disk("b.jsonl", "a.jsonl")))).toBeNull();
    expect(libraryAt({ libraries: [FIRST], library: FIRST.summary }, at(SAMPLE_LINK))).toBeNull();
    expect(
      libraryAt({ libraries: [SAMPLE, DISK], library: DISK.summary }, at({ library: "own" })),
    ).toBeNull();
  });

  it("is the shown one where the place does not say which", () => {
    expect(libraryAt(shown(FIRST), at({}))).toBe(FIRST.summary);
    expect(libraryAt(shown(FIRST), at({ library: "own" }))).toBe(FIRST.summary);
    expect(libraryAt(shown(SAMPLE), at({ library: "own" }))).toBe(SECOND.summary);
    expect(libraryAt({ libraries: [], library: null }, at({}))).toBeNull();
  });

  it("leaves nothing of the one before on the screen, but where that was left", () => {
    const before = at({ ...FIRST.summary.link, view: "task", task: "boil", decision: 1 });
    const ui = {
      ...useUi.getState(),
      ...shown(FIRST),
      place: before,
      viewProblem: "a problem",
      hoveredState: 3,
    };
    const there = at({ ...SECOND.summary.link, view: "task", task: "boil" });
    const next = showing(ui, there);
    expect(next).toMatchObject({
      place: there,
      library: SECOND.summary,
      task: null,
      decision: null,
      viewProblem: null,
      hoveredState: null,
    });
    expect(next.libraries?.map(({ left }) => left)).toEqual([null, before, null, null]);
    // On the same library, the place is all that changes.
    expect(showing(ui, at({ ...FIRST.summary.link, decision: 0 }))).toEqual({
      place: at({ ...FIRST.summary.link, decision: 0 }),
    });
  });
});

describe("links", () => {
  it("say whether a page can open them by itself, and are told apart", () => {
    expect(ALL.map(({ summary }) => opensByItself(summary.link))).toEqual([true, false, false, true]);
    expect(new Set(ALL.map(({ summary }) => linkKey(summary.link))).size).toBe(4);
  });
});

describe("where one comes to on another library", () => {
  const from = at({
    ...FIRST.summary.link,
    view: "task",
    task: "boil",
    decision: 3,
    control: "success-only",
    axis: "cost",
    filter: "water",
    without: ["teacher:0"],
  });

  it("is the same task, under the same controls, with nothing that only the first can have", () => {
    expect(placeOn(SECOND.summary, from, null)).toEqual(
      at({ ...SECOND.summary.link, view: "task", task: "boil", control: "success-only", axis: "cost" }),
    );
  });

  it("is where it was left, in that task or where it has none with that name", () => {
    const left = at({ ...SECOND.summary.link, view: "tokens", task: "boil", decision: 1, filter: "b" });
    expect(placeOn(SECOND.summary, from, left)).toEqual({
      ...left,
      view: "task",
      control: "success-only",
      axis: "cost",
    });
    const melt = at({ ...SAMPLE.summary.link, task: "melt", decision: 12, sort: "states", descending: true });
    expect(placeOn(SAMPLE.summary, from, melt)).toMatchObject({
      library: "sample",
      view: "task",
      task: "melt",
      decision: 12,
      sort: "states",
      descending: true,
    });
    expect(placeOn(SAMPLE.summary, from, null)).toMatchObject({ task: null, filter: "", without: [] });
  });
});

it("steps around the end, in the order of opening", () => {
  const ids = (by: 1 | -1) => ALL.map((each) => libraryFurther(shown(each), by)?.summary.id);
  expect(ids(1)).toEqual(["library-2", "library-3", "library-4", "library-1"]);
  expect(ids(-1)).toEqual(["library-4", "library-1", "library-2", "library-3"]);
  expect(libraryFurther({ libraries: [SAMPLE], library: SAMPLE.summary }, 1)).toBeNull();
  expect(libraryFurther({ libraries: [SAMPLE], library: null }, 1)).toBe(SAMPLE);
  expect(libraryFurther(shown(null), -1)).toBe(DISK);
  expect(libraryFurther({ libraries: [], library: null }, 1)).toBeNull();
});

it("tells libraries of one title apart by what they hold, and the same ones by a number", () => {
  const [first, second, third, fourth] = [
    library("a", own("0"), "boil"),
    library("b", own("1"), "boil", "melt"),
    library("c", own("2"), "boil"),
    library("d", own("3"), "boil"),
  ];
  fourth!.summary = { ...fourth!.summary, title: "held-out.jsonl" };
  expect([...libraryNames([first!, second!, third!, fourth!]).values()]).toEqual([
    "sources.jsonl · scienceworld, 1 task",
    "sources.jsonl · scienceworld, 2 tasks",
    "sources.jsonl · scienceworld, 1 task (2)",
    "held-out.jsonl",
  ]);
});

it("gives counted columns to their library alone", () => {
  const counts = Int32Array.of(5, 2, 1, 0);
  const batch = { places: Uint32Array.of(0), counts, problem: null, brokeOff: null };
  const after = counted([library("a", own("0"), "boil"), library("b", own("1"), "boil")], "b", batch);
  expect(after.map(({ columns }) => [columns.counted, columns.states[0]])).toEqual([
    [0, -1],
    [1, 5],
  ]);
});

it("keys scores by library too", () => {
  const decision = {
    environment: "scienceworld",
    task: "boil",
    episode: "e",
    decision: 2,
    selection: {},
    endOfTurn: true,
  };
  const [a, b] = ["library-2", "library-3"].map((id) => scoreKey({ library: id, ...decision }));
  expect(a).not.toBe(b);
  expect(ofScoreKey(a!)).toEqual({ library: "library-2", ...decision });
});
